"""The estimate matches actual use, as counted by the local provider."""

import json
import os
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import run
from ltm_bench.adapters.chat import SYSTEM
from ltm_bench.adapters.testing import Provider
from ltm_bench.cli.forecasting import forecast_lines
from ltm_bench.core.agent import UsageModel
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plugins.agents import make_agent
from ltm_bench.runner.estimate import Estimate, bound, estimate
from tests import sets

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))


def estimated(span: str, model: UsageModel, reply: int) -> Estimate:
    plan = make_plan(Request(span=span, agent="goldfish", suite="smoke"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan.agents.sample, "usage_model", lambda: model)
        return estimate(plan, reply)


@pytest.mark.unkept
@pytest.mark.parametrize(("span", "window"), [("32k", 100_000), ("32k", 12_000), ("48k", 40_000)])
@pytest.mark.parametrize("adapter", ["openai_chat", "anthropic_chat"])
def test_the_prompt_tokens_are_within_five_percent_of_what_a_run_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Provider, key: str, command: "Command",
    span: str, window: int, adapter: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    url = server.openai_url if adapter == "openai_chat" else server.url
    settings = ("-A", "model=gpt-4o", "-A", f"window={window}", "--base-url", url, "--name", "r")
    done = command("run", "--span", span, "--suite", "smoke", "--agent", adapter, *settings)
    assert done.exit_code == 0, done.output
    costs = json.loads((tmp_path / "reports" / "r" / "results.json").read_text("utf-8"))["costs"]
    used = costs["usage"]
    prompt = used["uncached"] + used["cache_read"] + used["cache_write"]
    given = {"model": "gpt-4o", "window": window, "base_url": url}
    model = make_agent(adapter, given).usage_model()
    assert model is not None
    found = estimated(span, model, reply=round(used["output"] / costs["calls"]))
    assert found.calls == costs["calls"]
    assert found.prompt == pytest.approx(prompt, rel=0.05)


def test_a_cache_makes_a_long_conversation_cheap_but_less_so_with_a_moving_window() -> None:
    wide = UsageModel("gpt-4o", "openai", SYSTEM, 1_000_000, 1024)
    whole, moving = estimated("32k", wide, 60), estimated("32k", replace(wide, window=12_000), 60)
    assert whole.cached / whole.prompt > 0.9
    assert moving.prompt < whole.prompt
    for each in (whole, moving):
        assert each.dollars is not None
        assert each.dollars_uncached is not None
        assert each.dollars < each.dollars_uncached
    assert estimated("2k", wide, 250).output == 250 * estimated("2k", wide, 12).calls


@pytest.mark.parametrize("mode", [(), ("forked", "live"), ("forked", "scripted")], ids=" ".join)
def test_what_claude_costs_is_within_five_percent_of_its_bill(
    tmp_path: Path, server: Provider, key: str, mode: tuple[str, ...]
) -> None:
    """In every mode: forked questions are written to the cache once, and read from it ever after."""
    asked: dict[str, Any] = dict(zip(("questions", "acknowledge"), mode, strict=False))
    done = run("anthropic_chat", "16k", suite="smoke", settings={"model": "claude-sonnet-5-5"},
               base_url=server.url, reports=tmp_path, **asked)  # fmt: skip
    calls = done.results.costs.calls
    prompt, cached, output, written, _ = map(sum, zip(*server.spent, strict=True))
    spent = Usage(uncached=prompt - cached - written, cache_read=cached, cache_write=written, output=output,
                  model="claude-sonnet-5-5", provider="anthropic")  # fmt: skip
    reply = round(output / calls)
    plan = make_plan(Request(span="16k", agent="claude-sonnet-5-5", suite="smoke", **asked))
    found = estimate(plan, reply)
    assert found.calls == calls
    assert float(found.dollars or 0) == pytest.approx(float(dollars(spent) or 0), rel=0.05)


def test_an_automatic_cache_holds_what_forked_questions_share() -> None:
    plan = make_plan(
        Request(span="32k", agent="goldfish", suite="smoke", questions="forked", acknowledge="scripted")
    )
    with pytest.MonkeyPatch.context() as patch:
        wide = UsageModel("gpt-4o", "openai", SYSTEM, 1_000_000, 1024)
        patch.setattr(plan.agents.sample, "usage_model", lambda: wide)
        found = estimate(plan)
    assert 0.9 < found.cached / found.prompt < 1


def test_the_command_prints_three_columns_and_needs_no_key(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = command("estimate", "--span", "2k", "--suite", "smoke", "--agent", "gpt-4o")
    assert done.exit_code == 0, done.output
    assert "OPENAI_API_KEY" not in os.environ, (
        "what stands in for a key would be removed from texts as a secret"
    )
    assert "no call is made" in done.out
    rows = [re.split(r" {2,}", line.strip()) for line in done.out.splitlines()]
    assert ["low", "likely", "high"] in rows
    table = {name: [float(re.sub("[$%,]", "", each)) for each in row] for name, *row in rows if len(row) == 3}
    for i, reply in enumerate((12, 60, 250)):
        column = {name: row[i] for name, row in table.items()}
        assert column["tokens of a reply"] == reply
        assert column["output tokens"] == reply * column["of them asked of the agent"]
        cached = round(column["prompt tokens"] * column["from the prompt cache"] / 100)
        for name, read in (("with the prompt cache", cached), ("without it", 0)):
            fresh, output = int(column["prompt tokens"]) - read, int(column["output tokens"])
            used = Usage(uncached=fresh, cache_read=read, output=output, model="gpt-4o", provider="openai")
            assert column[name] == pytest.approx(float(dollars(used) or 0), abs=0.006)
    assert (
        f"{table['of them asked of the agent'][1]:g} calls, ${table['with the prompt cache'][1]:.2f}, "
        in done.out
    )
    assert "free" in command("estimate", "--span", "2k", "--suite", "smoke", "--agent", "goldfish").out


SMALL = ("estimate", "--span", "2k", "--scenario", "colours", "--examples", "2")


def test_any_agent_can_be_estimated_with_the_seconds_that_a_reply_takes(command: "Command") -> None:
    done = command(*SMALL, "--agent", "http", "-A", "url=http://localhost:9/chat", "--latency", "30")
    assert done.exit_code == 0, done.err
    assert "http does not observe, so it is asked everything" in done.out
    assert "the adapter http states neither what a reply uses" in done.out
    assert "30 seconds a reply (--latency)" in done.out
    assert "Minutes: unknown until a run has measured them" in command(*SMALL, "--agent", "parrot").out


def test_minutes_come_from_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("run", *SMALL[1:], "--agent", "parrot").exit_code == 0
    assert "seconds a reply (measured in an earlier run)" in command(*SMALL, "--agent", "parrot").out
    assert "Minutes: unknown" in command(*SMALL, "--agent", "vector_memory").out


def test_several_runs_are_totalled_and_a_limit_that_is_too_low_is_named(command: "Command", key: str) -> None:
    done = command(*SMALL, "--agent", "gpt-6-luna", "--repeats", "3", "--max-cost", "0.0001")
    assert "3 runs: " in done.out
    assert "That is more than --max-cost 0.0001" in done.out


def test_an_agent_with_a_core_costs_at_most_what_it_reserves(command: "Command", key: str) -> None:
    done = command(*SMALL, "--agent", "vector_memory", "-A", "core=openai_chat:gpt-6-luna")
    assert "at most $" in done.out


def test_a_run_announces_what_it_will_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("run", "--span", "2k", "--agent", "parrot", "--name", "r")
    done = command(*words, "--scenario", "colours")
    assert "tokens of conversation, 12 calls, free" in done.err
    assert "overrun" not in done.err + done.out


def test_a_run_warns_beforehand_that_most_examples_will_overrun() -> None:
    plan = make_plan(Request(span="2k", agent="parrot", suite="smoke"))
    late = Estimate(calls=9, tokens=12_345, examples=6, overruns=4)
    assert "4 of 6 examples will probably overrun" in list(forecast_lines(plan, late))[-1]
    assert len(list(forecast_lines(plan, replace(late, overruns=3)))) == 1
    assert list(forecast_lines(plan, None)) == [
        "at least 1,800 tokens of conversation; `ltm-bench estimate` shows what that takes"
    ]


CHATTY = '''"""Chatty: never stops."""
from ltm_bench import Agent, Message, Reply


class Chatty(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        return Reply("and so on " * 400)
'''


def test_the_score_never_appears_without_saying_that_most_examples_overran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agents").mkdir()
    Path("agents/chatty.py").write_text(CHATTY, "utf-8")
    done = command("run", "--span", "2k", "--agent", "chatty", "--scenario", "colours", "--name", "r")
    said = "3 of 3 examples overran, half of them by"
    assert f"note: {said}" in " ".join(done.out.split())
    assert said in Path("reports/r/results.json").read_text("utf-8")
    assert said in Path("reports/r/report.html").read_text("utf-8")


@pytest.mark.unkept
@pytest.mark.parametrize("kind", ["blind", "evidence", "near"])
def test_controls_are_foretold_as_they_are_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Provider, key: str, command: "Command", kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("--span", "2k", "--scenario", "colours", "--scenario", "jokes", "--examples", "2")
    agent = ("--agent", "openai_chat", "-A", "model=gpt-4o", "--base-url", server.openai_url)
    foretold = command("estimate", *given, *agent, "--control", kind).output
    calls = re.search(rf"control {kind}: (\d+) calls, price unknown", foretold)
    assert calls is not None, foretold
    assert command("run", *given, *agent, "--name", "r").exit_code == 0
    before = len(server.chats)
    assert command("control", "r", "--control", kind).exit_code == 0
    assert len(server.chats) - before == int(calls[1])


@pytest.mark.parametrize(("histories", "latency", "seconds"), [(1, 8.0, 8.0), (2, 8.0, 10.0), (8, 2.0, 10.0)])
def test_forked_questions_wait_for_one_of_eight_connections(
    tmp_path: Path, histories: int, latency: float, seconds: float
) -> None:
    data = sets.locomo(tmp_path / "locomo10.json", histories=histories)
    found = estimate(make_plan(Request("goldfish", suite="locomo", data=str(data))), latency=latency)
    assert found.beside == found.calls == 5 * histories
    assert found.seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("isolated", "interactive", "lanes"), [(True, False, 3), (True, True, 1), (False, False, 1)]
)
def test_only_isolated_conversations_without_a_person_take_place_at_once(
    isolated: bool, interactive: bool, lanes: int
) -> None:
    plan = make_plan(Request("goldfish", span="2k", scenarios=("colours",), examples=3, isolated=isolated))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan.agents.sample, "interactive", interactive)
        found = estimate(plan, latency=6.0)
    assert found.seconds == pytest.approx(found.calls * 6.0 / lanes)


def test_a_free_agent_costs_nothing_and_not_an_unknown_sum() -> None:
    plan = make_plan(Request("goldfish", span="2k", scenarios=("colours",), examples=1))
    assert bound(plan) == Decimal()
    found = estimate(plan)
    assert (found.dollars, found.dollars_uncached, found.bounded) == (Decimal(), Decimal(), False)
