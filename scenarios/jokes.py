"""Jokes: the user tells several, hours apart, each on an occasion; which one was it then?

The question names the occasion, or how long ago it was. Jokes, occasions and texts are in `jokes.json`.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, Worded, content, retells, scenario

_CONTENT = content(__file__)

MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]

JOKES: tuple[str, ...] = _CONTENT["pools"]["jokes"]

RIDDLES: tuple[str, ...] = _CONTENT["pools"]["riddles"]
"""What is told in the same words as a joke, and is none."""

OCCASIONS: Mapping[str, str] = _CONTENT["pools"]["occasions"]
"""What the user is doing, and the words that say later when that was."""

BY = ("time", "occasion", "both")

TIMES = ("stamp", "words")


@scenario(skills={"episodic", "recall"}, topics={"jokes"}, version=5, decoys={"kind": "riddle"})
def jokes(
    dice: Dice,
    *,
    told: int = 4,
    by: str = "occasion",
    time: str = "stamp",
    kind: str = "joke",
    pool: tuple[str, ...] = JOKES,
    occasions: Mapping[str, str] = OCCASIONS,
    least_minutes: int = 30,
    most_minutes: int = 240,
    tell: tuple[str, ...] = MESSAGES["tell"],
) -> Script:
    """Tell `told` jokes, hours apart, each on another occasion; then ask for one by its occasion or by its time.

    `by` is `time` ("about three and a half hours ago"), `occasion`, or `both`: one example each in turn. `time` says
    how the agent learns the time: from the `stamp` that it finds on its messages, or in `words` within them. A `kind`
    other than `joke` is told for those who ask for jokes: riddles.
    """
    if by not in BY or time not in TIMES:
        raise ValueError(f"by = {by!r}, time = {time!r}: {', '.join(BY)}; {' or '.join(TIMES)}")
    timed = by == "time" or (by == "both" and dice.index % 2 == 0)
    clocks = cycle(dice.child("clock").shuffled(MESSAGES["clock"])) if timed and time == "words" else None
    chosen = dice.hand("jokes", pool if kind == "joke" else RIDDLES, told)
    moments = dice.hand("occasions", tuple(occasions), told)
    texts = cycle(dice.shuffled(tell))
    pauses = [timedelta(minutes=dice.integer(least_minutes, most_minutes)) for _ in chosen]
    if timed:
        pauses.sort(reverse=True)  # people tell long-gone moments apart only if more lies between them

    def dated(text: str) -> str:
        return next(clocks).replace("{text}", text) if clocks else text

    times: list[datetime] = []
    for i, (joke, occasion) in enumerate(zip(chosen, moments, strict=True)):
        text = dated(next(texts).replace("joke", kind).format(occasion=occasion, **{kind: joke}))
        line = Tell(Worded(text) if clocks else text, at=i / told, after=pauses[i - 1] if i else None)
        reply = yield line
        assert reply.at is not None
        times.append(reply.at)
    wanted = dice.integer(0, told - 1)
    then = "{ago} ago" if timed else occasions[moments[wanted]]
    question = dated(dice.choice(MESSAGES["question"]).format(then=then))
    # The last joke of an earlier example is at least so far from the first of this one.
    others = (times[0] - timedelta(minutes=least_minutes), *times[:wanted], *times[wanted + 1 :])
    yield Ask(
        Worded(question, times[wanted], others) if timed else question,
        expect=retells(chosen[wanted], among=chosen),
        at=1.0,
        after=pauses[-1],
    )
