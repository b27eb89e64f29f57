"""Colours: the user's favourite colour keeps changing; only the latest one counts.

Its texts are in `colours.json`.
"""

from collections.abc import Mapping

from ltm_bench import Ask, Dice, Fact, Script, Tell, content, names_only, scenario

PALETTE = (
    "red", "blue", "green", "yellow", "purple", "orange", "pink", "brown",
    "black", "white", "grey", "turquoise", "beige", "gold", "silver",
)  # fmt: skip

_CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]
THINGS: tuple[str, ...] = _CONTENT["pools"]["things"]
"""What the user has a favourite colour for, if there are several."""


@scenario(skills={"recall", "conflict"}, topics={"favourite colour"}, version=4, decoys={"several": True})
def colours(
    dice: Dice,
    *,
    changes: int = 3,
    several: bool = False,
    palette: tuple[str, ...] = PALETTE,
    first: tuple[str, ...] = MESSAGES["first"],
    changed: tuple[str, ...] = MESSAGES["changed"],
) -> Script:
    """Name a different favourite colour `changes` times; then ask for the latest.

    If there are `several`, each example is about the colour of something else.
    """
    thing = dice.card("thing", THINGS) if several else ""
    of = f"favourite colour for {thing}" if several else "favourite colour"
    last = dice.card("colour", palette)
    told = [*dice.sample([colour for colour in palette if colour != last], changes - 1), last]
    for i, colour in enumerate(told):
        text = dice.choice(changed if i else first).replace("favourite colour", of)
        fact = Fact(of, colour, words=("colour", thing) if several else ("colour",))
        yield Tell(text.format(colour=colour), at=i / changes, facts=(fact,))
    expect = names_only(last, among=palette, stale=told[:-1])
    yield Ask(dice.choice(MESSAGES["question"]).replace("favourite colour", of), expect=expect, at=1.0)
