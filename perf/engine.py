"""The engine against its floor: the cost of a run beyond tokenising every message once and writing every event once.

    python -m perf.engine [--spans 32k,120k,500k,2M,10M] [--times 3]

Each span is measured in separate processes: a whole conversation with `parrot`, and the floor, which reads that log,
counts the tokens of every message and reply once, and serialises and writes every event once. Times are processor time
after start-up (imports, the plan), the best of `--times`; `ratio` is engine to floor. The floor scores nothing.
"""

import asyncio
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.tokens import counter
from ltm_bench.log.events import Replied, Sent, encode
from ltm_bench.log.reader import read_events
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.conversations import run_conversations
from ltm_bench.runner.observer import Silent
from perf.harness import Arguments, apart, measurement, peak, table


class Held(NamedTuple):
    """The time and memory of a run."""

    cpu: float
    wall: float
    mb: float


class Floor(NamedTuple):
    """The floor: work that cannot be avoided."""

    cpu: float
    tokens: int
    turns: int


def hold(span: str, folder: Path) -> Held:
    """Hold a run with `parrot`."""
    plan = make_plan(Request(agent="parrot", span=span))
    for module in ("json_repair", "rapidfuzz.fuzz"):  # matchers import them with the first verdict
        import_module(module)
    start_run(folder, plan.manifest)
    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(run_conversations(plan, plan.agents, folder, budget=Budget(), observer=Silent()))
    return Held(time.process_time() - cpu, time.perf_counter() - wall, peak())


def floor_of(log: Path, copy: Path) -> Floor:
    """Tokenise every message of a log once, and write every event once."""
    count = counter().count
    count("warm")
    cpu, tokens, turns = 0.0, 0, 0
    with copy.open("wb", buffering=0) as file:
        for event in read_events(log):
            begun = time.process_time()
            if isinstance(event, Sent):
                tokens += count(event.message)
            elif isinstance(event, Replied):
                tokens += count(event.reply)
                turns += 1
            file.write(encode(event))
            cpu += time.process_time() - begun
    return Floor(cpu, tokens, turns)


@measurement(__doc__, spans="32k,120k,500k,2M,10M", times=3)
def main(args: Arguments) -> None:
    """Measure and print."""
    heads = "span|turns|tokens|wall s|cpu s|floor s|ratio|turns/s|us/token|MB|bytes/token"
    row = table(*heads.split("|"))
    for span in args.spans.split(","):
        runs, floors = [], []
        for _ in range(args.times):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                log = folder / "events.jsonl"
                runs.append(apart(hold, span, folder))
                floors.append(apart(floor_of, log, folder / "again.jsonl"))
                size = log.stat().st_size
        run, floor = min(runs), min(floors)
        row(
            span, floor.turns, f"{floor.tokens:,}", f"{run.wall:.2f}", f"{run.cpu:.2f}", f"{floor.cpu:.3f}",
            f"{run.cpu / floor.cpu:.2f}", f"{floor.turns / run.wall:.0f}", f"{1e6 * run.cpu / floor.tokens:.3f}",
            f"{run.mb:.0f}", f"{size / floor.tokens:.2f}",
        )  # fmt: skip
