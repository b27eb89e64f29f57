"""Medoid voting: chooses the answer most similar to all the others (SWiM).

Answers that say there is no answer can be left out of the vote if one is known to exist.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Embed = Callable[[Sequence[str]], "ArrayLike"]
"""Takes texts, and returns a row of numbers for each."""


def medoid(vectors: ArrayLike) -> int:
    """Return the row with the highest mean cosine similarity to the others; the first in a tie.

    A row of zeros has a similarity of 0 to every other.
    """
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    similar = unit @ unit.T
    np.fill_diagonal(similar, 0.0)
    # Rounded, so that the last bit does not decide between equal answers.
    return int(np.argmax(np.round(similar.sum(axis=1), 9)))


def vote(answers: Sequence[str], embed: Embed, absent: Callable[[str], bool] | None = None) -> int:
    """Return the index of the winning answer. Answers for which `absent` holds are left out unless all are."""
    heard = [i for i, answer in enumerate(answers) if absent is None or not absent(answer)] or list(
        range(len(answers))
    )
    return heard[0] if len(heard) == 1 else heard[medoid(embed([answers[i] for i in heard]))]
