"""An agent that is closed and opened again by a scenario: it goes on from what it kept, and is told nothing again."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Agent, AgentError, Ask, Message, Reply, Turn
from ltm_bench.core.agent import Memory
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import CannotCombine
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.conversations import run_conversations
from ltm_bench.runner.observer import Silent
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.scoring import score_run

BACK = "4 after it was closed and opened again"


def planned(agent: str = "perfect", **more: Any) -> Plan:
    return make_plan(Request(agent, "2k", suite="trust", scenarios=("gone_for_good",), examples=1, **more))


def played(plan: Plan, folder: Path, make: Callable[[], Agent]) -> Results:
    folder.mkdir(exist_ok=True)
    start_run(folder, plan.manifest)
    asyncio.run(run_conversations(plan, make, folder, budget=Budget(), observer=Silent()))
    return score_run(folder)


class Kept(Agent):
    """Is told the ideal replies, keeps its turns in a file, and can lose what was deleted, or get it back.

    Args:
        calls: Gets what is called.
        returns: Whether what was deleted comes back when it is opened again.
        fails: The text in a question at which it fails once.
    """

    free = True
    told_ideal = True
    can_reopen = True

    def __init__(self, calls: list[Any], *, returns: bool = False, fails: str = "") -> None:
        self.calls, self.returns, self.fails, self.back = calls, returns, fails, False

    async def open(self, home: Path) -> None:
        self.calls.append("open")
        self.file = home / "kept.jsonl"

    async def reopen(self, home: Path, turns: Sequence[Turn], since: int) -> None:
        self.calls.append(("reopen", since, len(turns)))
        self.file, self.back = home / "kept.jsonl", self.returns
        known = len(self.file.read_text("utf-8").splitlines())
        for turn in turns[max(known, since) :]:
            await self.observe(turn)

    async def restore(self, turns: Any) -> None:
        self.calls.append(("restore", len(list(turns))))

    async def observe(self, turn: Turn) -> None:
        self.calls.append(turn.message.turn)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(turn.message.text) + "\n")

    async def reply(self, message: Message) -> Reply:
        line = message.line
        if isinstance(line, Ask) and self.fails and line.aspect == self.fails:
            raise AgentError("killed")
        reply = Reply(message.ideal or "Okay.")
        if isinstance(line, Ask) and self.back and line.expect.can_leak:
            reply = Reply(line.expect.wrong()[0])
        await self.observe(Turn(message, reply))
        return reply

    async def memories(self) -> AsyncIterator[Memory]:
        for line in self.file.read_text("utf-8").splitlines():
            yield Memory(json.loads(line))

    async def close(self) -> None:
        self.calls.append("close")


def leaked(results: Results) -> list[str]:
    return [each.name for each in results.aspects if each.leaked.count]


def test_another_instance_goes_on_from_what_was_kept(tmp_path: Path) -> None:
    calls: list[Any] = []
    made: list[Kept] = []

    def make() -> Agent:
        made.append(Kept(calls))
        return made[-1]

    results = played(planned(), tmp_path, make)
    assert results.score == 1.0
    assert len(made) == 2
    place = calls.index("close")
    kind, since, told = calls[place + 1]
    assert (kind, since) == ("reopen", told)
    numbers = [each for each in calls if isinstance(each, int)]
    assert numbers == sorted(set(numbers))
    assert numbers[:since] == list(range(since))
    assert [each for each in calls if not isinstance(each, int)] == [
        "open",
        "close",
        ("reopen", since, since),
        "close",
    ]


def test_what_comes_back_when_it_is_opened_again_is_found_at_that_step(tmp_path: Path) -> None:
    results = played(planned(), tmp_path, lambda: Kept([], returns=True))
    assert min(leaked(results)) == BACK
    assert [name[0] for name in sorted(leaked(results))] == ["4", "5", "6", "7"]


@pytest.mark.parametrize("at", [BACK, "5 by what follows from it", "7 asked by somebody else"])
def test_a_run_that_is_killed_later_tells_nothing_from_before_again(tmp_path: Path, at: str) -> None:
    plan, whole = planned(), tmp_path / "whole"
    played(plan, whole, lambda: Kept([]))
    first: list[Any] = []
    second: list[Any] = []
    with pytest.raises(AgentError, match="killed"):
        played(plan, tmp_path / "killed", lambda: Kept(first, fails=at))
    assert played(plan, tmp_path / "killed", lambda: Kept(second)).score == 1.0
    since = next(each[1] for each in first if isinstance(each, tuple))
    assert second[0][:2] == ("reopen", since)
    assert min(each for each in second if isinstance(each, int)) >= since
    logs = [(folder / "events.jsonl").read_bytes() for folder in (whole, tmp_path / "killed")]
    assert logs[0] == logs[1]
    kept = [(folder / "agent" / "kept.jsonl").read_bytes() for folder in (whole, tmp_path / "killed")]
    assert kept[0] == kept[1]


def test_a_run_that_is_killed_before_is_restored_as_ever(tmp_path: Path) -> None:
    plan, second = planned(), list[Any]()
    with pytest.raises(AgentError, match="killed"):
        played(plan, tmp_path, lambda: Kept([], fails="3 days later"))
    played(plan, tmp_path, lambda: Kept(second))
    assert [each[0] for each in second if isinstance(each, tuple)] == ["restore", "reopen"]


def test_an_agent_that_keeps_nothing_is_refused_and_told_what_to_do() -> None:
    with pytest.raises(CannotCombine, match=r"reciter keeps nothing .* -P gone_for_good\.restart=false"):
        planned("reciter")
    with pytest.raises(
        CannotCombine, match=r"a question beside the conversation .* -P gone_for_good\.restart=false"
    ):
        planned(quick=True)
    plan = planned("reciter", parameters={"gone_for_good": {"restart": False}})
    assert len(plan.examples) == 1
