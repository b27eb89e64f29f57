"""Questions that do not wait for an indexer: when they go out, and how long a thing takes to become readable.

No test waits: the clock and the pauses are the test's own.
"""

import asyncio
import itertools
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Agent, AgentError, Ask, Message, Reply, Turn, says
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import CannotCombine, ConfigError
from ltm_bench.export.rows import rows
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.modes import Mode, check_lines
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plan.suites import read_suite
from ltm_bench.runner.conversations import run_conversations
from ltm_bench.runner.estimate import estimate
from ltm_bench.runner.observer import Silent
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.scoring import score_run

ONLY = ("too_soon",)
EXAMPLES = 6
"""The fewest that can tell: of six, all or none."""


class Clock:
    """Time that passes with every look, and when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        self.now += 0.001
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def planned(
    agent: str = "reference", settings: Mapping[str, Any] | None = None, examples: int = EXAMPLES
) -> Plan:
    return make_plan(
        Request(agent, "2k", suite="trust", scenarios=ONLY, examples=examples, pace=True, settings=settings)
    )


def played(plan: Plan, folder: Path, make: Any = None, clock: Clock | None = None) -> Results:
    """Run a plan, or resume it, without waiting, and return its results."""
    clock = clock or Clock()
    folder.mkdir(exist_ok=True)
    start_run(folder, plan.manifest)
    running = run_conversations(
        plan,
        make or plan.agents,
        folder,
        budget=Budget(),
        observer=Silent(),
        clock=clock,
        sleep=clock.sleep,
    )
    asyncio.run(running)
    return score_run(folder)


@pytest.mark.parametrize(
    ("delay", "low", "high"), [(1, 0, 2), (2, 0, 2), (5, 2, 10), (30, 10, 60), (100, 60, None)]
)
def test_a_scripted_delay_is_recovered_within_its_interval(
    tmp_path: Path, delay: float, low: float, high: float | None
) -> None:
    (curve,) = played(planned(settings={"readable_after": delay}), tmp_path).delays
    assert [round(each.seconds) for each in curve.delays] == [0, 2, 10, 60]
    assert all(each.questions == EXAMPLES for each in curve.delays)
    assert curve.low <= delay
    assert round(curve.low) == low
    assert (curve.high and round(curve.high)) == high
    assert high is None or (curve.half is not None and low < curve.half < high + 0.01)
    assert (curve.half is None) is (high is None)


def test_what_can_be_read_at_once_has_no_delay(tmp_path: Path) -> None:
    results = played(planned(), tmp_path)
    (curve,) = results.delays
    assert (curve.low, curve.half is not None and curve.half < 0.1) == (0, True)
    assert curve.high == curve.delays[0].seconds < 0.1
    assert results.score == 1.0
    assert {row["since_told"] is None for row in rows(results)} == {True, False}


def test_three_examples_tell_no_delay(tmp_path: Path) -> None:
    (curve,) = played(planned(settings={"readable_after": 5}, examples=3), tmp_path).delays
    assert (curve.low, curve.high) == (0, None)
    assert curve.sentence.endswith("(95 %: 0.0 s to no upper end)")


def test_seconds_stand_beside_the_log_and_never_in_it(tmp_path: Path) -> None:
    plan = planned(examples=1)
    played(plan, tmp_path / "a")
    slow = Clock()
    slow.now = 17.0
    played(plan, tmp_path / "b", clock=slow)
    logs = [(tmp_path / each / "events.jsonl").read_bytes() for each in "ab"]
    assert logs[0] == logs[1]
    assert b"since_told" not in logs[0]
    notes = [json.loads(line) for line in (tmp_path / "a" / "timings.jsonl").read_text("utf-8").splitlines()]
    assert sorted(round(note["since_told"]) for note in notes if "since_told" in note) == [0, 2, 10, 60]


def test_the_pause_is_what_is_left_since_the_telling(tmp_path: Path) -> None:
    clock = Clock()
    played(planned(examples=1), tmp_path, clock=clock)
    assert len(clock.slept) == 4
    for slept, delay in zip(sorted(clock.slept), (0, 2, 10, 60), strict=True):
        assert max(0, delay - 0.5) <= slept <= delay


class Indexed(Agent):
    """Can read what it was told once it has been indexed; fails at the question with a number."""

    free = True
    told_ideal = True
    answers_early = True
    waits: list[bool]

    def __init__(self, fails: int | None = None) -> None:
        self.fails, self.waits, self.asked = fails, [], itertools.count()

    async def settle(self) -> None:
        self.waits.append(True)

    async def observe(self, turn: Turn) -> None:
        pass

    async def reply(self, message: Message) -> Reply:
        if not message.settle:
            self.waits.append(False)
            if next(self.asked) == self.fails:
                raise AgentError("killed")
        return Reply(message.ideal or "Okay.")


def test_the_run_waits_for_the_indexer_before_all_other_questions(tmp_path: Path) -> None:
    agent = Indexed()
    played(planned(examples=1), tmp_path, lambda: agent)
    assert agent.waits == [False] * 4 + [True] * 4


def test_nobody_knows_how_long_ago_another_process_was_told(tmp_path: Path) -> None:
    plan, clock = planned(examples=1), Clock()
    with pytest.raises(AgentError, match="killed"):
        played(plan, tmp_path, lambda: Indexed(fails=1))
    (curve,) = played(plan, tmp_path, Indexed, clock).delays
    assert [each.questions for each in curve.delays] == [1, 1, 1]
    assert len(clock.slept) == 3  # it waits all the same


def test_an_agent_that_does_not_say_whether_it_waits_is_refused() -> None:
    class Silently(Agent):
        async def settle(self) -> None:
            pass

    class Says(Silently):
        answers_early = True

    early = Ask("Where?", expect=says("here"), settle=False)
    check = partial(check_lines, "soon", [early], Mode("in-line", "live"), "mine", pace=True)
    for allowed in (Agent(), Says()):
        check(allowed)
    with pytest.raises(
        CannotCombine, match=r"mine does not say .* \(Agent.answers_early\).*; leave soon out"
    ):
        check(Silently())


def test_whether_a_row_waits_is_true_or_false(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[scenarios.too_soon]\npace = "yes"\n', "utf-8")
    with pytest.raises(ConfigError, match=r"mine.toml: scenarios.too_soon.pace = 'yes': write true or false"):
        read_suite(tmp_path / "mine.toml")


def test_a_simulation_counts_the_pauses_and_does_not_wait() -> None:
    priced = {"model": "gpt-4o", "base_url": "http://localhost:1"}
    plan = planned("openai_chat", priced, examples=1)
    assert plan.notes == ("Before 4 questions it waits in real time, 72 seconds in all.",)
    found = estimate(plan, latency=0.0)
    assert found.seconds == 72.0


def test_without_pace_the_suite_leaves_it_out_and_says_so() -> None:
    plan = make_plan(Request("perfect", "2k", suite="trust", examples=1))
    assert "too_soon" not in [entry.name for entry in plan.manifest.suite.scenarios]
    assert "too_soon is left out: it waits in real time, which --pace allows." in plan.notes
    with pytest.raises(CannotCombine, match=r"--scenario too_soon: it waits in real time .* add --pace"):
        make_plan(Request("perfect", "2k", suite="trust", scenarios=ONLY))


def test_a_quick_run_does_not_wait() -> None:
    with pytest.raises(CannotCombine, match=r"--quick.*too_soon waits in real time"):
        make_plan(Request("perfect", "2k", suite="trust", scenarios=ONLY, quick=True, pace=True))
