"""Key and value: codes lead to codes; which one is at the end of the chain?

Key-value retrieval with nested keys (Liu et al. 2023, "Lost in the middle"), as a conversation. Its texts are in
`key_value.json`.
"""

from collections.abc import Mapping
from itertools import cycle, pairwise
from typing import Any

from ltm_bench import Ask, Dice, Script, Tell, content, names_only, scenario

MESSAGES: Mapping[str, Any] = content(__file__)["messages"]


def _code(dice: Dice) -> str:
    digits = "".join(f"{dice.integer(0, 15):x}" for _ in range(32))
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@scenario(skills={"recall", "multi-hop"}, topics={"codes"}, forget=MESSAGES["forget"], version=3)
def key_value(dice: Dice, *, pairs: int = 6, lookups: int = 2) -> Script:
    """Give `pairs` pairs in random order; then ask for the end of a chain of `lookups` of them."""
    if not 1 <= lookups <= pairs:
        raise ValueError(
            f"pairs = {pairs}, lookups = {lookups}: a chain needs as many pairs as it has lookups"
        )
    chain = [_code(dice) for _ in range(lookups + 1)]
    others = [(_code(dice), _code(dice)) for _ in range(pairs - lookups)]
    told = dice.shuffled([*pairwise(chain), *others])
    yield Tell(dice.choice(MESSAGES["intro"]), at=0.0)
    texts = cycle(dice.shuffled(MESSAGES["pair"]))
    for i, ((key, value), text) in enumerate(zip(told, texts, strict=False)):
        yield Tell(text.format(key=key, value=value), at=i / pairs)
    question = dice.choice(MESSAGES["question"][{1: "once", 2: "twice"}.get(lookups, "chain")])
    expect = names_only(chain[-1], among=[value for _, value in told])
    yield Ask(question.format(key=chain[0], lookups=lookups), expect=expect, at=1.0)
