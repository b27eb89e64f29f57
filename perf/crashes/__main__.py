"""The crash matrix: does a run that is stopped in every way we know end with the bytes of an undisturbed one?

    python -m perf.crashes                        # all of it, some ten minutes
    python -m perf.crashes --only disk --every 5

A case is a run of the suite `smoke` over a span of 2k in its own processes, which are stopped and resumed. It reports
whether `events.jsonl` equals that of an undisturbed run, byte for byte; how many logged turns the agent was asked again
(there must be none); how many turns it was asked twice, because a reply was lost on its way into the log; how many of
these were named to the user; and how many were named although they were asked only once (the run was stopped between
recording a message and the call). A turn counts as asked if the agent heard it: attempts without a connection, and
those that the provider refuses (HTTP 4xx), reach nobody. If a command ended by itself, it must have said why in one
line, with the right exit code.

Exits with 0 if all of this holds, and with 1 if not; turns named in vain are no failure.

Linux only. The cases with a full and with a read-only file system need root (they are mounted in a private namespace).
"""

import multiprocessing
import os
import random
import signal
import sys
import tempfile
from functools import partial
from itertools import pairwise
from pathlib import Path

import openai

from ltm_bench.adapters.testing import Fault
from perf.crashes.cases import Outcome, Whole, undisturbed
from perf.crashes.faults import HOST, PORT, can_mount, served
from perf.crashes.ways import (
    Trial,
    agent_dies,
    clocks,
    cut,
    disk_full_by_limit,
    interrupted,
    killed,
    no_names,
    on_a_small_disk,
    read_only,
    remote,
    two,
)
from perf.harness import Arguments, measurement, table

WARM = (openai.__name__,)
"""Imported before any process is forked, so that no case begins with seconds of imports."""


PROGRAM = """import json, os, sys
heard = 0
for line in sys.stdin:
    asked = json.loads(line)
    heard += 1
    if "observe" in asked:
        print("{}", flush=True)
        continue
    answer = json.dumps({"reply": f"{heard} lines"})
    if asked["turn"] >= int(os.environ.get("DIE_AT", "1000000")):
        sys.stdout.write(answer[:9])
        sys.stdout.flush()
        sys.exit(9)
    print(answer, flush=True)
"""


REMOTE = (
    *("--agent", "openai_chat", "-A", "model=any", "-A", "max_retries=1", "-A", "timeout=0.5"),
    *("--base-url", f"http://{HOST}:{PORT}/v1"),
)


def attempt(trial: Trial) -> Outcome:
    """Try a case in its own folder; report a failure of the case itself as a fault."""
    with tempfile.TemporaryDirectory(prefix="crashes-") as folder:
        try:
            return trial(Path(folder))
        except Exception as error:  # a case that breaks is a line of the table
            return Outcome(unclear=[f"{type(error).__name__}: {error}"])


def some(dice: random.Random, whole: Whole, count: int) -> list[int]:
    """Return random sizes of a log after its manifest."""
    return sorted(dice.sample(range(whole.ends[0], len(whole.content)), count))


def spread(whole: Whole, count: int) -> list[int]:
    """Return turns that the agent is asked, spread evenly over the run."""
    turns = whole.asked()
    return [turns[(i * len(turns)) // count + 1] for i in range(count)]


def of_a_log(name: str, whole: Whole, every: int, dice: random.Random) -> dict[str, list[Trial]]:
    """Return the cases that go through a whole log, by kind."""
    rows = dict[str, list[Trial]]()
    ends, last = whole.ends, len(whole.content)
    middle = next(
        k
        for k in range(len(ends) // 2, len(ends))
        if b'"replied"' in whole.content[ends[k - 1] : ends[k]][:40]
    )
    replied = [a for a, b in pairwise(ends) if whole.content[a:b].startswith(b'{"event":"replied"')]
    rows[f"killed after every event: {name}"] = [
        partial(killed, whole, size, False) for size in ends[:-1:every]
    ]
    rows[f"killed with a reply in hand: {name}"] = [
        partial(killed, whole, size, True) for size in replied[::every]
    ]
    rows[f"killed inside a write: {name}"] = [
        partial(killed, whole, size, True) for size in some(dice, whole, 120 // every)
    ]
    rows[f"log cut after every event: {name}"] = [partial(cut, whole, size, True) for size in ends[:-1:every]]
    rows[f"log cut at every byte of its last two records: {name}"] = [
        partial(cut, whole, size, ahead)
        for first, end in ((ends[middle - 2], ends[middle]), (ends[-3], last))
        for size, ahead in zip(range(first, end, every), [False, True] * last, strict=False)
    ]
    return rows


def matrix(wholes: dict[str, Whole], every: int) -> dict[str, list[Trial]]:
    """Return all cases by kind; kinds that go through a whole log give only every `every`-th case."""
    dice, rows = random.Random(11), dict[str, list[Trial]]()
    diary, mounts = wholes["diary"], can_mount()
    for name in ("parrot", "diary", "vector_memory"):
        rows |= of_a_log(name, wholes[name], every, dice)
    rows["disk full (a limit on the size of files)"] = [
        partial(disk_full_by_limit, wholes[name], size)
        for name in ("diary", "vector_memory")
        for size in some(dice, wholes[name], 24 // every + 1)
    ]
    if mounts:
        rows["disk full (a small file system)"] = [
            partial(on_a_small_disk, diary, pages << 12)
            for pages in range(3, len(diary.content) >> 12, every)
        ]
    if mounts or os.geteuid():
        rows["folder read-only"] = [
            partial(read_only, diary, size) for size in (0, *some(dice, diary, 8 // every + 1))
        ]
    rows["clock set back ten years"] = [
        partial(clocks, wholes[name], size, named)
        for name in ("diary", "vector_memory")
        for size, named in zip(some(dice, wholes[name], 8 // every + 1), [True, False] * 9, strict=False)
    ]
    rows["two processes on one run"] = [
        partial(two, wholes[name], turn, verb)
        for name in ("diary", "vector_memory")
        for turn in spread(wholes[name], 4)
        for verb in ("run", "resume")
    ]
    for how in (signal.SIGINT, signal.SIGTERM):
        rows[how.name] = [
            partial(interrupted, wholes[name], turn, how, way)
            for name in ("diary", "vector_memory")
            for turn in spread(wholes[name], 4)
            for way in ("waits", "blocks", "after")
        ]
    rows["agent's program dies in a reply"] = [
        partial(agent_dies, wholes["command"], turn) for turn in spread(wholes["command"], 12 // every + 1)
    ]
    far = wholes["openai_chat"]
    for title, fault, words in (
        ("429", Fault(status=429), "429"),
        ("503", Fault(status=503), "503"),
        ("cut", Fault(kind="cut"), "the connection failed"),
        ("hang", Fault(kind="hang", seconds=2.0), "0.5 s"),
    ):
        rows[f"provider: {title} from then on"] = [
            partial(remote, far, turn, fault, words) for turn in spread(far, 6 // every + 1)
        ]
    rows["name of the provider cannot be resolved"] = [
        partial(no_names, far, size) for size in some(dice, far, 8 // every + 1)
    ]
    return rows


def prepared(place: Path) -> dict[str, Whole]:
    """Do the undisturbed runs."""
    program = place / "program.py"
    program.write_text(PROGRAM, "utf-8")
    wholes = {
        name: undisturbed(place / name, name, "--agent", name)
        for name in ("parrot", "diary", "vector_memory")
    }
    words = ("--agent", "command", "-A", f"command={sys.executable} {program}", "-A", "observe=true")
    wholes["command"] = undisturbed(place / "command", "command", *words)

    wholes["openai_chat"] = undisturbed(place / "openai_chat", "openai_chat", *REMOTE, around=served)
    return wholes


@measurement(
    __doc__,
    only=("", "only kinds with this in their name"),
    every=(1, "take every n-th of the cases that go through a log"),
    jobs=(os.cpu_count() or 1, "cases at a time"),
)
def main(args: Arguments) -> None:
    """Work through the matrix, and print it."""
    os.environ.update(NO_PROXY="*", OPENAI_API_KEY="", LC_ALL="C.UTF-8")
    total, problems = Outcome(cases=0), list[str]()
    heads = "kind|cases|equal bytes|logged turns asked again|asked twice|of these named|named in vain"
    row = table(*heads.split("|"))
    with tempfile.TemporaryDirectory(prefix="crashes-") as folder:
        rows = matrix(prepared(Path(folder)), args.every)
        with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
            for kind, trials in rows.items():
                if args.only in kind:
                    found = sum(pool.imap_unordered(attempt, trials), Outcome(cases=0))
                    row(kind, *found.counts)
                    problems += [f"{kind}: {each}" for each in found.unclear]
                    total += found
    row("all", *total.counts)
    for problem in problems:
        print(problem)
    sys.exit(
        int(bool(problems) or total.equal != total.cases or total.again > 0 or total.named != total.twice)
    )
