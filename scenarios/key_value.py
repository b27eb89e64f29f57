"""Key and value: codes lead to codes; which one is at the end of the chain?

Key-value retrieval with nested keys (Liu et al. 2023, "Lost in the middle"), as a conversation.
"""

from itertools import pairwise

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

INTRO = (
    "I keep some codes in pairs: a key, and the value that belongs to it. Please make a note of each of them.",
    "I have a list of codes. Each pair is a key with its value, and I would like you to keep all of them.",
    "Some codes for safe keeping: I shall give them to you in pairs, a key and its value.",
)
PAIRS = (
    "Another pair of codes. Key: {key}. Value: {value}.",
    "A pair for the list of codes: the key is {key}, and its value is {value}.",
    "Of the codes, the key {key} has the value {value}.",
    "Please note this pair of codes: key {key}, value {value}.",
    "From my list of codes: key {key}, with the value {value}.",
)
QUESTIONS = (
    "Among the pairs of codes that I told you, look up the value of the key {key}.{again} Write that code alone, "
    "in full.",
    "Please take the pairs of codes and find the value of the key {key}.{again} Answer with the whole code and nothing "
    "else.",
)
ONCE = " Which code is it?"
AGAIN = (
    " That value is itself a key, so look up its value in turn, and go on until you have looked up {lookups} values. "
    "Which code do you end up with?"
)
FORGET = "The codes have all been changed, so those pairs are worth nothing any more."


def _code(dice: Dice) -> str:
    digits = "".join(f"{dice.integer(0, 15):x}" for _ in range(32))
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@scenario(skills={"recall", "multi-hop"}, topics={"codes"}, forget=FORGET, version=2)
def key_value(dice: Dice, *, pairs: int = 6, lookups: int = 2) -> Script:
    """Give `pairs` pairs in random order; then ask for the end of a chain of `lookups` of them."""
    if not 1 <= lookups <= pairs:
        raise ValueError(
            f"pairs = {pairs}, lookups = {lookups}: a chain needs as many pairs as it has lookups"
        )
    chain = [_code(dice) for _ in range(lookups + 1)]
    others = [(_code(dice), _code(dice)) for _ in range(pairs - lookups)]
    told = dice.shuffled([*pairwise(chain), *others])
    yield Tell(dice.choice(INTRO), at=0.0)
    for i, (key, value) in enumerate(told):
        yield Tell(dice.choice(PAIRS).format(key=key, value=value), at=i / pairs)
    question = dice.choice(QUESTIONS).format(
        key=chain[0], again=ONCE if lookups == 1 else AGAIN.format(lookups=lookups)
    )
    values = [value for _, value in told]
    yield Ask(question, expect=names_only(chain[-1], among=values), at=1.0)
