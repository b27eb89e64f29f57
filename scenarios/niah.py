"""Needle in a haystack: a fact is placed at some depth of the conversation; can the agent find it at the end?

The classic test (Kamradt 2023) as a conversation: examples take the depths in turn, filler is the haystack, and the
span is its length. With several needles, the user asks for one after the other.
"""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

THINGS = {
    "drink": (
        "cocoa", "buttermilk", "cider", "lemonade", "mead", "espresso", "kefir", "ginger beer", "champagne",
        "tomato juice", "green tea", "whisky",
    ),
    "instrument": (
        "bassoon", "banjo", "harp", "tuba", "zither", "clarinet", "mandolin", "accordion", "trumpet", "cello",
        "xylophone", "bagpipes",
    ),
    "tree": (
        "larch", "aspen", "walnut", "juniper", "willow", "hornbeam", "chestnut", "alder", "monkey puzzle", "sycamore",
        "ginkgo", "olive",
    ),
    "gemstone": (
        "opal", "garnet", "topaz", "jade", "amber", "onyx", "ruby", "beryl", "moonstone", "diamond", "amethyst",
        "turquoise",
    ),
    "dance": (
        "polka", "tango", "minuet", "waltz", "rumba", "mazurka", "bolero", "foxtrot", "flamenco", "cha-cha",
        "charleston", "jitterbug",
    ),
}  # fmt: skip
"""Favourite things; all but the drinks take an article."""

PEOPLE = (
    "the mayor of Harlow", "the ferryman of Brae", "my great-aunt Odette", "the night porter", "our piano tuner",
    "the keeper of the aviary", "Captain Molina", "the owner of the circus", "the baker's apprentice", "my godfather",
    "the bell-ringer of Saint Ulric's", "the last tram driver", "our vet", "the lock-keeper", "Professor Adeyemi",
    "the twins' nanny", "the retired umpire", "Sister Benedetta", "the man at the kiosk", "the court stenographer",
    "my former landlady", "the drummer next door", "Inspector Falk", "the librarian of the abbey", "our chimney sweep",
    "the astronomer royal", "my pen friend in Quito", "the cloakroom attendant", "Doctor Lindqvist", "the hat maker",
    "the youngest of the judges", "the stunt pilot", "the ice cream man", "Madame Perrault", "the gravedigger",
    "our French teacher", "the goalkeeper's mother", "the puppeteer", "the consul of Malta", "the clown Pistachio",
)  # fmt: skip

NEEDLES = (
    "Here is something that hardly anybody knows: the favourite {kind} of {person} is {value}.",
    "A bit of gossip: of all the {kind}s in the world, {person} likes {value} best.",
    "I have found out what the favourite {kind} of {person} is: {value}.",
    "By the way, the favourite {kind} of {person} is {value}. You would not have guessed it.",
    "Ask {person} about a favourite {kind}, and the answer is {value}.",
)
QUESTIONS = (
    "What is the favourite {kind} of {person}? Name it alone, please.",
    "Which {kind} is the favourite of {person}? Answer with the {kind} and nothing else.",
    "The favourite {kind} of {person}: what is it? One or two words, no sentence.",
    "Do you remember the favourite {kind} of {person}? Just tell me which {kind} it is.",
)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 0.95)


FORGET = "People's tastes change: what I have said of their favourite things so far no longer counts."


@scenario(skills={"recall"}, topics={"favourite things of people"}, forget=FORGET, version=2)
def niah(dice: Dice, *, needles: int = 1, depths: tuple[float, ...] = DEPTHS) -> Script:
    """Place `needles` facts, the first at this example's depth, the others anywhere; then ask for all."""
    if not 1 <= needles <= len(THINGS) or not depths or not all(0.0 <= depth < 1.0 for depth in depths):
        raise ValueError(
            f"needles = {needles}, depths = {depths}: 1 to {len(THINGS)} needles, depths from 0 to below 1"
        )
    depth = depths[dice.index % len(depths)]
    kinds, people = dice.sample(tuple(THINGS), needles), dice.hand("people", PEOPLE, needles)
    places = [depth, *(dice.choice(depths) for _ in range(needles - 1))]
    facts = [
        (place, kind, person, dice.card(kind, THINGS[kind]))
        for place, kind, person in zip(places, kinds, people, strict=True)
    ]
    for place, kind, person, value in sorted(facts, key=lambda fact: fact[0]):
        named = value if kind == "drink" else f"the {value}"
        yield Tell(dice.choice(NEEDLES).format(kind=kind, person=person, value=named), at=place)
    for i, (_, kind, person, value) in enumerate(facts):
        question = dice.choice(QUESTIONS).format(kind=kind, person=person)
        yield Ask(question, expect=names_only(value, among=THINGS[kind]), at=1.0 if i == 0 else None)
