"""The engine against its floor: what a run costs beyond tokenising every message once and writing every event once.

    python benchmarks/engine.py [--spans 32k,120k,500k,2M,10M]

Each span is measured in two processes of its own: a whole conversation with `parrot`, and the floor, which reads that
log, counts the tokens of every message and reply once, and serialises and writes every event once. Times are processor
time after start-up (imports, the plan); `ratio` is the engine's to the floor's. Then the last events are cut off the
log: `resume s` is what going on with it costs, `read s` reading it once and replaying every turn to the agent.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ENGINE = """
import asyncio, json, resource, sys, time
import json_repair, rapidfuzz.fuzz
from decimal import Decimal
from pathlib import Path
from ltm_bench.cli.planning import Wish, agent_maker, make_plan
from ltm_bench.log import start_run
from ltm_bench.runner import Budget, run

class Nobody:
    def turn(self, *_, **__): pass
    def verdict(self, *_): pass
    def ended(self, *_): pass

wish = Wish(span=sys.argv[1], agent="parrot", suite="standard", scenarios=(), examples=None, seed=0,
            isolated=False, filler="scripted", tokenizer="cl100k_base", settings=(), base_url=None)
plan = make_plan(wish)
folder = Path(sys.argv[2])
start_run(folder, plan.manifest)
begun, wall = time.process_time(), time.perf_counter()
make = agent_maker(plan.manifest.agent)
asyncio.run(run(plan, make, folder, budget=Budget(), observer=Nobody(), clock=time.perf_counter))
print(json.dumps({"cpu": time.process_time() - begun, "wall": time.perf_counter() - wall,
                  "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""

FLOOR = """
import json, sys, time
from pathlib import Path
from ltm_bench.log import encode, read_events
from ltm_bench.tokens import counter

count = counter("cl100k_base")
count.count("warm")
path = Path(sys.argv[1])
cpu = tokens = turns = 0
with open(sys.argv[2], "wb", buffering=0) as file:
    for event in read_events(path):
        begun = time.process_time()
        if "message" in event:
            tokens += count.count(event["message"])
        if "reply" in event:
            tokens += count.count(event["reply"])
            turns += 1
        file.write(encode(event))
        cpu += time.process_time() - begun
print(json.dumps({"cpu": cpu, "tokens": tokens, "turns": turns}))
"""


READ = """
import asyncio, json, resource, sys, time
from pathlib import Path
from ltm_bench import dropins
from ltm_bench.log import read_events, read_turns

agent = dropins.make_agent("parrot", {})
path = Path(sys.argv[1])

async def read():
    for event in read_events(path):
        pass
    for turn in read_turns(path):
        await agent.observe(turn)

begun = time.process_time()
asyncio.run(read())
print(json.dumps({"cpu": time.process_time() - begun, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def measured(code: str, *words: str) -> dict[str, float]:
    """Run a program, and return the JSON that it prints last."""
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


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
    parser.add_argument("--spans", default="32k,120k,500k,2M,10M")
    args = parser.parse_args()
    print(
        "  span    turns      tokens   wall s    cpu s  floor s  ratio  turns/s  us/token     MB  bytes/token"
        "  read s  resume s"
    )
    for span in args.spans.split(","):
        with tempfile.TemporaryDirectory() as folder:
            engine = measured(ENGINE, span, folder)
            log = Path(folder) / "events.jsonl"
            floor = measured(FLOOR, str(log), str(Path(folder) / "again.jsonl"))
            size = log.stat().st_size
            cut(log)
            read, resumed = measured(READ, str(log)), measured(ENGINE, span, folder)
            print(
                f"{span:>6} {floor['turns']:>8} {floor['tokens']:>11,} {engine['wall']:>8.2f} {engine['cpu']:>8.2f} "
                f"{floor['cpu']:>8.2f} {engine['cpu'] / floor['cpu']:>6.2f} {floor['turns'] / engine['wall']:>8.0f} "
                f"{1e6 * engine['cpu'] / floor['tokens']:>9.3f} {engine['mb']:>6.0f} "
                f"{size / floor['tokens']:>12.2f} {read['cpu']:>7.2f} {resumed['cpu']:>9.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
