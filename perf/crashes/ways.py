"""The ways to stop a run, one function each, and how the run then continues."""

import asyncio
import os
import resource
import shutil
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ltm_bench.adapters.testing import Fault
from perf.crashes.cases import Case, Outcome, Whole
from perf.crashes.faults import (
    BIND,
    HOST,
    READ_ONLY,
    REMOUNT,
    alone_with_mounts,
    clock_back,
    command,
    end,
    mounted,
    resolve,
    served,
    start,
    watch_named,
    within,
)

Trial = Callable[[Path], Outcome]
"""A case, run in its own folder."""


def killed(whole: Whole, size: int, late: bool, place: Path) -> Outcome:
    """Kill a run when its log reaches `size` bytes."""
    case = Case(whole, place)
    if case.run(size=size, late=late) != -signal.SIGKILL:
        case.unclear.append("it was not killed")
    if (case.home / "events.jsonl").read_bytes() != whole.content[:size]:
        case.unclear.append(f"killed at {size}, the log has other bytes")
    return case.resumed(case.run)


def cut(whole: Whole, size: int, ahead: bool, place: Path) -> Outcome:
    """Cut a log; the agent's own files are lost too or, with `ahead`, are ahead of the log."""
    case = Case(whole, place)
    if ahead and (whole.place / "reports" / "r" / "agent").exists():
        shutil.copytree(whole.place / "reports" / "r" / "agent", case.home / "agent")
    case.cut(size)
    return case.resumed(case.run)


def disk_full_by_limit(whole: Whole, size: int, place: Path) -> Outcome:
    """Limit the size of every file to `size` bytes."""
    case = Case(whole, place)
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    code = case.command(*whole.words, before=limit)
    case.expect(
        code, 3, "File too large" if whole.adapter == "diary" else "disk I/O error", "ltm-bench resume r"
    )
    return case.by_command()


def on_a_small_disk(whole: Whole, size: int, place: Path) -> Outcome:
    """Make a run on a file system with room for `size` bytes."""
    case = Case(whole, place)
    codes = place / "code"

    def work() -> None:
        alone_with_mounts()
        (place / "reports").mkdir()
        mounted("tmpfs", place / "reports", data=f"size={size}")
        codes.write_text(str(case.command(*whole.words)), "utf-8")
        shutil.copytree(place / "reports", place / "kept")

    said = place / "outer"
    said.mkdir()
    if within(work, said):
        case.unclear.append((said / "said").read_text("utf-8"))
    (place / "reports").rmdir()
    (place / "kept").rename(place / "reports")
    case.expect(int(codes.read_text("utf-8")), 3, "No space left on device", "ltm-bench resume r")
    return case.by_command()


def read_only(whole: Whole, size: int, place: Path) -> Outcome:
    """Resume a run in a read-only folder; if `size` is 0, begin it there."""
    case = Case(whole, place)
    (place / "reports").mkdir()
    if size:
        case.cut(size)

    def work() -> None:
        if os.geteuid() == 0:
            alone_with_mounts()
            mounted("none", place / "reports", BIND, source=str(place / "reports"))
            mounted("none", place / "reports", BIND | REMOUNT | READ_ONLY)
        else:
            for path in (*place.rglob("reports/**/*"), place / "reports"):
                path.chmod(0o555 if path.is_dir() else 0o444)
        command(*whole.words)

    case.expect(within(work, place), 1, "reports")
    if os.geteuid():
        for path in (place / "reports", *place.rglob("reports/**/*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    if size:
        return case.by_command()
    return case.resumed(lambda: case.command(*whole.words))


def clocks(whole: Whole, size: int, named: bool, place: Path) -> Outcome:
    """Go back ten years between run and resume, so that the files are from the future."""
    case = Case(whole, place)
    years = 10 * 365 * 86400.0
    if case.run(size=size) != -signal.SIGKILL:
        case.unclear.append("it was not killed")
    later = time.time() + years  # noqa: TID251  # files are dated by the wall clock
    for path in case.home.rglob("*"):
        os.utime(path, (later, later))
    words = ("resume", "r") if named else ("resume",)
    return case.resumed(lambda: case.command(*words, before=partial(clock_back, years)))


def two(whole: Whole, turn: int, verb: str, place: Path) -> Outcome:
    """Start a second process on a run that a first one has locked."""
    case = Case(whole, place)

    async def wait(asked: int) -> None:
        while asked >= turn and not Path("go").exists():
            await asyncio.sleep(0.01)

    def first() -> None:
        watch_named(whole.adapter, wait)
        command(*whole.words)

    def second() -> None:
        command(*(whole.words if verb == "run" else ("resume", "r")))

    pid = start(first, place)
    case.reach(turn)
    before = (case.home / "events.jsonl").read_bytes()
    (place / "said").unlink()
    case.expect(within(second, place), 1, "another process is working on this run")
    if (case.home / "events.jsonl").read_bytes() != before:
        case.unclear.append("the second process wrote into the log")
    (place / "go").touch()
    return case.resumed(lambda: end(pid))


def interrupted(whole: Whole, turn: int, how: signal.Signals, way: str, place: Path) -> Outcome:
    """Interrupt a run at a turn: while its agent `waits`, while it `blocks` the process, or just `after` it."""
    case = Case(whole, place)

    async def hook(asked: int) -> None:
        if way == "after":
            time.sleep(0.002)
        elif asked >= turn and way == "blocks":
            time.sleep(1)
        elif asked >= turn:
            await asyncio.sleep(30)

    def work() -> None:
        signal.alarm(60)
        watch_named(whole.adapter, hook)
        command(*whole.words)

    pid = start(work, place)
    case.reach(turn)
    if way != "after":
        time.sleep(0.05)
    os.kill(pid, how)
    case.expect(end(pid), 3, "ltm-bench resume r", "continues from here")
    return case.by_command()


def agent_dies(whole: Whole, turn: int, place: Path) -> Outcome:
    """End the agent's program in the middle of a reply."""
    case = Case(whole, place)
    code = case.command(*whole.words, before=lambda: os.environ.update(DIE_AT=str(turn)))
    case.expect(code, 3, "ended with code 9", "ltm-bench resume r")
    return case.by_command()


def remote(whole: Whole, turn: int, fault: Fault, words: str, place: Path) -> Outcome:
    """Talk to a model whose provider stops answering, and answers again later."""
    case = Case(whole, place)

    def work() -> None:
        with served(fault=fault, after=whole.asked().index(turn)) as provider:
            watch_named(whole.adapter, asked=provider.ask)
            command(*whole.words)

    case.expect(within(work, place), 3, "ltm-bench resume r", words)
    return case.resumed(lambda: within(partial(again, whole), place))


def again(whole: Whole) -> None:
    """Resume a run whose provider answers again."""
    with served() as provider:
        watch_named(whole.adapter, asked=provider.ask)
        command("resume", "r")


def no_names(whole: Whole, size: int, place: Path) -> Outcome:
    """Resume a run when its provider's name can no longer be resolved, and again when it can."""
    case = Case(whole, place)
    case.cut(size)

    def work() -> None:
        resolve(None)  # nobody hears what is asked now
        command("resume", "r")

    case.expect(within(work, place), 3, "ltm-bench resume r", HOST)
    return case.resumed(lambda: within(partial(again, whole), place))
