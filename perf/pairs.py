"""Whole commands of this checkout beside those of an older commit, in turns: processor time, memory, seconds, logs.

    python -m perf.pairs fcb9306                        # seven pairs of each; hours
    python -m perf.pairs fcb9306 --pairs 3 --only 500k  # those with this in their name

Both have the packages of this environment, and ran once before they count. Printed are ratios to the older commit: the
median, and the lowest and the highest in brackets. Processor time is of a command and all that it starts, user and
system; memory is the highest sum of their anonymous memory, looked at twenty times a second. `Equal` says whether both
logs are, from the second line on; where scenarios or decoys have changed, they are not. A sweep also has its share of
the ideal, in which it does nothing but wait for its calls, 16 at a time.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path

from perf.harness import Arguments, measurement, table

FUNCTIONS = '''"""Replies at once, and after .3 s."""
import asyncio


def quick(message: str) -> str:
    return "I do not know."


async def slow(message: str) -> str:
    await asyncio.sleep(0.3)
    return "I do not know."
'''
SWEEP = "sweep --agent python:functions:slow --span 2k --max-connections 16 --seed"
WAYS = {
    "run 2k": "run --agent parrot --span 2k --name parrot --fresh",
    "run vector_memory 32k": "run --agent vector_memory --span 32k --name memory --fresh",
    "run vector_memory 120k": "run --agent vector_memory --span 120k --name memory --fresh",
    "run vector_memory 500k": "run --agent vector_memory --span 500k --name memory --fresh",
    "run vector_memory 2M": "run --agent vector_memory --span 2M --name memory --fresh",
    "run function 500k": "run --agent python:functions:quick --span 500k --name function --fresh",
    "report 500k": "report function",
    "rescore 500k": "rescore function",
    "compare 10,000 runs": "compare many",
    "sweep of 24": f"{SWEEP} 0..23",
    "sweep of 64": f"{SWEEP} 0..63",
    "sweep of 64, Ray": f"{SWEEP} 0..63 --executor ray",
}
"""What is measured. Whoever comes later may need the run of an earlier one."""


def tree(process: int) -> list[int]:
    """Return the numbers of a process and of all that it started."""
    found = [process]
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in task.read_text("utf-8").split():
            found += tree(int(child))
    return found


def anonymous(process: int) -> int:
    """Return the anonymous memory of a process and of all that it started, in kB."""
    total = 0
    try:
        for each in tree(process):
            said = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{each}/status").read_text("utf-8"))
            total += int(said[1]) if said else 0
    except OSError:  # one of them has ended
        return 0
    return total


def measured(code: Path, folder: Path, words: str) -> tuple[float, float, float]:
    """Run a command of a checkout to its end; return processor time, memory in MB, and seconds."""
    environment = {**os.environ, "PYTHONPATH": f"{code}{os.pathsep}{folder}", "RAY_USAGE_STATS_ENABLED": "0"}
    if words.startswith("sweep"):
        shutil.rmtree(folder / "reports", ignore_errors=True)
    elif words == WAYS["compare 10,000 runs"] and not (folder / "many").exists():
        for number in range(10_000):
            copied(folder / "reports" / "parrot", folder / "many" / f"parrot-seed{number}", number)
    before, most = time.perf_counter(), 0
    process = subprocess.Popen(
        [sys.executable, "-m", "ltm_bench", *words.split()],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        most = max(most, anonymous(process.pid))
        time.sleep(0.05)
    said = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} of {code} ended with {process.returncode}: {said.decode()[-300:]}")
    return usage.ru_utime + usage.ru_stime, most / 1024, time.perf_counter() - before


def copied(run: Path, other: Path, seed: int) -> None:
    """Copy a run as one with another seed."""
    shutil.copytree(run, other, ignore=shutil.ignore_patterns("*.html", "agent"))
    first, rest = (other / "events.jsonl").read_text("utf-8").split("\n", 1)
    (other / "events.jsonl").write_text(f"{json.dumps({**json.loads(first), 'seed': seed})}\n{rest}", "utf-8")


def logs(folder: Path) -> list[bytes]:
    """Return the logs of all runs in a folder, from the second line on."""
    return [path.read_bytes().partition(b"\n")[2] for path in sorted(folder.glob("reports/*/events.jsonl"))]


@measurement(__doc__, commit=(str, "the older commit"), pairs=7, only=("", "part of a name"))
def main(chosen: Arguments) -> None:
    """Measure, and print the table."""
    with tempfile.TemporaryDirectory() as temporary:
        here, there = Path(temporary) / "new", Path(temporary) / "old"
        root = Path(__file__).parents[1]
        for commit, place in (("HEAD", here), (chosen.commit, there)):
            packed = subprocess.run(
                ["git", "archive", commit], cwd=root, capture_output=True, check=True
            ).stdout
            with tarfile.open(fileobj=BytesIO(packed)) as archive:
                archive.extractall(place / "code", filter="data")
            (place / "functions.py").write_text(FUNCTIONS, "utf-8")
        row = table("command", *"processor time|memory|seconds|of the ideal|equal".split("|"))
        wanted = [name for name in WAYS if chosen.only in name]
        needs = [name for name in ("run 2k", "run function 500k") if chosen.only and name not in wanted]
        for name in [*needs, *wanted]:
            words = WAYS[name]
            for place in (here, there):
                measured(place / "code", place, words)
            if name in needs:
                continue
            pairs = [
                [measured(each / "code", each, words) for each in (here, there)] for _ in range(chosen.pairs)
            ]
            ratios = [[ours / older for ours, older in zip(*pair, strict=True)] for pair in pairs]
            cells = [
                f"{statistics.median(each):.2f} ({min(each):.2f}–{max(each):.2f})"
                for each in zip(*ratios, strict=True)
            ]
            calls = sum(log.count(b'"event":"sent"') - log.count(b'"kind":"fill"') for log in logs(here))
            share = statistics.median(calls * 0.3 / 16 / pair[0][2] for pair in pairs)
            equal = "yes" if logs(here) == logs(there) else "no"
            row(name, *cells, f"{share:.0%}" if words.startswith("sweep") else "", equal)
