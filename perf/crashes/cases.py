"""A case: a run in its own folder that is disturbed and resumed, and the comparison with an undisturbed one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ltm_bench.adapters.hashing import embed
from ltm_bench.core.budget import Budget
from ltm_bench.log.calls import CALLS
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.planning import Plan, plan_of
from ltm_bench.runner.conversations import run_conversations
from ltm_bench.runner.observer import Silent
from perf.crashes.faults import command, die_at, watch, watch_named, within

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
    """Turns that were asked again although their reply was in the log."""
    twice: int = 0
    named: int = 0
    """Turns asked twice that the user was told about."""
    vain: int = 0
    """Turns that the user was told about although they were not asked twice."""
    unclear: list[str] = field(default_factory=list)
    """Output of commands that should have ended with one line."""

    @property
    def counts(self) -> list[int]:
        """All counts, in their order."""
        return [getattr(self, each.name) for each in fields(self)[:-1]]

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


PLANS: dict[str, Plan] = {}
"""The plans of the undisturbed runs, by adapter: made once, and inherited by the forked process of every case."""


@dataclass(frozen=True)
class Whole:
    """An undisturbed run: its request and its result."""

    words: tuple[str, ...]
    adapter: str
    place: Path
    """The folder in which it ran."""
    content: bytes

    @property
    def plan(self) -> Plan:
        """Return the plan of the run."""
        return PLANS[self.adapter]

    @property
    def ends(self) -> list[int]:
        """The sizes of the log after each event, the manifest first."""
        return [i + 1 for i, byte in enumerate(self.content) if byte == 10]

    def events(self, size: int | None = None) -> list[dict[str, Any]]:
        """Return the events that are complete in the first `size` bytes; the last may lack its line end."""
        found = []
        for line in self.content[:size].splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

    def asked(self, size: int | None = None) -> list[int]:
        """Return the turns that the agent is asked in the first `size` bytes of the log, in order."""
        return sorted(e["turn"] for e in self.events(size) if e["event"] == "sent" and e["kind"] != "fill")

    def turns(self, event: str, size: int | None = None) -> set[int]:
        """Return the turns with this event in the first `size` bytes of the log."""
        return {each["turn"] for each in self.events(size) if each["event"] == event}


class Case:
    """A run in its own folder, which is disturbed and resumed."""

    def __init__(self, whole: Whole, place: Path) -> None:
        self.whole, self.place = whole, place
        self.home = place / "reports" / "r"
        self.unclear: list[str] = []
        furnish(place)

    def run(self, *, size: int | None = None, late: bool = False) -> int:
        """Run or resume it, not through the command; it is killed when its log reaches `size` bytes."""

        def work() -> None:
            plan = self.whole.plan
            watch(type(plan.agents.sample))
            if size is not None:
                die_at(size, late=late)
            self.home.mkdir(parents=True, exist_ok=True)
            start_run(self.home, plan.manifest)
            asyncio.run(run_conversations(plan, plan.agents, self.home, budget=Budget(), observer=Silent()))

        return within(work, self.place)

    def command(self, *words: str, before: Callable[[], object] = lambda: None) -> int:
        """Call a command; its process calls `before` first."""

        def work() -> None:
            watch_named(self.whole.adapter)
            before()
            command(*words)

        return within(work, self.place)

    def expect(self, code: int, expected: int, *words: str) -> None:
        """Record a fault unless a command ended with this code and one line that contains these words."""
        said = (self.place / "said").read_text("utf-8", "replace")
        lines = [line for line in said.splitlines() if line.startswith("ltm-bench: ")]
        missing = [word for word in words if word not in said]
        if code != expected or len(lines) != 1 or missing or "Traceback" in said:
            self.unclear.append(f"exit {code}, lacks {missing}: {said[-400:]!r}")

    def cut(self, size: int) -> None:
        """Copy the undisturbed run, with its log cut to `size` bytes."""
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
        """Resume the run, and compare it with the undisturbed one."""
        logged, before = self.logged(), len(self.calls())
        code = resume()
        path = self.home / "events.jsonl"
        equal = code == 0 and path.exists() and path.read_bytes() == self.whole.content
        calls = self.calls()
        twice = {turn for turn, times in Counter(calls).items() if times > 1}
        named: set[int] = set()
        noted = self.home / CALLS
        for line in noted.read_bytes().splitlines() if noted.exists() else ():
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
        """Resume the run with the command, which must name the doubtful turns."""

        def resume() -> int:
            code = self.command("resume", "r")
            if not (self.home / "events.jsonl").exists():
                return code
            noted = self.home / CALLS
            doubts = noted.exists() and noted.read_bytes().rfind(b"doubtful") >= 0
            if doubts and "may have been sent twice" not in (self.place / "said").read_text("utf-8"):
                self.unclear.append("a turn in doubt was not named")
            return code

        return self.resumed(resume)


def furnish(place: Path) -> None:
    """Write the agents of this program into a folder."""
    (place / "agents").mkdir(parents=True)
    (place / "agents" / "diary.py").write_text(DIARY, "utf-8")


Around = Callable[[], contextlib.AbstractContextManager[object]]


def undisturbed(place: Path, adapter: str, *words: str, around: Around = contextlib.nullcontext) -> Whole:
    """Make a run that nothing disturbs."""
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
