"""What the agent used along the conversation, and how long its replies took: read from a run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.log import conversations, read_events, read_manifest, read_records, reply_of
from ltm_bench.prices import dollars
from ltm_bench.statistics import Interval, bootstrap

MOST_STEPS = 160
"""Steps in which a chart draws a conversation."""

MOST_STRETCHES = 500
"""Parts of a conversation that can be told apart in a chart."""

PERCENTILES = (50, 75, 90, 95, 99, 100)


class Step(NamedTuple):
    """Some calls that follow each other; tokens are means over them."""

    position: int
    """Tokens of the conversation before the last of them; in an isolated run the number of calls."""
    prompt: float
    cached: float
    """The part of `prompt` that was read from the provider's cache."""
    dollars: float | None
    """What has been spent until then; None where a price is unknown."""


class Jump(NamedTuple):
    """Benchmark time that passed without a word."""

    position: int
    seconds: float


class Waiting(NamedTuple):
    """Wall-clock seconds of the agent's replies."""

    n: int
    percentiles: Sequence[tuple[int, float]]
    median: Interval | None


class Course(NamedTuple):
    """How a run went on."""

    steps: Sequence[Step]
    """None of them where the adapter tells no usage."""
    waiting: Waiting | None
    filler: Sequence[tuple[int, int]] = ()
    """Stretches of filler, from and to which position; short talk between two is passed over. None in isolated runs."""
    jumps: Sequence[Jump] = ()
    """Where benchmark time jumped."""


def course_of(run: Path) -> Course:
    """Read the course of a run."""
    manifest = read_manifest(run)
    live = manifest.filler.mode == "live"
    calls: list[Step] = []
    spent: Decimal | None = Decimal()
    filler: list[tuple[int, int]] = []
    jumps: list[Jump] = []
    for path in conversations(run):
        sent: dict[str, Any] = {}
        for event in read_events(path):
            if event["event"] == "sent":
                sent = event
            elif event["event"] == "jumped" and sent:
                passed = datetime.fromisoformat(event["to"]) - datetime.fromisoformat(sent["at"])
                jumps.append(Jump(event["position"], passed.total_seconds()))
            if event["event"] == "replied" and sent["kind"] == "fill":
                filler.append((sent["position"], sent["position"] + sent["tokens"] + event["tokens"]))
            if event["event"] == "replied" and (live or sent["kind"] != "fill"):
                usage = reply_of(event).usage
                if usage is None:
                    continue
                price = dollars(usage)
                spent = None if price is None or spent is None else spent + price
                where = len(calls) + 1 if manifest.suite.isolated else sent["position"]
                calls.append(
                    Step(where, usage.prompt, usage.cache_read, None if spent is None else float(spent))
                )
    waiting = _waiting(run / "timings.jsonl")
    if manifest.suite.isolated:
        return Course(_steps(calls), waiting)
    return Course(_steps(calls), waiting, _stretches(filler), jumps)


def _stretches(filler: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join filler where what lies between is too short to be seen."""
    joined: list[tuple[int, int]] = []
    unseen = filler[-1][1] // MOST_STRETCHES if filler else 0
    for start, end in filler:
        if joined and start - joined[-1][1] <= unseen:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _steps(calls: Sequence[Step]) -> list[Step]:
    """Average calls, so that a long conversation has no more steps than can be seen."""
    count = min(MOST_STEPS, len(calls))
    made = []
    for i in range(count):
        group = calls[i * len(calls) // count : (i + 1) * len(calls) // count]
        prompt, cached = (sum(each) / len(group) for each in zip(*(c[1:3] for c in group), strict=True))
        made.append(Step(group[-1].position, prompt, cached, group[-1].dollars))
    return made


def _waiting(path: Path) -> Waiting | None:
    import numpy as np

    if not path.exists():
        return None
    said = (record.get("seconds") for record in read_records(path))
    taken = [float(seconds) for seconds in said if isinstance(seconds, int | float)]
    if not taken:
        return None
    values = np.percentile(taken, PERCENTILES)
    return Waiting(
        len(taken),
        [(level, float(value)) for level, value in zip(PERCENTILES, values, strict=True)],
        bootstrap(taken, np.median, method="percentile"),
    )
