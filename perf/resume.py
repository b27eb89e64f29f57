"""The cost of resuming a killed run, against reading its log.

    python -m perf.resume [--spans 10M] [--times 3]

A whole conversation with `parrot` runs once, and the last events are cut off its log. `resume s` is the time to resume
it to its end, which must give the same log byte for byte; `read s` that of one pass over the events.

Processor time after start-up (imports, the plan), the best of `--times`; `MB` is the peak memory of resuming.
"""

import filecmp
import os
import shutil
import tempfile
import time
from pathlib import Path

from ltm_bench.log.reader import read_events
from perf.engine import hold
from perf.harness import Arguments, apart, measurement, table


def read(log: Path) -> float:
    """Read every event of a log; return the processor time."""
    begun = time.process_time()
    for _ in read_events(log):
        pass
    return time.process_time() - begun


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
    row = table(*"span|read s|resume s|ratio|MB".split("|"))
    for span in args.spans.split(","):
        with tempfile.TemporaryDirectory() as home:
            whole, broken = Path(home) / "whole", Path(home) / "broken"
            whole.mkdir()
            apart(hold, span, whole)
            reads, resumed = [], []
            for _ in range(args.times):
                shutil.copytree(whole, broken)
                log = broken / "events.jsonl"
                cut(log)
                os.sync()  # pending writes of the copy are not part of resuming
                reads.append(apart(read, log))
                resumed.append(apart(hold, span, broken))
                if not filecmp.cmp(log, whole / "events.jsonl", shallow=False):
                    raise SystemExit(f"{span}: the resumed run has another log")
                shutil.rmtree(broken)
            once, resume = min(reads), min(resumed)
            row(span, f"{once:.3f}", f"{resume.cpu:.3f}", f"{resume.cpu / once:.2f}", f"{resume.mb:.0f}")
