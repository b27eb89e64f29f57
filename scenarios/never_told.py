"""Never told: the user says something about one of two people, and asks about both.

After the abstention questions of LongMemEval (Wu et al. 2025). Saying that nothing was told counts only if the agent
remembers what it was told about the other person: an agent that knows nothing gains nothing by saying so.
"""

from collections.abc import Mapping

from ltm_bench import Ask, Dice, Fact, Script, Tell, names_only, never_said, scenario

PEOPLE = (
    "Alma", "Anselm", "Birgit", "Casimir", "Corinna", "Dietmar", "Dunja", "Egon", "Estelle", "Flavio", "Friedel",
    "Gilda", "Gunnar", "Hermine", "Hristo", "Irma", "Isidor", "Jolanda", "Kaspar", "Lavinia", "Leopold", "Liselotte",
    "Mechthild", "Milan", "Nanette", "Odile", "Ottokar", "Paloma", "Rigoberto", "Rosina", "Rufus", "Selma", "Sixtus",
    "Swantje", "Thekla", "Ulf", "Valerie", "Wolfram", "Zita", "Zoran",
)  # fmt: skip

RELATIONS = (
    "my cousin", "my former neighbour", "my old school friend", "my colleague", "my pen friend", "my fencing partner",
)  # fmt: skip

ABOUT: dict[str, dict[str, tuple[str, ...]]] = {
    "lives": {
        "told": (
            "{whom} lives in {value}.",
            "{whom} has found a flat in {value}, by the way, and lives there now.",
            "If you want to visit {whom}, you have to go to {value}.",
        ),
        "asked": ("Which town does {whom} live in?", "In which town does {whom} live?"),
        "values": (
            "Bologna", "Cork", "Delft", "Gdynia", "Graz", "Izmir", "Kaunas", "Leuven", "Malmö", "Nantes", "Odense",
            "Plovdiv", "Quito", "Rijeka", "Salamanca", "Tampere", "Utrecht", "Valparaíso", "Windhoek", "Zadar",
        ),
    },
    "plays": {
        "told": (
            "{whom} plays the {value}, and not badly.",
            "{whom} has taken up the {value}, much to the dismay of the neighbours.",
            "You should hear {whom} play the {value}.",
        ),
        "asked": ("Which instrument does {whom} play?", "Which instrument is it that {whom} plays?"),
        "values": (
            "accordion", "bagpipes", "banjo", "bassoon", "clarinet", "cello", "double bass", "harmonica", "harp",
            "mandolin", "marimba", "oboe", "piccolo", "saxophone", "sitar", "trombone", "tuba", "ukulele", "viola",
            "zither",
        ),
    },
    "works": {
        "told": (
            "{whom} earns a living as a {value}.",
            "{whom} works as a {value} these days.",
            "{whom} is a {value} by trade.",
        ),
        "asked": ("What does {whom} do for a living?", "What is {whom}'s trade?"),
        "values": (
            "baker", "barber", "bookbinder", "bricklayer", "chimney sweep", "cobbler", "glazier", "locksmith", "miller",
            "notary", "plasterer", "potter", "roofer", "saddler", "sailmaker", "stonemason", "surveyor", "tailor",
            "upholsterer", "welder",
        ),
    },
    "keeps": {
        "told": (
            "{whom} keeps a {value} at home.",
            "{whom} has a {value} that eats out of your hand.",
            "Mind where you step when you visit {whom}: there is a {value} in the house.",
        ),
        "asked": ("Which animal does {whom} keep?", "What kind of animal does {whom} have at home?"),
        "values": (
            "canary", "chameleon", "chinchilla", "dachshund", "donkey", "ferret", "gecko", "goat", "goose", "hamster",
            "hedgehog", "turtle dove", "llama", "magpie", "newt", "parakeet", "peacock", "python", "tarantula",
            "tortoise",
        ),
    },
    "collects": {
        "told": (
            "{whom} collects {value}, and has a room full of them.",
            "{whom} cannot pass a flea market without buying {value}.",
            "The best present for {whom} is {value}: they go straight into the collection.",
        ),
        "asked": ("What does {whom} collect?", "What sort of thing does {whom} collect?"),
        "values": (
            "teaspoons", "barometers", "beer mats", "bookmarks", "bottle openers", "buttons", "cowbells",
            "doorknobs", "fans", "fossils", "gloves", "keyrings", "marbles", "masks", "music boxes", "paperweights",
            "postcards", "puppets", "snow globes", "thimbles",
        ),
    },
}  # fmt: skip

FORMS = (
    "Answer in a word or two, or say “unknown” if I have left that out.",
    "A word or two will do; if I have kept it to myself, say “unknown”.",
    "Keep it to a word or two, or say “unknown” if I have yet to tell you.",
)
FORGET = "Let us leave those two at that."


@scenario(skills={"abstention", "recall"}, topics={"two acquaintances"}, forget=FORGET)
def never_told(
    dice: Dice,
    *,
    people: tuple[str, ...] = PEOPLE,
    about: Mapping[str, Mapping[str, tuple[str, ...]]] = ABOUT,
) -> Script:
    """Tell one thing about each of two people, and another about both; then ask about all of it."""
    one, other = (f"{relation} {name}" for relation, name in _two(dice, people))
    kinds = dice.sample(tuple(about), 3)
    decks = {kind: dice.hand(kind, about[kind]["values"], 2) for kind in kinds}
    known = {(one, kinds[0]): decks[kinds[0]][0], (other, kinds[1]): decks[kinds[1]][0]}
    shared = [(whom, kinds[2], value) for whom, value in zip((one, other), decks[kinds[2]], strict=True)]
    told = dice.shuffled([(whom, kind, value) for (whom, kind), value in known.items()])
    needles = [*told, *dice.shuffled(shared)] if dice.chance(0.5) else [*dice.shuffled(shared), *told]
    for i, (whom, kind, value) in enumerate(needles):
        text = dice.choice(about[kind]["told"]).format(whom=whom, value=value)
        fact = Fact(f"{whom} {kind}", value, words=(whom.split()[-1],), among=about[kind]["values"])
        yield Tell(text[0].upper() + text[1:], at=i / len(needles), facts=(fact,))
    asked = dice.shuffled([(whom, kind) for whom in (one, other) for kind in kinds[:2]])
    for i, (whom, kind) in enumerate(asked):
        question = f"{dice.choice(about[kind]['asked']).format(whom=whom)} {dice.choice(FORMS)}"
        at, answer, values = None if i else 1.0, known.get((whom, kind)), about[kind]["values"]
        if answer is None:
            near = next(told for (_, its), told in known.items() if its == kind)
            yield Ask(
                question, expect=never_said(values, near=[near]), at=at, needs=f"what {_named(kind, known)}"
            )
        else:
            yield Ask(
                question, expect=names_only(answer, among=values), at=at, shows=f"what {_named(kind, known)}"
            )


def _two(dice: Dice, people: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return two people, each with their relationship to the user."""
    return list(zip(dice.sample(RELATIONS, 2), dice.hand("people", people, 2), strict=True))


def _named(kind: str, known: Mapping[tuple[str, str], str]) -> str:
    """Describe what was told, for readers of the results: `my cousin Ines plays`."""
    return next(f"{whom} {kind}" for whom, its in known if its == kind)
