"""The crash matrix: does a run, stopped in every way that we know, end with the bytes of an undisturbed one?

    python -m perf.crashes                        # all of it, some ten minutes
    python -m perf.crashes --only disk --every 5

A case is a run of the suite `smoke` over a span of 2k in its own processes, which are stopped and resumed. It reports
whether `events.jsonl` equals that of an undisturbed run, byte for byte; the logged turns that the agent was asked again
(there must be none); the turns that it was asked twice, because a reply was lost on its way into the log; how many of
these the user was told of; and how many the user was told of although they were asked only once (the run was stopped
between recording a message and the call). If a command ended by itself, it must have said why in one line, with the
right exit code.

Linux only. The cases with a full and with a read-only file system need root (they are mounted in a private namespace).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import openai

from ltm_bench.adapters.hashing import embed
from ltm_bench.adapters.testing import Fault, Handler, Provider, Request, Server
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Message, Reply
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.planning import Plan, plan_of
from ltm_bench.plugins.agents import agent_class
from ltm_bench.runner.observer import Silent
from ltm_bench.runner.runs import run_conversations

(_SCRIPT,) = entry_points(group="console_scripts", name="ltm-bench")
LTM_BENCH: Callable[[], None] = _SCRIPT.load()
"""What the command calls."""

WARM = (openai.__name__,)
"""Imported before any process is split off, so that a case does not begin with seconds of imports."""

DIARY = '''"""Diary: answers from all that it was told, so that a turn lost or told twice shows in every later reply."""

from ltm_bench import Agent, Message, Reply, Turn


class Diary(Agent):
    free = True

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def reply(self, message: Message) -> Reply:
        answer = f"{len(self.heard)} turns, {sum(map(len, self.heard))} letters, {self.heard[-1:]}"[:200]
        self.heard.append(message.text + answer)
        return Reply(answer)

    async def observe(self, turn: Turn) -> None:
        self.heard.append(turn.message.text + turn.reply.text)
'''

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

HOST, PORT = "nowhere.invalid", 18431
RUN = ("run", "--span", "2k", "--suite", "smoke", "--name", "r")
REMOTE = (
    *("--agent", "openai_chat", "-A", "model=any", "-A", "max_retries=1", "-A", "timeout=0.5"),
    *("--base-url", f"http://{HOST}:{PORT}/v1"),
)

LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_MOUNTS, _REMOUNT, _READ_ONLY, _BIND, _RECURSIVE, _PRIVATE = 0x20000, 32, 1, 4096, 16384, 1 << 18


# Processes ------------------------------------------------------------------------------------------------------------


def start(work: Callable[[], object], place: Path) -> int:
    """Do something in a separate process in a folder; its output goes to `said` there."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code: object = 70
    try:
        os.chdir(place)
        said = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        work()
        code = 0
    except SystemExit as error:
        code = error.code
    except BaseException:  # a forked process must end here
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code if isinstance(code, int) else 0)


def end(pid: int) -> int:
    """Wait for a process; return its exit code, or the signal that killed it, negative."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def within(work: Callable[[], object], place: Path) -> int:
    """Do something in a separate process, and wait for it."""
    return end(start(work, place))


def command(*words: str) -> None:
    """Be the command `ltm-bench`."""
    sys.argv = ["ltm-bench", *words]
    LTM_BENCH()


def mounted(kind: str, where: Path, flags: int = 0, data: str = "", source: str = "none") -> None:
    """Mount a file system that only this process and its children see."""
    target = str(where).encode()
    if LIBC.mount(source.encode(), target, kind.encode(), ctypes.c_ulong(flags), data.encode()):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(where))


def alone_with_mounts() -> None:
    """Leave the shared mount namespace. Raises OSError if that is not allowed."""
    if LIBC.unshare(_NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    mounted("none", Path("/"), _RECURSIVE | _PRIVATE)


def can_mount() -> bool:
    """Whether this process may mount."""
    with tempfile.TemporaryDirectory() as folder:
        return within(alone_with_mounts, Path(folder)) == 0


# What goes wrong, inside the process that it happens to ---------------------------------------------------------------


def watch(adapter: type[Agent], hook: Callable[[int], object] = lambda _: None) -> None:
    """Write every turn that an agent is asked into `calls`.

    Args:
        adapter: The agent's class. Patched, since a command makes its agents itself.
        hook: Called with the turn before the agent replies; may be awaited.
    """
    inner = adapter.reply

    async def reply(agent: Agent, message: Message) -> Reply:
        with open("calls", "ab", buffering=0) as file:
            file.write(b"%d\n" % message.turn)
        waiting = hook(message.turn)
        if asyncio.iscoroutine(waiting):
            await waiting
        return await inner(agent, message)

    mock.patch.object(adapter, "reply", reply).start()


def watch_named(name: str, hook: Callable[[int], object] = lambda _: None) -> None:
    """Watch the adapter of this name, looked up from this process's folder."""
    adapter = agent_class(name)
    assert isinstance(adapter, type), name
    watch(adapter, hook)


class Torn:
    """The file of a log; its process is killed when the log has so many bytes, during a write or after it."""

    def __init__(self, file: Any, size: int, *, late: bool) -> None:
        self._file, self._size, self._late = file, size, late

    def write(self, data: bytes) -> int:
        """Write as much as is allowed before the kill."""
        left = self._size - self._file.seek(0, os.SEEK_END)
        if len(data) > left or (len(data) == left and not self._late):
            self._file.write(data[:left])
            os.kill(os.getpid(), signal.SIGKILL)
        return int(self._file.write(data))

    def fileno(self) -> int:
        """Return the file's own number."""
        return int(self._file.fileno())

    def close(self) -> None:
        """Close it."""
        self._file.close()


def die_at(size: int, *, late: bool) -> None:
    """Have this process killed when its log has so many bytes; `late`: when it would have more.

    Opening files is patched: a limit on the size of files would meet those of the agent as well.
    """
    begin = Path.open

    def opening(path: Path, mode: str = "r", *more: Any, **options: Any) -> Any:
        file = begin(path, mode, *more, **options)
        return Torn(file, size, late=late) if (path.name, mode) == ("events.jsonl", "ab") else file

    mock.patch.object(Path, "open", opening).start()


def resolve(address: str | None) -> None:
    """Have the host of our agent resolve to an address, or to nothing."""
    ask = socket.getaddrinfo

    def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
        if host not in (HOST, HOST.encode()):
            return ask(host, *more, **options)
        if address is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return ask(address, *more, **options)

    mock.patch.object(socket, "getaddrinfo", getaddrinfo).start()


def clock_back(seconds: float) -> None:
    """Set the clocks of this process back: the wall clock, and the one that counts from boot."""
    for name in ("time", "perf_counter"):
        mock.patch.object(time, name, partial(_earlier, getattr(time, name), seconds)).start()


def _earlier(clock: Callable[[], float], seconds: float) -> float:
    return clock() - seconds


# Cases ----------------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """The result of one case, or of many."""

    cases: int = 1
    equal: int = 0
    again: int = 0
    """Turns whose reply was in the log, and that were asked again."""
    twice: int = 0
    named: int = 0
    """Of the turns that were asked twice."""
    vain: int = 0
    """Turns that were named, and not asked twice."""
    unclear: list[str] = field(default_factory=list)
    """What commands said that should have ended in one line."""

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            *(getattr(self, key) + getattr(other, key) for key in ("cases", "equal", "again", "twice")),
            *(getattr(self, key) + getattr(other, key) for key in ("named", "vain", "unclear")),
        )


PLANS: dict[str, Plan] = {}
"""Of the undisturbed runs, by their adapters: made once, and split off with every case."""


@dataclass(frozen=True)
class Whole:
    """An undisturbed run: its request and its result."""

    words: tuple[str, ...]
    adapter: str
    place: Path
    """Where it was held."""
    content: bytes

    @property
    def plan(self) -> Plan:
        """Return its plan."""
        return PLANS[self.adapter]

    @property
    def ends(self) -> list[int]:
        """The sizes of its log after each event, the manifest first."""
        return [i + 1 for i, byte in enumerate(self.content) if byte == 10]

    def events(self, size: int | None = None) -> list[dict[str, Any]]:
        """Return the events that are whole in so many bytes of the log; the last can lack the end of its line."""
        found = []
        for line in self.content[:size].splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

    def turns(self, event: str, size: int | None = None) -> set[int]:
        """Return the turns that have this event within so many bytes of the log."""
        return {each["turn"] for each in self.events(size) if each["event"] == event}


class Case:
    """A run in a folder of its own, which is disturbed and resumed."""

    def __init__(self, whole: Whole, place: Path) -> None:
        self.whole, self.place = whole, place
        self.home = place / "reports" / "r"
        self.unclear: list[str] = []
        furnish(place)

    def run(self, *, size: int | None = None, late: bool = False) -> int:
        """Run or resume it without the command around it; have it killed when its log has so many bytes."""

        def work() -> None:
            plan = self.whole.plan
            watch(type(plan.agents.sample))
            if size is not None:
                die_at(size, late=late)
            self.home.mkdir(parents=True, exist_ok=True)
            start_run(self.home, plan.manifest)
            asyncio.run(
                run_conversations(
                    plan,
                    plan.agents,
                    self.home,
                    budget=Budget(),
                    observer=Silent(),
                    clock=time.perf_counter,
                )
            )

        return within(work, self.place)

    def command(self, *words: str, before: Callable[[], object] = lambda: None) -> int:
        """Type a command; `before` is done in its process first."""

        def work() -> None:
            watch_named(self.whole.adapter)
            before()
            command(*words)

        return within(work, self.place)

    def expect(self, code: int, expected: int, *words: str) -> None:
        """Record a fault if a command did not end with this code and one line that has these words."""
        said = (self.place / "said").read_text("utf-8", "replace")
        lines = [line for line in said.splitlines() if line.startswith("ltm-bench: ")]
        missing = [word for word in words if word not in said]
        if code != expected or len(lines) != 1 or missing or "Traceback" in said:
            self.unclear.append(f"exit {code}, lacks {missing}: {said[-400:]!r}")

    def cut(self, size: int) -> None:
        """Take over the undisturbed run as it was left when its log had so many bytes."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "events.jsonl").write_bytes(self.whole.content[:size])
        asked = self.whole.turns("sent", size) - self._scripted()
        (self.place / "calls").write_text("".join(f"{turn}\n" for turn in sorted(asked)), "utf-8")

    def _scripted(self) -> set[int]:
        return {e["turn"] for e in self.whole.events() if e["event"] == "sent" and e["kind"] == "fill"}

    def calls(self) -> list[int]:
        """Return the turns that the agent was asked so far."""
        path = self.place / "calls"
        return [int(line) for line in path.read_text("utf-8").split()] if path.exists() else []

    def reach(self, turn: int) -> None:
        """Wait until the agent is asked a turn. Raises TimeoutError."""
        until = time.monotonic() + 60
        while not (calls := self.calls()) or calls[-1] < turn:
            if time.monotonic() > until:
                raise TimeoutError(
                    f"turn {turn} was not reached: {(self.place / 'said').read_text('utf-8')[-400:]!r}"
                )
            time.sleep(0.001)

    def logged(self) -> set[int]:
        """Return the turns whose replies are in the log."""
        path = self.home / "events.jsonl"
        return self.whole.turns("replied", path.stat().st_size) if path.exists() else set()

    def resumed(self, resume: Callable[[], int]) -> Outcome:
        """Resume it, and compare."""
        logged, before = self.logged(), len(self.calls())
        code = resume()
        path = self.home / "events.jsonl"
        equal = code == 0 and path.exists() and path.read_bytes() == self.whole.content
        calls = self.calls()
        twice = {turn for turn, times in Counter(calls).items() if times > 1}
        named: set[int] = set()
        timings = self.home / "timings.jsonl"
        for line in timings.read_bytes().splitlines() if timings.exists() else ():
            with contextlib.suppress(ValueError):
                if (record := json.loads(line)).get("doubtful"):
                    named.add(record["turn"])
        if code:
            self.unclear.append(
                f"resumed with exit {code}: {(self.place / 'said').read_text('utf-8')[-400:]!r}"
            )
        return Outcome(
            equal=int(equal),
            again=len(logged & set(calls[before:])),
            twice=len(twice),
            named=len(twice & named),
            vain=len(named - twice),
            unclear=self.unclear,
        )

    def by_command(self) -> Outcome:
        """Resume it with the command, which must name the doubtful turns."""

        def resume() -> int:
            code = self.command("resume", "r")
            if not (self.home / "events.jsonl").exists():
                return code
            timings = self.home / "timings.jsonl"
            doubts = timings.exists() and timings.read_bytes().rfind(b"doubtful") >= 0
            if doubts and "may have been sent twice" not in (self.place / "said").read_text("utf-8"):
                self.unclear.append("a turn in doubt was not named")
            return code

        return self.resumed(resume)


def furnish(place: Path) -> None:
    """Write our own agents into a folder."""
    (place / "agents").mkdir(parents=True)
    (place / "agents" / "diary.py").write_text(DIARY, "utf-8")


Around = Callable[[], contextlib.AbstractContextManager[object]]


def undisturbed(place: Path, adapter: str, *words: str, around: Around = contextlib.nullcontext) -> Whole:
    """Do a run that nothing disturbs."""
    furnish(place)

    def work() -> None:
        with around():
            command(*RUN, *words)

    if within(work, place):
        raise SystemExit((place / "said").read_text("utf-8"))
    os.chdir(place)
    plan = plan_of(place / "reports" / "r")
    content = (place / "reports" / "r" / "events.jsonl").read_bytes()
    warm = [e["message"] for e in map(json.loads, content.splitlines()) if "message" in e]
    plan.counter.count(warm[0])
    if adapter == "vector_memory":
        embed(warm)  # its caches of words are kept, and inherited by the process of every case
    PLANS[adapter] = plan
    return Whole((*RUN, *words), adapter, place, content)


Trial = Callable[[Path], Outcome]
"""A case, in a folder that is there for it alone."""


def killed(whole: Whole, size: int, late: bool, place: Path) -> Outcome:
    """Kill a run when its log has so many bytes."""
    case = Case(whole, place)
    if case.run(size=size, late=late) != -signal.SIGKILL:
        case.unclear.append("it was not killed")
    if (case.home / "events.jsonl").read_bytes() != whole.content[:size]:
        case.unclear.append(f"killed at {size}, the log has other bytes")
    return case.resumed(case.run)


def cut(whole: Whole, size: int, ahead: bool, place: Path) -> Outcome:
    """Cut a log; what the agent keeps of its own is lost with it, or `ahead` of it."""
    case = Case(whole, place)
    if ahead and (whole.place / "reports" / "r" / "agent").exists():
        shutil.copytree(whole.place / "reports" / "r" / "agent", case.home / "agent")
    case.cut(size)
    return case.resumed(case.run)


def disk_full_by_limit(whole: Whole, size: int, place: Path) -> Outcome:
    """Let no file become larger than so many bytes."""
    case = Case(whole, place)
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
    code = case.command(*whole.words, before=limit)
    case.expect(
        code, 3, "File too large" if whole.adapter == "diary" else "disk I/O error", "ltm-bench resume r"
    )
    return case.by_command()


def on_a_small_disk(whole: Whole, size: int, place: Path) -> Outcome:
    """Do a run on a file system of so many bytes."""
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
    """Resume a run in a read-only folder; with no bytes: begin it there."""
    case = Case(whole, place)
    (place / "reports").mkdir()
    if size:
        case.cut(size)

    def work() -> None:
        if os.geteuid() == 0:
            alone_with_mounts()
            mounted("none", place / "reports", _BIND, source=str(place / "reports"))
            mounted("none", place / "reports", _BIND | _REMOUNT | _READ_ONLY)
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
    """Go ten years back between run and resume; the files are of the future then."""
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
    """Start a second process on a run that a first one is holding."""
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
    """Interrupt a run at a turn: while its agent `waits`, while it `blocks` the process, or just `after`wards."""
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
    case.expect(end(pid), 3, "ltm-bench resume r", "goes on from here")
    return case.by_command()


def agent_dies(whole: Whole, turn: int, place: Path) -> Outcome:
    """Make the agent's program end in the middle of a reply."""
    case = Case(whole, place)
    code = case.command(*whole.words, before=lambda: os.environ.update(DIE_AT=str(turn)))
    case.expect(code, 3, "ended with code 9", "ltm-bench resume r")
    return case.by_command()


@dataclass
class Failing(Provider):
    """A provider that stops answering for good."""

    fault: Fault | None = None
    """What happens to its requests from then on."""
    after: int = 0
    """Replies that it gives before."""

    def receive(self, request: Request) -> Fault | None:
        """Record a request, and return the failure that is due for it."""
        super().receive(request)
        return self.fault if len(self.requests) > self.after else None


def uncached(body: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without figures of a prompt cache, since a restarted provider has none."""
    return {**body, "usage": {**body["usage"], "prompt_tokens_details": None}}


@contextlib.contextmanager
def served(*, fault: Fault | None = None, after: int = 0) -> Iterator[None]:
    """Run a provider on this machine that fails permanently after so many replies."""
    pid = os.getpid()
    address = f"127.{pid >> 16 & 127 | 64}.{pid >> 8 & 255}.{pid & 255}"  # for this process alone
    server = Server((address, PORT), Handler)
    server.provider = Failing(fault=fault, after=after, edit=uncached)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    resolve(address)
    yield


def remote(whole: Whole, turn: int, fault: Fault, words: str, place: Path) -> Outcome:
    """Talk to a model whose provider stops answering; later it answers again."""
    case = Case(whole, place)

    def work() -> None:
        watch_named(whole.adapter)
        with served(fault=fault, after=turn):
            command(*whole.words)

    case.expect(within(work, place), 3, "ltm-bench resume r", words)
    return case.resumed(lambda: within(partial(again, whole), place))


def again(whole: Whole) -> None:
    """Resume a run whose provider is there."""
    watch_named(whole.adapter)
    with served():
        command("resume", "r")


def no_names(whole: Whole, size: int, place: Path) -> Outcome:
    """Resume a run whose provider's name cannot be resolved any more; later it can."""
    case = Case(whole, place)
    case.cut(size)

    def work() -> None:
        watch_named(whole.adapter)
        resolve(None)
        command("resume", "r")

    case.expect(within(work, place), 3, "ltm-bench resume r", HOST)
    return case.resumed(lambda: within(partial(again, whole), place))


# The matrix -----------------------------------------------------------------------------------------------------------


def attempt(trial: Trial) -> Outcome:
    """Try a case in its own folder; report one that breaks."""
    with tempfile.TemporaryDirectory(prefix="crashes-") as folder:
        try:
            return trial(Path(folder))
        except Exception as error:  # a case that fails is a line of the table
            return Outcome(unclear=[f"{type(error).__name__}: {error}"])


def some(dice: random.Random, whole: Whole, count: int) -> list[int]:
    """Return random sizes of a log after its manifest."""
    return sorted(dice.sample(range(whole.ends[0], len(whole.content)), count))


def spread(whole: Whole, count: int) -> list[int]:
    """Return turns that the agent is asked, spread over the run."""
    turns = sorted(e["turn"] for e in whole.events() if e["event"] == "sent" and e["kind"] != "fill")
    return [turns[(i * len(turns)) // count + 1] for i in range(count)]


def matrix(wholes: dict[str, Whole], every: int) -> dict[str, list[Trial]]:
    """Return all cases by kind; of the kinds that go through a whole log, only every `every`-th case."""
    dice, rows = random.Random(11), dict[str, list[Trial]]()
    diary, mounts = wholes["diary"], can_mount()
    for name in ("parrot", "diary", "vector_memory"):
        whole = wholes[name]
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
        rows[f"log cut after every event: {name}"] = [
            partial(cut, whole, size, True) for size in ends[:-1:every]
        ]
        rows[f"log cut at every byte of its last two records: {name}"] = [
            partial(cut, whole, size, ahead)
            for first, end in ((ends[middle - 2], ends[middle]), (ends[-3], last))
            for size, ahead in zip(range(first, end, every), [False, True] * last, strict=False)
        ]
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


def main() -> None:
    """Go through the matrix and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="kinds that have this in their name")
    parser.add_argument(
        "--every", type=int, default=1, help="take each n-th of the cases that go through a log"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases at a time")
    args = parser.parse_args()
    os.environ.update(NO_PROXY="*", OPENAI_API_KEY="", LC_ALL="C.UTF-8")
    total, problems = Outcome(cases=0), list[str]()
    print(
        "| kind | cases | equal bytes | logged turns asked again | asked twice | of these named | named in vain |"
    )
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="crashes-") as folder:
        rows = matrix(prepared(Path(folder)), args.every)
        with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
            for kind, trials in rows.items():
                if args.only in kind:
                    found = sum(pool.imap_unordered(attempt, trials), Outcome(cases=0))
                    print(row(kind, found), flush=True)
                    problems += [f"{kind}: {each}" for each in found.unclear]
                    total += found
    print(row("all", total))
    for problem in problems:
        print(problem)
    sys.exit(
        int(bool(problems) or total.equal != total.cases or total.again > 0 or total.named != total.twice)
    )


def row(kind: str, found: Outcome) -> str:
    """Return a row of the table."""
    cells = (found.cases, found.equal, found.again, found.twice, found.named, found.vain)
    return f"| {kind} | {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
