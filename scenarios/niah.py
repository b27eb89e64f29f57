"""Needle in a haystack: a fact is dropped at some depth of the conversation; is it found at the end?

The classic test (Kamradt 2023) as a conversation: examples take the depths in turn, filler is the haystack, and the
span is its length. Several needles are asked for one after the other.
"""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

THINGS = {
    "drink": ("cocoa", "buttermilk", "cider", "lemonade", "mead", "espresso", "kefir", "ginger beer"),
    "instrument": ("bassoon", "banjo", "harp", "tuba", "zither", "clarinet", "mandolin", "accordion"),
    "tree": ("larch", "aspen", "walnut", "juniper", "willow", "hornbeam", "chestnut", "alder"),
    "gemstone": ("opal", "garnet", "topaz", "jade", "amber", "onyx", "ruby", "beryl"),
    "dance": ("polka", "tango", "minuet", "waltz", "rumba", "mazurka", "bolero", "foxtrot"),
}

PEOPLE = (
    "the mayor of Harlow", "the ferryman of Brae", "my great-aunt Odette", "the night porter", "our piano tuner",
    "the keeper of the aviary", "Captain Molina", "the owner of the circus",
)  # fmt: skip

NEEDLE = "Here is something that hardly anybody knows: the favourite {kind} of {person} is the {value}."
QUESTION = "What is the favourite {kind} of {person}? One or two words will do."
DEPTHS = (0.0, 0.25, 0.5, 0.75, 0.95)


FORGET = "People's tastes change: what I have said of their favourite things so far no longer counts."


@scenario(skills={"recall"}, topics={"favourite things of people"}, forget=FORGET)
def niah(dice: Dice, *, needles: int = 1, depths: tuple[float, ...] = DEPTHS) -> Script:
    """Drop `needles` facts, the first at this example's depth, the others anywhere; then ask for all."""
    if not 1 <= needles <= len(THINGS) or not depths or not all(0.0 <= depth < 1.0 for depth in depths):
        raise ValueError(
            f"needles = {needles}, depths = {depths}: 1 to {len(THINGS)} needles, depths from 0 to below 1"
        )
    index = dice.name.rpartition("/")[2]
    depth = depths[int(index) % len(depths)] if index.isdecimal() else dice.choice(depths)
    kinds, people = dice.sample(tuple(THINGS), needles), dice.sample(PEOPLE, needles)
    places = [depth, *(dice.choice(depths) for _ in range(needles - 1))]
    facts = [
        (place, kind, person, dice.choice(THINGS[kind]))
        for place, kind, person in zip(places, kinds, people, strict=True)
    ]
    for place, kind, person, value in sorted(facts, key=lambda fact: fact[0]):
        yield Tell(NEEDLE.format(kind=kind, person=person, value=value), at=place)
    for i, (_, kind, person, value) in enumerate(facts):
        question = QUESTION.format(kind=kind, person=person)
        yield Ask(question, expect=names_only(value, among=THINGS[kind]), at=1.0 if i == 0 else None)
