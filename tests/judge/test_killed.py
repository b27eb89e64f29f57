"""A process that dies while it asks a judge or a reader: what that may have cost is known, counted and shown."""

import asyncio
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import Agent, AgentError, Message, Reply, Usage
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.budget import Budget, payment
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.pricing import dollars
from ltm_bench.judge import rubric
from ltm_bench.judge.interview import interviewing, together
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.rubric import Case
from ltm_bench.log.calls import CALLS, LOST, Role, read_calls, spent_on

if TYPE_CHECKING:
    from tests import undecided, zygote
    from tests.conftest import Command
else:
    import undecided
    import zygote

USED = Usage(output=1000, model="gpt-4o", provider="openai")
PRICE = dollars(USED) or Decimal()
"""A cent."""
ATTEMPTS: dict[str, tuple[bool, bool]] = {
    "refused": (True, True),
    "failed": (True, True),
    "lost": (False, False),
    "answered": (False, True),
}
"""How an attempt ends: refused, answered."""
WAYS = [
    ("answered",),
    ("lost", "answered"),
    ("refused", "answered"),
    ("failed", "lost", "refused", "answered"),
    ("lost", "refused"),
    ("lost", "lost"),
]
"""The attempts of one call, one after the other; without an answer, the call fails."""


class Wire:
    """Carries attempts, and keeps at every step what a kill would leave, with what was billed until then."""

    def __init__(self, file: Path) -> None:
        self.billed = Decimal()
        self.steps: list[tuple[Decimal, bytes]] = []
        self._file = file

    def step(self) -> None:
        self.steps.append((self.billed, self._file.read_bytes() if self._file.exists() else b""))


class Trying(Agent):
    """A judge whose attempts end in a given way; all that were not refused are billed."""

    metered = True

    def __init__(self, ends: tuple[str, ...], wire: Wire) -> None:
        self.ends, self.wire = ends, wire

    def reserve(self, message: Message) -> Usage:
        return USED

    async def reply(self, message: Message) -> Reply:
        paying = payment()
        assert paying is not None
        for end in self.ends:
            refused, answered = ATTEMPTS[end]
            paying.begin()
            self.wire.step()
            paying.sending()
            self.wire.billed += 0 if refused else PRICE
            self.wire.step()
            await asyncio.sleep(0)
            paying.end(refused=refused, answered=answered, heard=end == "failed")
            self.wire.step()
        if self.ends[-1] != "answered":
            raise AgentError("no answer")
        return Reply(json.dumps({"verdict": "right", "reason": "so"}), USED)


def asked(run: Path, ways: list[tuple[str, ...]], role: Role, budget: Budget) -> Wire:
    """Ask judges about as many replies, all at once, in a process of their own."""
    wire = Wire(run / CALLS)

    async def all_of() -> None:
        with interviewing(run, read_calls(run), role, budget) as interview:
            await together(
                interview.hold(
                    Judge(f"j{n}", {"n": n}, lambda ends=ends: Trying(ends, wire)),  # type: ignore[misc] # its default is of the loop
                    rubric.inquiry(Case("Where do I live?", "Lima", "In Lima.")),
                )
                for n, ends in enumerate(ways)
            )

    try:
        asyncio.run(all_of())
    except BudgetReached:
        wire.step()
    return wire


def shown(run: Path) -> Decimal:
    return spent_on(read_calls(run).asked)


@pytest.mark.parametrize("role", ["judge", "reader"])
@pytest.mark.parametrize(
    "ways", [*([way] for way in WAYS), WAYS], ids=lambda ways: " and ".join(map("+".join, ways))
)
def test_a_kill_at_any_step_leaves_as_much_on_record_as_may_be_billed(
    tmp_path: Path, role: Role, ways: list[tuple[str, ...]]
) -> None:
    (run := tmp_path / "whole" / "r").mkdir(parents=True)
    wire = asked(run, ways, role, Budget())
    assert len(wire.steps) == 3 * sum(map(len, ways))
    assert wire.billed == shown(run), "and what nobody killed is shown to the cent"
    limit = PRICE * len(ways) * 4
    for number, (billed, left) in enumerate(wire.steps):
        (again := tmp_path / str(number) / "r").mkdir(parents=True)
        (again / CALLS).write_bytes(left)
        before, budget = shown(again), Budget(limit)
        assert billed <= before <= billed + PRICE * len(ways)
        more = asked(again, [("answered",)] * len(ways), role, budget)
        assert billed + more.billed <= shown(again) == budget.spent <= limit
        assert read_calls(again).interrupted() == []


def test_what_was_killed_twice_is_counted_twice(tmp_path: Path) -> None:
    (run := tmp_path / "r").mkdir()
    for times in (1, 2, 3):
        wire = asked(run, [("answered",)], "judge", Budget())
        (_, sent, _), lines = wire.steps, (run / CALLS).read_bytes().splitlines(keepends=True)
        assert b"reserved" in lines[-2]
        (run / CALLS).write_bytes(b"".join(lines[:-1]))  # killed while it waited
        (run.parent / "judgements.sqlite").unlink()
        assert sent[0] == PRICE
        assert shown(run) == times * PRICE
        assert sum(each.ending == LOST for each in read_calls(run).asked) == times


BILLED = '''"""A judge whose prices are OpenAI's, at a server of ours."""

from ltm_bench.adapters import agent_class


class Billed(agent_class("openai_chat")):
    provider = "openai"

    def __init__(self) -> None:
        super().__init__(model="gpt-6-luna", base_url="{url}", window=16000, max_output=400)
'''
RUN = ("run", "--span", "2k", "--scenario", "joke", "--examples", "2", "--agent", "vague", "--name", "r")
COMMANDS: dict[str, Callable[[], tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "judge": lambda: ((*RUN, "--judge", "billed"), ("resume", "r")),
    "panel": lambda: ((*RUN, "--judge", "billed", "--judge", "other"), ("resume", "r")),
    "later": lambda: (("rescore", "r", "--judge", "billed"),) * 2,
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Provider, key: str) -> Path:
    for name in ("agents", "scenarios"):
        (tmp_path / name).mkdir()
    (tmp_path / "agents" / "vague.py").write_text(undecided.VAGUE, "utf-8")
    (tmp_path / "scenarios" / "joke.py").write_text(undecided.SCENARIO, "utf-8")
    for name in ("billed", "other"):
        (tmp_path / "agents" / f"{name}.py").write_text(BILLED.format(url=server.openai_url), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server.cache_minimum = 10**9
    server.answer = lambda _: '{"reason": "so", "verdict": "right"}'
    return tmp_path


def bill(server: Provider) -> Decimal:
    used = (
        Usage(uncached=each.prompt, output=each.output, model="gpt-6-luna", provider="openai")
        for each in server.spent
    )
    return sum((dollars(each) or Decimal() for each in used), Decimal())


def judge_dollars(place: Path) -> float:
    found: dict[str, Any] = json.loads((place / "reports" / "r" / "results.json").read_bytes())
    return float(found["costs"]["judge_dollars"])


@pytest.mark.slow
@pytest.mark.parametrize("who", COMMANDS)
def test_a_process_killed_in_the_middle_of_a_judges_call_forgets_nothing_that_was_billed(
    place: Path, server: Provider, command: "Command", who: str
) -> None:
    (first, again), limit = COMMANDS[who](), Decimal("0.05")
    if first[0] == "rescore":
        assert command(*RUN).exit_code == 0
    server.fail("slow", times=9, seconds=60)  # billed at once, and never whole
    words = (*first, "--max-cost", str(limit))
    with zygote.Forked(
        [sys.executable, "-m", "ltm_bench", *words], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        until = time.monotonic() + 200
        while len(server.spent) < 2:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    server.faults.clear()
    lost = bill(server)
    assert lost > 0
    assert command(*again, "--max-cost", str(limit)).exit_code == 0
    assert lost < bill(server) <= Decimal(str(judge_dollars(place))) <= limit
    assert json.loads((place / "reports/r/results.json").read_bytes())["undecided"] == 0
    shutil.rmtree(place / "reports")
