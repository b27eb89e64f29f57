"""Evidence from the side files of a run: how long replies took, and what retrieval had."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ltm_bench.log.lines import records
from ltm_bench.score.results import Latency, Retrieval
from ltm_bench.score.statistics import bootstrap, percentile

PERCENTILES = (50, 75, 90, 95, 99, 100)


def latency(path: Path) -> Latency | None:
    """Return the latency of a run's replies; None where nothing is known of it."""
    import numpy as np

    if not path.exists():
        return None
    taken: list[float] = []
    retries = cached = 0
    for record in records(path):
        given, seconds = record.get("attempts"), record.get("seconds")
        attempts = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
        retries += max(0, len(attempts) - 1) if seconds is not None else len(attempts)
        if isinstance(seconds, int | float):
            taken.append(seconds)
            cached += bool(attempts) and all(attempt.get("cached") for attempt in attempts)
    if not taken:
        return None
    by_level = {level: round(percentile(taken, level), 6) for level in PERCENTILES}
    return Latency(
        total=round(sum(taken), 3),
        median=by_level[50],
        p95=by_level[95],
        calls=len(taken),
        percentiles=by_level,
        interval=bootstrap(taken, np.median, method="percentile"),
        retries=retries,
        cached=cached,
    )


Timings = Mapping[str | None, Mapping[int, float]]
"""Wall-clock seconds of replies by turn, for each conversation: that of an isolated example, or the only one (None)."""


def timings(path: Path) -> Timings:
    """Return how long each reply took, as far as that is known."""
    found: dict[str | None, dict[int, float]] = {}
    for record in records(path):
        conversation, turn, seconds = (record.get(key) for key in ("conversation", "turn", "seconds"))
        if isinstance(turn, int) and isinstance(seconds, int | float):
            place = conversation if isinstance(conversation, str) else None
            found.setdefault(place, {})[turn] = float(seconds)
    return found


def untold(path: Path) -> list[int]:
    """Return the turns from which a run went on with an agent that could not be told what had been said before."""
    turns = (record.get("turn") for record in records(path) if record.get("untold") is True)
    return [turn for turn in turns if isinstance(turn, int)]


def retrievals(path: Path) -> dict[int, Retrieval]:
    """Return what is known of retrieval, by turn."""
    found = {}
    for record in records(path):
        needles = record.get("needles")
        if not isinstance(needles, list) or not all(isinstance(n, list) and len(n) == 3 for n in needles):
            continue
        if isinstance(record.get("turn"), int) and needles:
            found[record["turn"]] = Retrieval(
                needles=len(needles),
                stored=sum(bool(each[1]) for each in needles),
                retrieved=sum(bool(each[2]) for each in needles),
            )
    return found
