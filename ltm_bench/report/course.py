"""What the agent used along the conversation, and how long its replies took: read from a run's folder."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.log import conversations, read_events, read_manifest, reply_of
from ltm_bench.prices import dollars
from ltm_bench.statistics import Interval, bootstrap

MOST_STEPS = 160
"""Steps in which a chart draws a conversation."""

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


def course_of(run: Path) -> Course:
    """Read the course of a run."""
    manifest = read_manifest(run)
    live = manifest.filler.mode == "live"
    calls: list[Step] = []
    spent: Decimal | None = Decimal()
    for path in conversations(run):
        sent: dict[str, Any] = {}
        for event in read_events(path):
            if event["event"] == "sent":
                sent = event
            elif event["event"] == "replied" and (live or sent["kind"] != "fill"):
                usage = reply_of(event).usage
                if usage is None:
                    continue
                price = dollars(usage)
                spent = None if price is None or spent is None else spent + price
                where = len(calls) + 1 if manifest.suite.isolated else sent["position"]
                calls.append(
                    Step(where, usage.prompt, usage.cache_read, None if spent is None else float(spent))
                )
    return Course(_steps(calls), _waiting(run / "timings.jsonl"))


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
    import jsonlines
    import numpy as np

    if not path.exists():
        return None
    with jsonlines.open(path) as reader:
        taken = [float(r["seconds"]) for r in reader.iter(type=dict, skip_invalid=True) if "seconds" in r]
    if not taken:
        return None
    values = np.percentile(taken, PERCENTILES)
    return Waiting(
        len(taken),
        [(level, float(value)) for level, value in zip(PERCENTILES, values, strict=True)],
        bootstrap(taken, np.median, method="percentile"),
    )
