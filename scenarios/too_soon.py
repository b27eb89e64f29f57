"""Too soon: told where something is parked, and asked at once, or some seconds later, without waiting for an indexer.

Things go in pairs: an answer counts only if both are known in the end, so that naming what was said last earns nothing.
The texts are in `too_soon.json`.
"""

from collections.abc import Mapping
from datetime import timedelta
from itertools import cycle

from ltm_bench import Ask, Dice, Fact, Script, Tell, content, names_only, scenario

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
POOLS: Mapping[str, tuple[str, ...]] = CONTENT["pools"]


@scenario(skills={"recall"}, topics={"what is parked where"}, forget=MESSAGES["forget"], version=4, decoys={})
def too_soon(
    dice: Dice,
    *,
    delays: tuple[float, ...] = (0.0, 2.0, 10.0, 60.0),
    things: tuple[str, ...] = POOLS["things"],
    streets: tuple[str, ...] = POOLS["streets"],
) -> Script:
    """Tell where things are parked, ask for each after a delay, and for all of them at the end.

    Args:
        dice: The example's.
        delays: Seconds from telling to asking, of real time.
        things: What is parked.
        streets: Where.
    """
    hands = (dice.hand(name, pool, len(delays)) for name, pool in (("things", things), ("streets", streets)))
    told, texts = (
        list(zip(*hands, strict=True)),
        {kind: cycle(dice.shuffled(MESSAGES[kind])) for kind in MESSAGES},
    )
    pairs = {of: " and ".join(known for known, _ in told[i - i % 2 :][:2]) for i, (of, _) in enumerate(told)}
    for i, (delay, (of, street)) in enumerate(zip(dice.shuffled(delays), told, strict=True)):
        fact = Fact(of, street, words=(of,), among=streets)
        yield Tell(next(texts["told"]).format(of=of, street=street), at=0.9 * i / len(delays), facts=(fact,))
        yield Ask(
            next(texts["soon"]).format(of=of),
            expect=names_only(street, among=streets),
            after=timedelta(seconds=delay) or None,
            needs=pairs[of],
            aspect=f"asked after {delay:g} s",
            settle=False,
        )
    for i, (of, street) in enumerate(dice.shuffled(told)):
        yield Ask(
            next(texts["later"]).format(of=of),
            expect=names_only(street, among=streets),
            at=None if i else 1.0,
            shows=pairs[of],
            needs=pairs[of],
            aspect="asked in the end",
        )
