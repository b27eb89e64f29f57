"""Medoid voting: of several answers the one that is most like all others (SWiM).

An answer that says there is nothing can be left out of the vote, where it is known that there is something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Embed = Callable[[Sequence[str]], "ArrayLike"]
"""Texts in, one row of numbers for each out."""


def medoid(vectors: ArrayLike) -> int:
    """Return the row whose mean cosine similarity to the others is highest; of equals the first.

    A row of zeros is like nothing.
    """
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    similar = unit @ unit.T
    np.fill_diagonal(similar, 0.0)
    # Rounded, so that which of two equal answers comes first does not hang on the last bit.
    return int(np.argmax(np.round(similar.sum(axis=1), 9)))


def vote(answers: Sequence[str], embed: Embed, absent: Callable[[str], bool] | None = None) -> int:
    """Return which answer wins. `absent` says of which ones to leave out, as long as one is left."""
    heard = [i for i, answer in enumerate(answers) if absent is None or not absent(answer)] or list(
        range(len(answers))
    )
    return heard[0] if len(heard) == 1 else heard[medoid(embed([answers[i] for i in heard]))]
