"""A run's conversations together: the verdicts that they give, and what stops them."""

import asyncio
from pathlib import Path

import pytest

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import RunIncomplete
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.conversations import at_work, run_conversations
from ltm_bench.runner.observer import Silent


def planned(*, isolated: bool = False) -> Plan:
    return make_plan(Request("perfect", "2k", scenarios=("colours",), examples=2, isolated=isolated))


@pytest.mark.parametrize("isolated", [True, False])
def test_the_verdicts_of_all_conversations_are_returned(tmp_path: Path, isolated: bool) -> None:
    plan = planned(isolated=isolated)
    start_run(tmp_path, plan.manifest)
    running = run_conversations(plan, plan.agents, tmp_path, budget=Budget(), observer=Silent())
    verdicts = asyncio.run(running)
    assert {example for example, _ in verdicts} == {"colours/0", "colours/1"}
    assert {verdict.score for verdict in verdicts.values()} == {1.0}


def test_only_the_runs_own_limit_is_said_to_have_stopped_it(tmp_path: Path) -> None:
    plan = planned()
    start_run(tmp_path, plan.manifest)

    async def work(limit: float | None) -> None:
        async with at_work(plan, tmp_path, limit):
            if limit is None:
                raise TimeoutError("the disk does not answer")
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError, match="the disk does not answer"):
        asyncio.run(work(None))
    with pytest.raises(RunIncomplete, match=r"stopped after 0\.01 seconds"):
        asyncio.run(work(0.01))
