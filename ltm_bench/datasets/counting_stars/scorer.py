"""Scores predictions of Counting-Stars (Song et al. 2024) as its programs do, and adds order-aware figures.

A prediction file is a JSON list, or JSON lines, of objects with `answer` (what the model said) and
`reference_counting_results` (the M counts); `context_size` or `sky_size` says how long the text was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One answer: which of the counts it has, and how they are ordered."""

    size: int
    """Length of the text in the units of the file; 0 if it does not say."""
    parts: tuple[float, ...]
    """For each count, 1 if it is in the answer; in the reasoning test also 0.5 or 0.25 for half-right counts."""
    placed: int
    """Number of counts at their own place."""
    exact: bool
    """Whether the answer is the list itself."""


def read_counts(answer: str) -> list[int]:
    """Read the list of counts in an answer as the published program does; [] if there is none."""
    from json_repair import repair_json

    text = answer.replace("```", "").replace("json", "").strip() if "```" in answer else answer
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = repair_json(text, return_objects=True)
    if isinstance(value, dict):
        value = next((each for each in value.values() if isinstance(each, list)), [])
    if not isinstance(value, list):
        return []
    return [int(each) for each in value if isinstance(each, int | float) and not isinstance(each, bool)]


def score(answer: str, reference: Sequence[int], size: int = 0) -> Row:
    """Score one answer: numbers after the M-th are ignored, repeated ones count once, and order is free."""
    said = read_counts(answer)
    kept = set(said[: len(reference)])
    return Row(
        size=size,
        parts=tuple(float(count in kept) for count in reference),
        placed=sum(a == b for a, b in zip(said, reference, strict=False)),
        exact=list(reference) == said,
    )


def rows(lines: Iterable[Any]) -> list[Row]:
    """Score the objects of a prediction file. Raises ValueError, LookupError or TypeError for other objects."""
    return [
        score(
            str(each["answer"]),
            [int(count) for count in each["reference_counting_results"]],
            int(each.get("context_size", each.get("sky_size", 0))),
        )
        for each in lines
    ]
