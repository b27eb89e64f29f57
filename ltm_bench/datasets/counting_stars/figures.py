"""The figures of Counting-Stars, for prediction files and for an agent's replies in a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.counting_stars.scorer import Hits, rows, score
from ltm_bench.datasets.predictions import OnBad, read_predictions

BUCKETS = 4
"""Number of groups of answers, by length."""


class Recount(NamedTuple):
    """An agent's reply in a run."""

    test: str
    reply: str
    counts: Sequence[int]
    """The right counts."""
    size: int
    """Length of the text, in tokens."""
    parts: tuple[float, ...]
    """The score of each count, as on the run's page."""


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
    return _figures(found)


def answered(answers: Iterable[Recount]) -> dict[str, Figures]:
    """Return the figures of each test of a run; the scores are those of the run's page."""
    tests: dict[str, list[Hits]] = {}
    for each in answers:
        row = score(each.reply, each.counts, each.size)
        tests.setdefault(each.test, []).append(row._replace(parts=each.parts))
    return {name: _figures(found) for name, found in tests.items()}


def _figures(found: Sequence[Hits]) -> Figures:
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
