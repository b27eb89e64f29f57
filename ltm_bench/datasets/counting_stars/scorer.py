"""Scores predictions of Counting-Stars (Song et al. 2024) as its programs do, and adds order-aware figures.

A prediction file is a JSON list, or JSON lines, of objects with `answer` (what the model said) and
`reference_counting_results` (the M counts); `context_size` or `sky_size` is the length of the text. In the reasoning
test each star is first counted wrongly. The files do not hold those wrong counts: they are in the full prompt
(`question`), if it was kept, and in a table that the published scorer reads.

The figures are for prediction files, and for an agent's replies in a run.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import json_of
from ltm_bench.datasets.streaming import OnBad, read_predictions
from ltm_bench.datasets.values import text_of


class Hits(NamedTuple):
    """One answer: which of the counts it contains, and in what order."""

    size: int
    """Length of the text in the units of the file; 0 if it does not say."""
    parts: tuple[float, ...]
    """For each count, 1 if it is in the answer; in the reasoning test, also 0.5 or 0.25 for partly right counts."""
    reasoning: bool
    """Whether the stars were first counted wrongly."""
    placed: int
    """Number of counts in the right place."""
    exact: bool
    """Whether the answer is the list itself."""


def read_counts(answer: str) -> list[int]:
    """Read the list of counts in an answer as the published program does; [] if there is none."""
    from json_repair import repair_json

    text = answer.replace("```", "").replace("json", "").strip() if "```" in answer else answer
    try:
        value: Any = json_of(text)
    except ValueError:
        value = repair_json(text, return_objects=True)
    if isinstance(value, dict):
        value = next((each for each in value.values() if isinstance(each, list)), [])
    if not isinstance(value, list):
        return []
    return [int(each) for each in value if isinstance(each, int | float) and not isinstance(each, bool)]


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
        reasoning=bool(mistaken),
        placed=sum(a == b for a, b in zip(said, reference, strict=False)),
        exact=list(reference) == said,
    )


def _part(right: bool, mistaken: bool) -> float:
    if right:
        return 0.5 if mistaken else 1.0
    return 0.25 if mistaken else 0.0


_FIRST_COUNTED = {
    15: 16, 117: 116, 42: 43, 69: 70, 58: 59, 107: 106, 9: 8, 49: 48, 113: 112, 66: 67, 26: 25, 102: 101, 81: 82,
    94: 93, 77: 76, 61: 62, 5: 6, 19: 18, 109: 108, 3: 4, 35: 34, 54: 53, 86: 85, 89: 90, 127: 126, 21: 22, 46: 45,
    122: 121, 38: 39, 97: 96, 74: 75, 29: 30,
}  # fmt: skip
"""The wrong count of each star of the published test with 32 stars."""

_CORRECTED = re.compile(r"(\d{1,9}) ?[颗]?★[^★\d]{1,200}(\d{1,9}) ?[颗]?★")
"""A wrong count and the right one, in one sentence. Linear: at most 200 characters lie between two stars."""


def _mistaken(row: Mapping[str, Any], reference: Sequence[int]) -> list[int]:
    """Return the count that each star was first given. Raises LookupError if neither prompt nor table has it."""
    told = {int(right): int(wrong) for wrong, right in _CORRECTED.findall(str(row.get("question", "")))}
    for table in (told, _FIRST_COUNTED):
        if all(count in table for count in reference):
            return [table[count] for count in reference]
    raise LookupError(
        "it is of the reasoning test, and nothing says which wrong counts came before the right ones: "
        "keep the whole prompt in `question`"
    )


def _is_reasoning(row: Mapping[str, Any]) -> bool:
    asked = str(row.get("retrieval_question") or row.get("question", ""))[-2000:]
    return "正确" in asked or re.search(r"\bcorrect(?:ly)?\b", asked) is not None


def rows(lines: Iterable[Any], *, reasoning: bool = False) -> list[Hits]:
    """Score the objects of a prediction file. Raises ValueError, LookupError or TypeError for other objects.

    Args:
        lines: The objects.
        reasoning: They belong to the reasoning test, even if their questions do not say so.
    """
    found = []
    for each in lines:
        reference = [int(count) for count in each["reference_counting_results"]]
        corrected = reasoning or _is_reasoning(each)
        mistaken = _mistaken(each, reference) if corrected else ()
        size = int(each.get("context_size", each.get("sky_size", 0)))
        found.append(score(text_of(each["answer"]), reference, size, mistaken=mistaken))
    return found


BUCKETS = 4
"""Number of groups of answers, by length."""


class Figures(NamedTuple):
    """The figures of one test."""

    test: str
    """`searching`, or `reasoning` where stars were first counted wrongly."""

    n: int
    """Answers."""
    hits: int
    """Counts that were found."""
    cells: int
    """Counts that were asked for, over all answers."""
    score: float
    by_length: tuple[float | None, ...]
    """Score of each of the `BUCKETS` groups, shortest texts first; None for an empty group or unknown lengths."""
    placed: float
    """Share of the counts that are in the right place."""
    exact: int
    """Answers that are the list itself."""


def predicted(path: Path, on_bad: OnBad) -> Figures:
    """Return the figures of a prediction file. Raises ConfigError if it is not one."""
    reasoning = "reasoning" in path.name.casefold()
    try:
        found = rows((entry.value for entry in read_predictions(path, on_bad)), reasoning=reasoning)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{path}: not a prediction file of Counting-Stars: {type(error).__name__}: {error}"
        ) from error
    if not found:
        raise ConfigError(f"{path}: it has no answer")
    if len({row.reasoning for row in found}) > 1:
        raise ConfigError(f"{path}: some answers belong to the reasoning test, others do not: split the file")
    return figures_of(found)


def figures_of(found: Sequence[Hits]) -> Figures:
    """Return the figures of the answers to one test."""
    cells = sum(len(row.parts) for row in found)
    ordered = sorted(found, key=lambda row: row.size)
    cuts = [i * len(found) // BUCKETS for i in range(BUCKETS + 1)]
    groups = [ordered[cuts[i] : cuts[i + 1]] for i in range(BUCKETS)]
    return Figures(
        test="reasoning" if found[0].reasoning else "searching",
        n=len(found),
        hits=sum(part == 1 for row in found for part in row.parts),
        cells=cells,
        score=round(_mean(found), 4),
        by_length=tuple(round(_mean(group), 4) if group and found[0].size else None for group in groups),
        placed=round(sum(row.placed for row in found) / cells, 4),
        exact=sum(row.exact for row in found),
    )


def _mean(found: Sequence[Hits]) -> float:
    return sum(sum(row.parts) for row in found) / sum(len(row.parts) for row in found)
