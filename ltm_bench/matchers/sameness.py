"""Tells whether two words are the same apart from number or one typo."""

from functools import lru_cache

_LONG = 5
"""Minimum length of a word in which a typo is forgiven."""
_SHORT = 3
_ENDINGS = "ies=y ches=ch shes=sh sses=ss xes=x zes=z oes=o ves=f ss=ss us=us is=is s=".split()
_PLURALS = [each.split("=") for each in _ENDINGS]


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Strip a plural ending, roughly; both sides of a comparison are stripped the same way."""
    word = word.removesuffix("'s") if len(word) > _SHORT else word
    for plural, single in _PLURALS if word.endswith("s") else ():
        if word.endswith(plural) and len(word) > _SHORT + (len(plural) > 2):
            return word.removesuffix(plural) + single
    return word


@lru_cache(maxsize=8192)
def same_word(said: str, meant: str) -> bool:
    """Whether two words are the same apart from number, or apart from one typo in a long word.

    A typo is a letter too many, a letter too few, or two letters swapped, within a word: at its beginning or its end a
    letter makes another word (`range` and `orange`, `brownie` and `brown`), and so does a replaced one (`white` and
    `while`). A word of the language is not a typo (`create` and `crate`).
    """
    shorter, longer = (said, meant) if len(said) <= len(meant) else (meant, said)
    if len(longer) > _LONG and longer == f"{shorter}s" and not shorter.endswith("s"):
        return True  # `reserves`, whose `ves` does not come from `f`
    said, meant = singular(said), singular(meant)
    if said == meant:
        return True
    least = min(len(said), len(meant))
    if least < _LONG or abs(len(said) - len(meant)) > 1:
        return False
    if any(map(str.isdigit, said + meant)):  # a code with another letter is another code
        return False
    i = next((i for i in range(least) if said[i] != meant[i]), least)
    too_few = i > 0 and said[i:] == meant[i + 1 :]
    too_many = i > 0 and said[i + 1 :] == meant[i:] and (i < len(meant) or said[-1] == said[-2])
    swapped = said[i : i + 2] == meant[i : i + 2][::-1] and said[i + 2 :] == meant[i + 2 :]
    return (too_few or too_many or swapped) and not is_word(said)


@lru_cache(maxsize=4096)
def is_word(word: str) -> bool:
    """Whether a word is common in the language: it is a single token of the built-in tokenizer."""
    from ltm_bench.core.tokens import knows

    return knows(f" {word}")


def ends(word: str) -> tuple[str, ...]:
    """Return the first two and the last two letters of a word in the singular; a short singular, and its beginning.

    Words that count as the same share at least one of these: a typo spoils one end of a long word, not both.
    """
    stem = singular(word)
    if len(stem) >= _LONG:
        return (stem[:2], stem[-2:])
    return (stem, stem[:2]) if len(word) > _LONG else (stem,)  # `halves` is `half`, and also `halve`
