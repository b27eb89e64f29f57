"""The engine against its floor: the cost of a run beyond tokenising every message once and writing every event once.

    python perf/engine.py [--spans 32k,120k,500k,2M,10M] [--times 3]

Each span is measured in separate processes: a whole conversation with `parrot`, and the floor, which reads that log,
counts the tokens of every message and reply once, and serialises and writes every event once. Times are processor time
after start-up (imports, the plan), the best of `--times`; `ratio` is engine to floor. The floor scores nothing:
`scoring s` is the time for the matchers' verdicts, and `unscored` the ratio without them. The last columns are for
`report` on the finished run: seconds, seconds per million tokens, and peak memory.
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
from ltm_bench.plan.planning import Wish, agent_maker, make_plan
from ltm_bench.runner import conversation as runner
from ltm_bench.log import start_run
from ltm_bench.runner import Budget, run

scoring, judge = 0, runner.judge

def timed(*args):
    global scoring
    begun = time.process_time_ns()
    verdict = judge(*args)
    scoring += time.process_time_ns() - begun
    return verdict

runner.judge = timed

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
                  "scoring": scoring / 1e9, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""

FLOOR = """
import json, sys, time
from pathlib import Path
from ltm_bench.log import encode, read_events
from ltm_bench.core.tokens import counter

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


REPORT = """
import json, resource, sys, time
from pathlib import Path
from ltm_bench.cli.showing import publish

begun = time.process_time()
publish(Path(sys.argv[1]))
print(json.dumps({"cpu": time.process_time() - begun, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def measured(code: str, *words: str) -> dict[str, float]:
    """Run a program, and return the JSON that it prints last."""
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spans", default="32k,120k,500k,2M,10M")
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    print(
        "  span    turns      tokens   wall s    cpu s  floor s  ratio  scoring s  unscored  turns/s  us/token     MB"
        "  bytes/token  report s  s/Mtoken  report MB"
    )
    for span in args.spans.split(","):
        runs = []
        for _ in range(args.times):
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "events.jsonl"
                engine = measured(ENGINE, span, folder)
                floor = measured(FLOOR, str(log), str(Path(folder) / "again.jsonl"))
                size = log.stat().st_size
                report = measured(REPORT, folder)
            runs.append((engine, floor, report))
        engine, floor, report = (min(each, key=lambda run: run["cpu"]) for each in zip(*runs, strict=True))
        print(
            f"{span:>6} {floor['turns']:>8} {floor['tokens']:>11,} {engine['wall']:>8.2f} {engine['cpu']:>8.2f} "
            f"{floor['cpu']:>8.3f} {engine['cpu'] / floor['cpu']:>6.2f} {engine['scoring']:>10.3f} "
            f"{(engine['cpu'] - engine['scoring']) / floor['cpu']:>9.2f} {floor['turns'] / engine['wall']:>8.0f} "
            f"{1e6 * engine['cpu'] / floor['tokens']:>9.3f} {engine['mb']:>6.0f} {size / floor['tokens']:>12.2f} "
            f"{report['cpu']:>9.2f} {1e6 * report['cpu'] / floor['tokens']:>9.2f} {report['mb']:>10.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
