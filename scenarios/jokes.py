"""Jokes: the user tells several, hours apart, each on an occasion; which one was it then?

Jokes, occasions and texts are in `jokes.json`.
"""

from collections.abc import Mapping
from datetime import timedelta
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, retells, scenario

_CONTENT = content(__file__)

MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]

JOKES: tuple[str, ...] = _CONTENT["pools"]["jokes"]

OCCASIONS: Mapping[str, str] = _CONTENT["pools"]["occasions"]
"""What the user is doing, and the words that say later when that was."""


@scenario(skills={"episodic", "recall"}, topics={"jokes"}, version=3)
def jokes(
    dice: Dice,
    *,
    told: int = 4,
    pool: tuple[str, ...] = JOKES,
    occasions: Mapping[str, str] = OCCASIONS,
    least_minutes: int = 30,
    most_minutes: int = 240,
    tell: tuple[str, ...] = MESSAGES["tell"],
) -> Script:
    """Tell `told` jokes, hours apart, each on another occasion; then ask for the joke of one of these occasions."""
    chosen, moments = dice.hand("jokes", pool, told), dice.hand("occasions", tuple(occasions), told)
    texts = cycle(dice.shuffled(tell))
    pauses = [timedelta(minutes=dice.integer(least_minutes, most_minutes)) for _ in chosen]
    for i, (joke, occasion) in enumerate(zip(chosen, moments, strict=True)):
        text = next(texts).format(joke=joke, occasion=occasion)
        yield Tell(text, at=i / told, after=pauses[i - 1] if i else None)
    wanted = dice.integer(0, told - 1)
    yield Ask(
        dice.choice(MESSAGES["question"]).format(then=occasions[moments[wanted]]),
        expect=retells(chosen[wanted], among=chosen),
        at=1.0,
        after=pauses[-1],
    )
