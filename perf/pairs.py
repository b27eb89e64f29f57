"""Whole commands of this checkout beside those of an older commit, in turns: processor time, memory, seconds, logs.

    python -m perf.pairs fcb9306                        # seven pairs of each; hours
    python -m perf.pairs fcb9306 --pairs 3 --only 500k  # those with this in their name

Both have the packages of this environment, and ran once before they count. Printed are ratios to the older commit: the
median, and the lowest and the highest in brackets. Processor time is of a command and all that it starts, user and
system; memory is the highest sum of their anonymous memory, looked at twenty times a second. `Equal` says whether both
logs are, from the second line on; where scenarios or decoys have changed, they are not.
"""

import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path

from perf.harness import Arguments, measurement, table

QUICK = 'def quick(message: str) -> str:\n    return "I do not know."\n'
"""A memory of a user's own, which replies at once."""
WAYS = {
    "run 2k": "run --agent parrot --span 2k --name parrot --fresh",
    "run vector_memory 32k": "run --agent vector_memory --span 32k --name memory --fresh",
    "run vector_memory 120k": "run --agent vector_memory --span 120k --name memory --fresh",
    "run vector_memory 500k": "run --agent vector_memory --span 500k --name memory --fresh",
    "run function 500k": "run --agent python:functions:quick --span 500k --name function --fresh",
    "report 500k": "report function",
    "rescore 500k": "rescore function",
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
    environment = {**os.environ, "PYTHONPATH": f"{code}{os.pathsep}{folder}"}
    before, most = time.perf_counter(), 0
    command = [sys.executable, "-m", "ltm_bench", *words.split()]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=-3, stderr=-3)
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        most = max(most, anonymous(process.pid))
        time.sleep(0.05)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} of {code} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, most / 1024, time.perf_counter() - before


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
            (place / "functions.py").write_text(QUICK, "utf-8")
        row = table("command", *"processor time|memory|seconds|equal".split("|"))
        wanted = [name for name in WAYS if chosen.only in name]
        needs = [name for name in ("run function 500k",) if chosen.only and name not in wanted]
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
            equal = "yes" if logs(here) == logs(there) else "no"
            row(name, *cells, equal)
