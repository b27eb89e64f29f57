"""How far two bags of tokens overlap, as published scorers of answers measure it."""

from collections import Counter
from collections.abc import Sequence


def f1(prediction: Sequence[str], label: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall over bags of tokens (SQuAD; Rajpurkar et al. 2016)."""
    common = sum((Counter(prediction) & Counter(label)).values())
    if not common:
        return 0.0
    precision, recall = common / len(prediction), common / len(label)
    return 2 * precision * recall / (precision + recall)
