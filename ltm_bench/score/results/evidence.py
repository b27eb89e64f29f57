"""Evidence from a run's side files: how long replies took, and what retrieval found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ltm_bench.log.lines import records
from ltm_bench.score.results.retrieval import NeedleTrace, Retrieval, Retrieved
from ltm_bench.score.results.written import Examined, Written
from ltm_bench.score.statistics.intervals import Interval, median_interval, percentile

PERCENTILES = (50, 75, 90, 95, 99, 100)


class Latency(BaseModel, frozen=True):
    """Wall-clock seconds of the agent's own replies."""

    total: float
    median: float
    p95: float
    calls: int = 0
    """Replies that were timed."""
    percentiles: dict[int, float] = Field(default_factory=dict)
    """Maximum seconds of the fastest 50, 75, 90, 95, 99 and 100 % of the replies."""
    interval: Interval | None = None
    """95 % interval of the median."""
    retries: int = 0
    """Requests retried because the provider or the network failed."""
    cached: int = 0
    """Replies from the cache instead of the provider."""


def latency(path: Path) -> Latency | None:
    """Return the latency of a run's replies; None if unknown."""
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
        interval=median_interval(taken),
        retries=retries,
        cached=cached,
    )


Timings = Mapping[str | None, Mapping[int, float]]
"""Wall-clock seconds of replies by turn, for each conversation: that of an isolated example, or the only one (None)."""


def timings(path: Path) -> Timings:
    """Return how long each reply took, if known."""
    found: dict[str | None, dict[int, float]] = {}
    for record in records(path):
        conversation, turn, seconds = (record.get(key) for key in ("conversation", "turn", "seconds"))
        if isinstance(turn, int) and isinstance(seconds, int | float):
            place = conversation if isinstance(conversation, str) else None
            found.setdefault(place, {})[turn] = float(seconds)
    return found


def untold(path: Path) -> list[int]:
    """Return the turns from which a resumed run continued with an agent that could not be restored."""
    turns = (record.get("turn") for record in records(path) if record.get("untold") is True)
    return [turn for turn in turns if isinstance(turn, int)]


def traces(path: Path) -> dict[int, Retrieval]:
    """Return what retrieval found, by the turn of the question."""
    found = {}
    for record in records(path):
        needles, instead = record.get("needles"), record.get("instead", [])
        if not isinstance(needles, list) or not all(isinstance(n, list) and len(n) == 3 for n in needles):
            continue
        if isinstance(record.get("turn"), int) and needles:
            found[record["turn"]] = _retrieval(needles, instead if isinstance(instead, list) else [])
    return found


def writings(path: Path) -> dict[str, Examined]:
    """Return which of each example's facts an agent's store held; the last record counts."""
    found = {}
    for record in records(path):
        name, users = record.get("example"), record.get("users")
        with suppress(ValidationError):
            written = Written.model_validate({key: record.get(key) for key in ("memories", "facts")})
            if isinstance(name, str):
                found[name] = Examined(written, isinstance(users, int) and users > 1)
    return found


def _retrieval(needles: Sequence[Sequence[Any]], instead: Sequence[Any]) -> Retrieval:
    """Return a record's retrieval. Version 0.1.0 recorded whether a needle was retrieved, not its rank."""
    ranked = all(rank is None or type(rank) is int for _, _, rank in needles)
    known = [bool(stored) for _, stored, _ in needles if stored is not None]
    return Retrieval(
        needles=len(needles),
        stored=sum(known) if len(known) == len(needles) else None,
        retrieved=sum(bool(rank) for _, _, rank in needles),
        traces=tuple(
            NeedleTrace(turn=turn, stored=None if stored is None else bool(stored), rank=rank)
            for turn, stored, rank in needles
            if ranked and isinstance(turn, int)
        ),
        instead=tuple(_memories(instead)),
    )


def _memories(instead: Sequence[Any]) -> Iterator[Retrieved]:
    for each in instead:
        with suppress(ValidationError):
            yield Retrieved.model_validate(each)
