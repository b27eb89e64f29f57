"""Evidence from the side files of a run: how long replies took, and what retrieval had."""

from __future__ import annotations

from pathlib import Path

from ltm_bench.log.lines import records
from ltm_bench.score.results import Latency, Retrieval
from ltm_bench.score.statistics import percentile


def latency(path: Path) -> Latency | None:
    """Return the latency of a run's replies; None where nothing is known of it."""
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
    return Latency(
        total=round(sum(taken), 3),
        median=round(percentile(taken, 50), 6),
        p95=round(percentile(taken, 95), 6),
        retries=retries,
        cached=cached,
    )


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
