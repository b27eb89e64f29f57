"""Key and value: codes lead to codes; which one is at the end of the chain?

Key-value retrieval with nested keys (Liu et al. 2023, "Lost in the middle"), as a conversation.
"""

from itertools import pairwise

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

INTRO = (
    "I keep some codes in pairs: a key, and the value that belongs to it. Please take a note of each of them."
)
PAIR = "Another pair of codes. Key: {key}. Value: {value}."
QUESTION = (
    "About the pairs of codes that I told you: look up the value of the key {key}{again}. "
    "Which code do you end up with? Write that code alone, in full."
)
AGAIN = ". That value is a key as well; look it up too, {count} in all, each time the last value"
FORGET = "The codes have all been changed, so those pairs are worth nothing any more."


def _code(dice: Dice) -> str:
    digits = "".join(f"{dice.integer(0, 15):x}" for _ in range(32))
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@scenario(skills={"recall", "multi-hop"}, topics={"codes"}, forget=FORGET)
def key_value(dice: Dice, *, pairs: int = 6, lookups: int = 2) -> Script:
    """Tell `pairs` pairs; a chain of `lookups` of them, told in random order, leads from the key that is asked for."""
    if not 1 <= lookups <= pairs:
        raise ValueError(
            f"pairs = {pairs}, lookups = {lookups}: a chain needs as many pairs as it has lookups"
        )
    chain = [_code(dice) for _ in range(lookups + 1)]
    others = [(_code(dice), _code(dice)) for _ in range(pairs - lookups)]
    told = dice.shuffled([*pairwise(chain), *others])
    yield Tell(INTRO, at=0.0)
    for i, (key, value) in enumerate(told):
        yield Tell(PAIR.format(key=key, value=value), at=i / pairs)
    again = AGAIN.format(count=f"{lookups} lookups") if lookups > 1 else ""
    values = [value for _, value in told]
    yield Ask(QUESTION.format(key=chain[0], again=again), expect=names_only(chain[-1], among=values), at=1.0)
