"""What a run would use is what it uses: the estimate against the local provider."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.chat import SYSTEM
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.agent import UsageModel
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plugins.agents import make_agent
from ltm_bench.runner.estimate import Estimate, estimate

if TYPE_CHECKING:
    from tests.conftest import Command


def estimated(span: str, model: UsageModel, reply: int) -> Estimate:
    return estimate(make_plan(Request(span=span, agent="goldfish", suite="smoke")), model, reply)


@pytest.mark.parametrize(("span", "window"), [("32k", 100_000), ("32k", 12_000), ("120k", 100_000)])
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


def test_a_cache_makes_a_long_conversation_cheap_and_a_moving_window_less_so() -> None:
    wide = UsageModel("gpt-4o", "openai", SYSTEM, 1_000_000, 1024)
    whole, moving = estimated("32k", wide, 60), estimated("32k", replace(wide, window=12_000), 60)
    assert whole.cached / whole.prompt > 0.9
    assert moving.prompt < whole.prompt
    for each in (whole, moving):
        assert each.dollars is not None
        assert each.dollars_uncached is not None
        assert each.dollars < each.dollars_uncached
    assert estimated("2k", wide, 250).output == 250 * estimated("2k", wide, 12).calls


def test_the_command_prints_three_columns_and_needs_no_key(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = command("estimate", "--span", "2k", "--suite", "smoke", "--agent", "gpt-4o")
    assert done.exit_code == 0, done.output
    assert "no call is made" in done.out
    assert done.out.count("$") == 6
    assert "costs nothing" in command("estimate", "--agent", "goldfish").out
