"""Name list: the user goes by one name after another, and finally asks for all of them.

Its texts, the names and the places are in `name_list.json`.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, lists_all, scenario

_CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]
NAMES: tuple[str, ...] = _CONTENT["pools"]["names"]
PLACES: tuple[str, ...] = _CONTENT["pools"]["places"]
"""Where the user goes by these names: each example has its own place, so it is clear which list a question means."""


@scenario(
    skills={"recall", "aggregation", "format"},
    topics={"the user's name"},
    forget=MESSAGES["forget"],
    version=4,
    decoys={},
)
def name_list(
    dice: Dice,
    *,
    changes: int = 5,
    names: tuple[str, ...] = NAMES,
    places: tuple[str, ...] = PLACES,
    first: tuple[str, ...] = MESSAGES["first"],
    next_: tuple[str, ...] = MESSAGES["next"],
) -> Script:
    """Give `changes` different names for use in one place; then ask for all of them."""
    told, place = dice.hand("names", names, changes), dice.card("place", places)
    later = cycle(dice.shuffled(next_))
    for i, name in enumerate(told):
        text = next(later) if i else dice.choice(first)
        yield Tell(text.format(name=name, place=place), at=i / changes)
    yield Ask(
        dice.choice(MESSAGES["question"]).format(place=place), expect=lists_all(told, among=names), at=1.0
    )
