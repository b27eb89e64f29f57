"""A case: a run in a folder of its own that is disturbed and resumed, and what is compared then."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ltm_bench.adapters.hashing import embed
from ltm_bench.core.budget import Budget
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.planning import Plan, plan_of
from ltm_bench.runner.observer import Silent
from ltm_bench.runner.runs import run_conversations
from perf.crashes.faults import die_at, watch, watch_named
from perf.crashes.processes import command, within

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


RUN = ("run", "--span", "2k", "--suite", "smoke", "--name", "r")


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

    def asked(self, size: int | None = None) -> list[int]:
        """Return the turns that the agent is asked within so many bytes of the log, in order."""
        return sorted(e["turn"] for e in self.events(size) if e["event"] == "sent" and e["kind"] != "fill")

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
        (self.place / "calls").write_text("".join(f"{turn}\n" for turn in self.whole.asked(size)), "utf-8")

    def calls(self) -> list[int]:
        """Return the turns that the agent has heard so far."""
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
