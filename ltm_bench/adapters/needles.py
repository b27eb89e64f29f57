"""Whether a message looks like a needle: a naive Bayes classifier on words, as anybody would write it who filters."""

import re
from collections.abc import Mapping

Weights = Mapping[str, float]
"""By word: the logarithm of how much likelier it is in a message with a needle."""


def words_of(text: str) -> set[str]:
    """Return the words and marks of a message."""
    return set(re.findall(r"\w+|[^\w\s]", text.casefold()))


def likeness(text: str, weights: Weights) -> float:
    """Return how much a message looks like one with a needle; above 0 that is likelier than not."""
    return sum(weights.get(word, 0.0) for word in sorted(words_of(text)))
