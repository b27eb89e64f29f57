"""Contradiction: the user says two things that cannot both be true; a good memory names both, or asks which is right.

After BEAM (Tavakoli et al. 2025). Neither statement corrects the other. The user also says something else
twice without contradiction, and asks about it in the same words, so naming two of everything does not help.
"""

from collections.abc import Mapping

from ltm_bench import Ask, Dice, Fact, Script, Tell, both_said, names_only, scenario

KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "born": {
        "of": (
            "my grandmother", "my grandfather", "my godmother", "my great-aunt", "my stepfather", "my mother-in-law",
        ),
        "said": (
            "Here is something about my family: {of} was born in {value}.",
            "You know, {of} comes from {value}, and that is the place on the birth certificate.",
            "I was looking at old photographs. This one is from {value}, where {of} was born.",
            "There is a street in {value} in which {of} was born, in a room above a chemist's.",
        ),
        "asked": ("In which town was {of} born?", "Where was {of} born?"),
        "values": (
            "Aarhus", "Bilbao", "Cluj", "Dresden", "Esztergom", "Faro", "Gothenburg", "Haarlem", "Innsbruck", "Jena",
            "Klaipeda", "Lucerne", "Mostar", "Nicosia", "Ostrava", "Pécs", "Ravenna", "Split", "Turku", "Uppsala",
            "Verona", "Wrocław", "Ypres", "Zwolle",
        ),
    },
    "first job": {
        "of": ("my brother", "my sister", "my uncle", "my godfather", "my landlady", "my tutor"),
        "said": (
            "The first job that {of} ever had was that of a {value}.",
            "Straight from school, long before anything else, {of} started out as a {value}.",
            "A story from the past: the very first wages that {of} ever earned were for work as a {value}.",
            "We had a good laugh about how {of} began in working life: as a {value}.",
        ),
        "asked": ("What was the first job that {of} ever had?", "What did {of} start out as in working life?"),
        "values": (
            "bellboy", "bookbinder", "cashier", "cheesemonger", "courier", "decorator", "ferryman", "gardener",
            "gravedigger", "lifeguard", "milkman", "mechanic", "proofreader", "projectionist", "sailor", "shoeblack",
            "sign painter", "switchboard operator", "thatcher", "typist", "valet", "waiter", "weaver", "window cleaner",
        ),
    },
    "built": {
        "of": (
            "the house that I grew up in", "our school", "the church in our village", "the bridge by our mill",
            "the theatre where I worked", "the barn behind our house",
        ),
        "said": (
            "A stone over the door says in which year {of} was built: {value}.",
            "I looked up {of}. It was built in {value}.",
            "There is going to be a party for {of}, which was built in {value}.",
            "The land register has {of} as built in {value}.",
        ),
        "asked": ("In which year was {of} built?", "Which year was {of} built in?"),
        "values": (
            "1703", "1716", "1728", "1749", "1751", "1764", "1787", "1795", "1817", "1823", "1836", "1844", "1850",
            "1868",
            "1879", "1891", "1905", "1912", "1929", "1930", "1947", "1956", "1963", "1988",
        ),
    },
}  # fmt: skip

FORMS = (
    "Answer as briefly as you can. If I have told you different things, name each of them.",
    "Keep it short; and in case I have said different things about it, name them all.",
    "A word or two will do, unless I have contradicted myself: then name everything that I said.",
)
FORGET = "Never mind what I said there; I shall look it up. Let us talk of other people and houses."


@scenario(skills={"contradiction", "recall"}, topics={"old stories"}, forget=FORGET)
def contradiction(dice: Dice, *, kinds: Mapping[str, Mapping[str, tuple[str, ...]]] = KINDS) -> Script:
    """Say two contradictory things about one subject and the same thing twice about another; then ask about both."""
    kind = kinds[dice.card("kind", tuple(kinds))]
    doubtful, plain = dice.sample(kind["of"], 2)
    one, other, same = dice.hand("values of " + kind["asked"][0], kind["values"], 3)
    early = dice.shuffled([(doubtful, one), (plain, same)])
    late = dice.shuffled([(doubtful, other), (plain, same)])
    ways = {of: iter(dice.sample(kind["said"], 2)) for of in (doubtful, plain)}
    for at, (of, value) in zip((0.0, 0.2, 0.5, 0.7), (*early, *late), strict=True):
        # Neither replaces the other. A memory should keep both, so each is a fact of its own.
        fact = Fact(f"{of}: {value}", value, words=(of.split()[1],), among=kind["values"])
        yield Tell(next(ways[of]).format(of=of, value=value), at=at, facts=(fact,))
    for i, of in enumerate(dice.shuffled([doubtful, plain])):
        question = f"{dice.choice(kind['asked']).format(of=of)} {dice.choice(FORMS)}"
        when = None if i else 1.0
        if of == doubtful:
            yield Ask(question, expect=both_said(one, other, among=kind["values"]), at=when)
        else:
            yield Ask(question, expect=names_only(same, among=kind["values"]), at=when)
