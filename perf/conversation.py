"""Score, time and memory of whole offline runs as the span grows: a turn should cost the same at every span.

    python perf/conversation.py [--agents goldfish,perfect] [--spans 2k,32k,120k]

`ms/turn` excludes start-up, measured once as `ltm-bench --help`; `ratio` is relative to the smallest span.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def timed(words: list[str], folder: Path) -> tuple[float, float]:
    """Run `ltm-bench` with these words; return its wall seconds and its peak memory in MB."""
    before = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "ltm_bench", *words], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"ltm-bench {' '.join(words)} ended with {process.returncode}")
    return time.perf_counter() - before, usage.ru_maxrss / 1024


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--agents", default="goldfish,perfect,vector_memory")
    parser.add_argument("--spans", default="2k,32k,120k")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        start_up = min(timed(["--help"], folder)[0] for _ in range(3))
        print(f"start-up {start_up:.2f} s")
        print("agent           span  turns   tokens      s    MB  ms/turn  ratio  scores")
        for agent in args.agents.split(","):
            floor = None
            for span in args.spans.split(","):
                name = f"{agent}-{span}"
                seconds, memory = timed(["run", "--span", span, "--agent", agent, "--name", name], folder)
                results = json.loads((folder / "reports" / name / "results.json").read_text("utf-8"))
                each = 1000 * (seconds - start_up) / results["turns"]
                floor = floor or each
                scores = " ".join(f"{s['name']} {s['score']:.2f}" for s in results["scenarios"])
                figures = f"{results['turns']:>6} {results['tokens']:>8} {seconds:>6.1f} {memory:>5.0f} {each:>8.2f}"
                print(
                    f"{agent:<14} {span:>5} {figures} {each / floor:>6.2f}  {results['score']:.2f} = {scores}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
