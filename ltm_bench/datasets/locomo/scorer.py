"""The official scorer of LoCoMo (snap-research/LoCoMo, `task_eval/evaluation.py`), and a strict one."""

import re
import string
from collections.abc import Callable, Sequence

from ltm_bench.datasets.locomo.porter import stem
from ltm_bench.datasets.matching import Golds, each_of
from ltm_bench.datasets.overlap import f1 as f1_of_bags
from ltm_bench.matchers.reading import abstains

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")

_HEAP = 10
"""Maximum words of an answer for each word of the gold, in addition to `_SURPLUS`."""
_SURPLUS = 30


def stems(text: str) -> list[str]:
    """Return the stems of a text without commas, case, punctuation and articles."""
    plain = text.replace(",", "").lower().translate(_PUNCTUATION)
    return [stem(word) for word in _ARTICLES.sub(" ", plain).split()]


def f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over bags of stems."""
    return f1_of_bags(stems(answer), stems(gold))


def official(answer: str, gold: str, category: str) -> float:
    """Return the official program's score of an answer.

    Args:
        answer: What was said.
        gold: The answer in the data.
        category: 1 to 5. In 1, both are lists separated by commas: the mean over the gold's parts of their best F1.
            In 3, the gold ends at its first semicolon. In 5, the answer must contain one of two phrases.
    """
    if category == "5":
        lowered = answer.lower()
        return float("no information available" in lowered or "not mentioned" in lowered)
    if category == "1":
        parts = [part.strip() for part in answer.split(",")]
        best = [max(f1(part, wanted.strip()) for part in parts) for wanted in gold.split(",")]
        return sum(best) / len(best)
    return f1(answer, _plain_gold(gold, category))


def best(score: Callable[[str, str, str], float], answer: str, golds: Golds, category: str) -> float:
    """Return the score of an answer by whichever of the accepted answers gives it most."""
    return max(score(answer, gold, category) for gold in each_of(golds))


def chosen(answer: str, options: Sequence[str]) -> str:
    """Return the option that an answer names by its letter, as the official program reads it, else the answer.

    `a`, or any three characters with `(a)`, is the first; any other one or three characters are the second.
    """
    said = answer.strip().lower()
    if len(said) == 1:
        return options["a" not in said]
    return options["(a)" not in said] if len(said) == 3 else answer


def strict(answer: str, gold: str, category: str) -> float:
    """Return the share of the gold's parts whose words are all in the answer; 0 for a heap of words.

    In category 5, whether the answer admits, in any words, that it does not know.
    """
    if category == "5":
        return float(bool(official(answer, gold, category)) or abstains(answer))
    said = set(stems(answer))
    parts = gold.split(",") if category == "1" else [_plain_gold(gold, category)]
    wanted = [found for part in parts if (found := set(stems(part)))]
    if not wanted or len(stems(answer)) > _SURPLUS + _HEAP * sum(map(len, wanted)):
        return 0.0
    return sum(part <= said for part in wanted) / len(wanted)


def _plain_gold(gold: str, category: str) -> str:
    return gold.split(";")[0].strip() if category == "3" else gold
