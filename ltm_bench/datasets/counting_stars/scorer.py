"""Scores answers of Counting-Stars (Song et al. 2024) as its programs do, and adds order-aware figures."""

from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from typing import Any, NamedTuple

from ltm_bench.core.limits import json_of


class Hits(NamedTuple):
    """One answer: which of the counts it contains, and in what order."""

    size: int
    """Length of the text in the units of the file; 0 if it does not say."""
    parts: tuple[float, ...]
    """For each count, 1 if it is in the answer; in the reasoning test, also 0.5 or 0.25 for partly right counts."""
    placed: int
    """Number of counts in the right place."""
    exact: bool
    """Whether the answer is the list itself."""


def read_counts(answer: str) -> list[int]:
    """Read the list of counts in an answer as the published program does; [] if there is none."""
    from json_repair import repair_json

    text = answer.replace("```", "").replace("json", "").strip() if "```" in answer else answer
    value: Any = None
    with suppress(ValueError, RecursionError):  # what is nested too deeply is no list of counts
        try:
            value = json_of(text)
        except ValueError:
            value = repair_json(text, return_objects=True)
    if isinstance(value, dict):
        value = next((each for each in value.values() if isinstance(each, list)), [])
    if not isinstance(value, list):
        return []
    return [int(each) for each in value if type(each) is int or (type(each) is float and isfinite(each))]


def score(answer: str, reference: Sequence[int], size: int = 0, *, mistaken: Sequence[int] = ()) -> Hits:
    """Score one answer: numbers after the M-th are ignored, repeated ones count once, and order is free.

    Args:
        answer: What the model said.
        reference: The M counts.
        size: Length of the text.
        mistaken: In the reasoning test, the count that each star was first given.
    """
    said = read_counts(answer)
    kept = set(said[: len(reference)])
    wrong = [count in kept for count in mistaken] or [False] * len(reference)
    return Hits(
        size=size,
        parts=tuple(_part(count in kept, bad) for count, bad in zip(reference, wrong, strict=True)),
        placed=sum(a == b for a, b in zip(said, reference, strict=False)),
        exact=list(reference) == said,
    )


def _part(right: bool, mistaken: bool) -> float:
    if right:
        return 0.5 if mistaken else 1.0
    return 0.25 if mistaken else 0.0
