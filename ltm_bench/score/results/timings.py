"""What `timings.jsonl` says: how long replies and a memory's operations took, and what they cost. Read once."""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from ltm_bench.core.pricing import dollars
from ltm_bench.log.calls import KeptCalls
from ltm_bench.log.lines import records
from ltm_bench.score.results.ingestion import Spent
from ltm_bench.score.results.operations import Samples, read_operations
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


class Timings:
    """The records of `timings.jsonl`, added up: evidence, never the truth, so that nonsense in it is ignored.

    Args:
        records: The records.
        on: The day whose prices apply; None for today.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]], on: datetime | None) -> None:
        self.untold: list[int] = []
        """Turns from which a resumed run continued with an agent that could not be restored."""
        self._on = on
        self._taken: list[float] = []
        self._retries = self._cached = 0
        self._seconds: dict[str | None, dict[int, float]] = {}
        self._since: dict[str | None, dict[int, float]] = {}
        self._spent: dict[str | None, dict[int, Spent]] = {}
        self.samples: dict[str, Samples] = {}
        """Operations by name."""
        for record in records:
            self._take(record)

    def _take(self, record: Mapping[str, Any]) -> None:
        given, seconds = record.get("attempts"), record.get("seconds")
        attempts = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
        # The attempt that brought the reply is no retry; in a record without seconds, none did.
        self._retries += max(0, len(attempts) - 1) if seconds is not None else len(attempts)
        conversation, turn = record.get("conversation"), record.get("turn")
        place = conversation if isinstance(conversation, str) else None
        if isinstance(seconds, int | float) and 0 <= seconds < math.inf:
            self._taken.append(seconds)
            self._cached += bool(attempts) and all(attempt.get("cached") for attempt in attempts)
            if isinstance(turn, int):
                self._seconds.setdefault(place, {})[turn] = float(seconds)
        since = record.get("since_told")
        if isinstance(turn, int) and isinstance(since, int | float) and 0 <= since < math.inf:
            self._since.setdefault(place, {})[turn] = float(since)
        if isinstance(turn, int) and record.get("untold") is True:
            self.untold.append(turn)
        for name, taken, usage in read_operations(record.get("operations")):
            prices = [None if each is None else dollars(each, self._on) for each in usage]
            self.samples.setdefault(name, Samples()).add(taken, turn, usage, prices)
            if isinstance(turn, int):
                of = self._spent.setdefault(place, {})
                waiting = taken if name == "settle" else 0.0
                of[turn] = of.get(turn, Spent(0.0, 0.0, Decimal())).plus(taken, waiting, prices)

    def seconds(self, conversation: str | None) -> Mapping[int, float]:
        """Return how long replies took, by turn: in an isolated example's conversation, or the only one (None)."""
        return self._seconds.get(conversation, {})

    def since_told(self, conversation: str | None) -> Mapping[int, float]:
        """Return how long after their telling questions were asked that did not wait for indexers, by turn."""
        return self._since.get(conversation, {})

    def spent(self, conversation: str | None) -> Mapping[int, Spent]:
        """Return what was spent on the turns of a conversation."""
        return self._spent.get(conversation, {})

    @property
    def latency(self) -> Latency | None:
        """The latency of the replies; None if unknown."""
        if not self._taken:
            return None
        by_level = {level: round(percentile(self._taken, level), 6) for level in PERCENTILES}
        return Latency(
            total=round(sum(self._taken), 3),
            median=by_level[50],
            p95=by_level[95],
            calls=len(self._taken),
            percentiles=by_level,
            interval=median_interval(self._taken),
            retries=self._retries,
            cached=self._cached,
        )


def side_of(folder: Path, on: datetime | None) -> tuple[Timings, KeptCalls]:
    """Return what a run's side files say of its calls, each read once; `on` as for `Timings`."""
    calls = KeptCalls()
    return Timings(calls.passing(records(folder / "timings.jsonl")), on), calls.read(folder)
