"""The official scorer of FactConsolidation (MemoryAgentBench, `utils/eval_other_utils.py`), and a strict one."""

import re
import string
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")

_LONGEST = 40
"""Maximum words of an answer; longer ones count as heaps of words. The published runs allow 10 tokens."""


def normal(text: str) -> str:
    """Return a text without case, punctuation, articles and surplus spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def official(answer: str, golds: Sequence[str]) -> float:
    """Return 1 if an accepted answer is part of what was said, letter by letter."""
    said = normal(answer)
    return float(any(normal(gold) in said for gold in golds))


def exact(answer: str, golds: Sequence[str]) -> float:
    """Return 1 if an accepted answer is all that was said; like the official program, also after `Answer:`."""
    said = {normal(answer), normal(_after_prefix(answer))}
    return float(any(normal(gold) in said for gold in golds))


def strict(answer: str, golds: Sequence[str]) -> float:
    """Return 1 if what was said contains an accepted answer as whole words; 0 for a heap of words."""
    said = normal(answer)
    if len(said.split()) > _LONGEST:
        return 0.0
    return float(any(f" {normal(gold)} " in f" {said} " for gold in golds if normal(gold)))


def _after_prefix(answer: str) -> str:
    _, found, rest = answer.partition("Answer:")
    return rest.strip().partition("\n")[0] if found else answer
