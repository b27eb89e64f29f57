"""What resuming a killed run costs, against reading its log and telling the agent every turn.

    python perf/resume.py [--spans 10M] [--times 3]

A whole conversation with `parrot` is run once, and the last events are cut off its log. `resume s` is the time to
resume it to its end, which must give the same log byte for byte; `ratio` is relative to `replay s`. Each of these is
one pass over the log, and includes the one before:

    read    every event is read
    tell    every turn is given to the agent
    replay  the scheduler, the scripts and the filler's dice are brought to where the log ends, with its replies:
            resuming cannot do less

Processor time after start-up (imports, the plan), the best of `--times`; `MB` is the peak memory of resuming.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import tempfile
from pathlib import Path

from engine import ENGINE, measured  # type: ignore[import-not-found]  # a file beside this one, not a package

PASSES = """
import asyncio, json, sys, time
from pathlib import Path
from ltm_bench.plugins.agents import make_agent
from ltm_bench.plan.planning import Wish, make_plan
from ltm_bench.core.dice import Dice
from ltm_bench.filler import Filler
from ltm_bench.log import message_of, read_events, read_turns, reply_of
from ltm_bench.core.messages import Turn
from ltm_bench.schedule import Jump, Scheduler

path = Path(sys.argv[2])
wish = Wish(span=sys.argv[1], agent="parrot", suite="standard", scenarios=(), examples=None, seed=0,
            isolated=False, filler="scripted", tokenizer="cl100k_base", settings=(), base_url=None)
plan = make_plan(wish)

async def read():
    for event in read_events(path):
        pass

async def tell():
    agent = make_agent("parrot", {})
    for turn in read_turns(path):
        await agent.observe(turn)

async def replay():
    agent, suite = make_agent("parrot", {}), plan.manifest.suite
    scheduler = Scheduler(plan.examples, span=plan.manifest.span, seed=0, counter=plan.counter, start=suite.start,
                          stagger=suite.stagger, rehearsals=plan.rehearsals)
    filler, sent = Filler(plan.bank, Dice("0/filler"), plan.counter), {}
    for event in read_events(path):
        if event["event"] == "sent":
            sent = event
        elif event["event"] == "replied":
            while isinstance(scheduler.decide(), Jump):
                scheduler.take()
            turn = Turn(message_of(sent), reply_of(event), sent["kind"], sent.get("example"))
            if turn.kind == "fill":
                filler.pass_over(turn.message.text)
            await agent.observe(turn)
            scheduler.take(sent["tokens"], turn.reply, event["tokens"])

passes = {}
for each in (read, tell, replay):
    begun = time.process_time()
    asyncio.run(each())
    passes[each.__name__] = time.process_time() - begun
print(json.dumps(passes))
"""


def cut(log: Path) -> None:
    """Cut the last events off a log, as a run that was killed would have left it."""
    with log.open("rb+") as file:
        size = log.stat().st_size
        file.seek(max(0, size - 20_000))
        tail = file.read()
        file.truncate(size - len(tail) + tail.index(b"\n") + 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spans", default="10M")
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    print("  span   read s  tell s  replay s  resume s  ratio  to tell     MB")
    for span in args.spans.split(","):
        with tempfile.TemporaryDirectory() as home:
            whole, broken = Path(home) / "whole", Path(home) / "broken"
            whole.mkdir()
            measured(ENGINE, span, str(whole))
            passes, resumed = [], []
            for _ in range(args.times):
                shutil.copytree(whole, broken)
                log = broken / "events.jsonl"
                cut(log)
                os.sync()  # what a copy has yet to write to the disk is no part of going on
                passes.append(measured(PASSES, span, str(log)))
                resumed.append(measured(ENGINE, span, str(broken)))
                if not filecmp.cmp(log, whole / "events.jsonl", shallow=False):
                    raise SystemExit(f"{span}: the resumed run has another log")
                shutil.rmtree(broken)
            read, tell, replay = (min(each[name] for each in passes) for name in ("read", "tell", "replay"))
            going_on = min(resumed, key=lambda run: run["cpu"])
            print(
                f"{span:>6} {read:>8.3f} {tell:>7.3f} {replay:>9.3f} {going_on['cpu']:>9.3f} "
                f"{going_on['cpu'] / replay:>6.2f} {going_on['cpu'] / tell:>8.2f} {going_on['mb']:>6.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
