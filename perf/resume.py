"""The cost of resuming a killed run, against reading its log and telling the agent every turn.

    python -m perf.resume [--spans 10M] [--times 3]

A whole conversation with `parrot` runs once, and the last events are cut off its log. `resume s` is the time to resume
it to its end, which must give the same log byte for byte; `ratio` is relative to `replay s`. Each of these is one pass
over the log, and includes the one before:

    read    every event is read
    tell    every turn is given to the agent
    replay  the scheduler, the scripts and the filler's dice are advanced to the end of the log, with its replies:
            resuming cannot do less

Processor time after start-up (imports, the plan), the best of `--times`; `MB` is the peak memory of resuming.
"""

import asyncio
import filecmp
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Turn
from ltm_bench.filler.filler import Filler
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import read_events, read_turns
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plugins.agents import make_agent
from ltm_bench.schedule.scheduler import Jump, Scheduler
from perf.arguments import Arguments, measurement
from perf.engine import hold
from perf.processes import apart
from perf.tables import table


class Passes(NamedTuple):
    """Seconds of processor time that each pass takes."""

    read: float
    tell: float
    replay: float


def passes_over(span: str, log: Path) -> Passes:
    """Go over a log in each way."""
    plan = make_plan(Request(agent="parrot", span=span))
    begun = time.process_time()
    for _ in read_events(log):
        pass
    was_read = time.process_time()
    asyncio.run(tell(log))
    was_told = time.process_time()
    asyncio.run(replay(plan, log))
    return Passes(was_read - begun, was_told - was_read, time.process_time() - was_told)


async def tell(log: Path) -> None:
    """Give every turn to the agent."""
    agent = make_agent("parrot", {})
    for turn in read_turns(log):
        await agent.observe(turn)


async def replay(plan: Plan, log: Path) -> None:
    """Advance agent, scheduler and filler to the end of the log."""
    agent, suite = make_agent("parrot", {}), plan.manifest.suite
    scheduler = Scheduler(
        plan.examples,
        span=plan.manifest.span,
        seed=plan.manifest.seed,
        counter=plan.counter,
        start=suite.start,
        stagger=suite.stagger,
        rehearsals=plan.rehearsals,
    )
    filler = Filler(plan.bank, Dice(f"{plan.manifest.seed}/filler"), plan.counter)
    sent: Sent | None = None
    for event in read_events(log):
        if isinstance(event, Sent):
            sent = event
        elif isinstance(event, Replied) and sent is not None:
            while isinstance(scheduler.decide(), Jump):
                scheduler.take()
            turn = Turn(sent.said, event.said, sent.kind, sent.example)
            if turn.kind == "fill":
                filler.pass_over(turn.message.text)
            await agent.observe(turn)
            scheduler.take(sent.tokens, turn.reply, event.tokens)


def cut(log: Path) -> None:
    """Cut the last events off a log, as if the run had been killed."""
    with log.open("rb+") as file:
        size = log.stat().st_size
        file.seek(max(0, size - 20_000))
        tail = file.read()
        file.truncate(size - len(tail) + tail.index(b"\n") + 1)


@measurement(__doc__, spans="10M", times=3)
def main(args: Arguments) -> None:
    """Measure and print."""
    row = table(*"span|read s|tell s|replay s|resume s|ratio|to tell|MB".split("|"))
    for span in args.spans.split(","):
        with tempfile.TemporaryDirectory() as home:
            whole, broken = Path(home) / "whole", Path(home) / "broken"
            whole.mkdir()
            apart(hold, span, whole)
            passes, resumed = [], []
            for _ in range(args.times):
                shutil.copytree(whole, broken)
                log = broken / "events.jsonl"
                cut(log)
                os.sync()  # pending writes of the copy are not part of resuming
                passes.append(apart(passes_over, span, log))
                resumed.append(apart(hold, span, broken))
                if not filecmp.cmp(log, whole / "events.jsonl", shallow=False):
                    raise SystemExit(f"{span}: the resumed run has another log")
                shutil.rmtree(broken)
            read, tell, replay = (min(column) for column in zip(*passes, strict=True))
            resume = min(resumed)
            seconds = (f"{each:.3f}" for each in (read, tell, replay, resume.cpu))
            ratios = (f"{resume.cpu / each:.2f}" for each in (replay, tell))
            row(span, *seconds, *ratios, f"{resume.mb:.0f}")
