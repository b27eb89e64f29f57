"""What servers report is billed to the cent as the table says: to an agent, to a judge, and through the gateway."""

import asyncio
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2
import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.budget import Budget
from ltm_bench.judge import rubric
from ltm_bench.judge.interview import interviewing
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.rubric import Case
from ltm_bench.log.calls import CALLS, Call, read_calls, spent_on
from ltm_bench.plugins.agents import make_agent
from ltm_bench.runner.spent import cost_of
from tests.adapters.test_gateway import OWN, Behind
from tests.rows import PROTOCOLS
from tests.test_rows import ADAPTERS, PATHS, PRICED_AGENT, SCENARIO

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("key")

MODELS = {"chat": "gpt-6-luna", "responses": "gpt-6-luna", "messages": "claude-sonnet-4-5"}
"""In dollars for a million tokens: 0.1 in, 0.01 cached, 0.125 written, 0.5 out, twice the first and half as much again
of the last beyond 272,000 in; and 3, 0.3, 3.75 (for an hour 6), 15, more beyond 200,000 in."""


class Bill(NamedTuple):
    """What a server reports of one call, and what the provider bills for it; None if it cannot be told."""

    protocol: str
    usage: object
    dollars: str | None


CHAT = {"prompt_tokens": 100_000, "completion_tokens": 1_000}
RESPONSES = {"input_tokens": 100_000, "output_tokens": 1_000}
CLAUDE = {"input_tokens": 100_000, "output_tokens": 1_000}
THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 9_000}}
WRITTEN = {"prompt_tokens_details": {"created_cache_tokens": 30_000}}
HOUR = {"cache_creation_input_tokens": 50_000, "cache_creation": {"ephemeral_1h_input_tokens": 20_000}}
SUMMARY = {
    "iterations": [{"type": "compaction", "input_tokens": 150_000, "output_tokens": 600}, {"type": "message"}]
}

BILLS: Mapping[str, Bill] = {
    "nothing unusual": Bill("chat", CHAT, "0.0105"),
    "as floats": Bill("chat", {"prompt_tokens": 100_000.0, "completion_tokens": 1_000.0}, "0.0105"),
    "a prompt beyond the cliff": Bill("chat", CHAT | {"prompt_tokens": 300_000}, "0.06075"),
    "xAI: reasoning beside the output": Bill("chat", CHAT | THOUGHT | {"total_tokens": 110_000}, "0.015"),
    "Gemini: reasoning in the total alone": Bill("chat", CHAT | {"total_tokens": 110_000}, "0.015"),
    "Vertex AI: no output but in the total": Bill("chat", {"prompt_tokens": 100_000, "total_tokens": 110_000}, "0.015"),
    "OpenAI: cached": Bill("chat", CHAT | {"prompt_tokens_details": {"cached_tokens": 60_000}}, "0.0051"),
    "DeepSeek: cached": Bill("chat", CHAT | {"prompt_cache_hit_tokens": 60_000}, "0.0051"),
    "Moonshot: cached": Bill("chat", CHAT | {"cached_tokens": 60_000}, "0.0051"),
    "vLLM: written to the cache": Bill("chat", CHAT | WRITTEN, "0.01125"),
    "Responses: cached": Bill("responses", RESPONSES | {"input_tokens_details": {"cached_tokens": 60_000}}, "0.0051"),
    "Responses: reasoning in the total alone": Bill("responses", RESPONSES | {"total_tokens": 110_000}, "0.015"),
    "Responses: null": Bill("responses", None, None),
    "Anthropic: read from the cache": Bill("messages", CLAUDE | {"cache_read_input_tokens": 60_000}, "0.333"),
    "Anthropic: written, a part for an hour": Bill("messages", CLAUDE | HOUR, "0.5475"),
    "Anthropic: a summary on the way": Bill("messages", CLAUDE | SUMMARY, "0.774"),
    "null": Bill("chat", None, None),
    "a text": Bill("chat", "unknown", None),
    "a list": Bill("chat", [100_000, 1_000], None),
    "negative": Bill("chat", CHAT | {"completion_tokens": -1}, None),
    "a text for a figure": Bill("chat", CHAT | {"prompt_tokens": "many"}, None),
    "no output": Bill("chat", {"prompt_tokens": 100_000}, None),
    "more cached than sent": Bill("chat", CHAT | {"cached_tokens": 100_001}, None),
    "less in total than in parts": Bill("chat", CHAT | {"total_tokens": 100_500}, None),
    "Anthropic: no figures": Bill("messages", {}, None),
    "Anthropic: a summary that is none": Bill("messages", CLAUDE | {"iterations": [7]}, None),
}  # fmt: skip
"""By what is unusual."""


def told(protocol: str) -> dict[str, Bill]:
    return {name: bill for name, bill in BILLS.items() if bill.protocol == protocol}


def differing(calls: list[Call], bills: Mapping[str, Bill]) -> dict[str, tuple[object, str | None]]:
    """Return the calls that do not cost what was billed; one that cannot be told costs what was reserved for it."""
    turns = dict[object, list[Call]]()
    for each in calls:
        turns.setdefault(each.turn if each.key is None else each.key, []).append(each)
    assert len(turns) == len(bills)
    shown = [(spent_on(of), all(each.usage for each in of)) for of in turns.values()]
    return {
        name: (price, bill.dollars)
        for (price, known), (name, bill) in zip(shown, bills.items(), strict=True)
        if (price != Decimal(bill.dollars) if bill.dollars else known or not price)
    }


def reporting(server: Provider, bills: Mapping[str, Bill]) -> None:
    """Make the provider report these usages, one after the other."""
    left = iter(bills.values())
    server.edit = lambda body: body | {"usage": next(left).usage}


def priced(folder: Path, protocol: str) -> None:
    (folder / "agents").mkdir()
    provider = "anthropic" if protocol == "messages" else "openai"
    text = PRICED_AGENT.format(adapter=ADAPTERS[protocol], provider=provider, model=MODELS[protocol])
    text = text.replace("max_output=1000", "max_output=20_000")
    (folder / "agents" / "priced.py").write_text(text, "utf-8")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_run_shows_what_is_billed_call_by_call_and_in_sum(
    protocol: str, server: Provider, tmp_path: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bills, url = told(protocol), server.url if protocol == "messages" else server.openai_url
    priced(tmp_path, protocol)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "rows.py").write_text(SCENARIO.format(many=len(bills) - 1), "utf-8")
    server.answer = lambda _: "It is red."
    reporting(server, bills)
    words = ("--span", "4k", "--scenario", "rows", "--examples", "1", "--acknowledge", "live")
    done = command("run", *words, "--agent", "priced", "--base-url", url, "--max-cost", "1000", "--name", "r")
    assert done.exit_code == 0, done.err
    run = tmp_path / "reports" / "r"
    calls = read_calls(run).calls
    assert differing(calls, bills) == {}
    shown = json.loads((run / "results.json").read_bytes())["costs"]["dollars"]
    assert shown == pytest.approx(float(cost_of(run).total), abs=1e-6)
    assert cost_of(run).total == spent_on(calls) >= sum(Decimal(each.dollars or 0) for each in bills.values())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_judge_shows_what_is_billed_call_by_call(
    protocol: str, server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bills, url = told(protocol), server.url if protocol == "messages" else server.openai_url
    priced(tmp_path, protocol)
    reporting(server, bills)
    server.answer = lambda _: '{"verdict": "right", "reason": "so"}'
    judge, budget = (
        Judge("priced", {}, lambda: make_agent("priced", {"base_url": url})),
        Budget(Decimal(1000)),
    )
    (run := tmp_path / "r").mkdir()

    async def all_of() -> None:
        with interviewing(run, read_calls(run), "judge", budget) as interview:
            for name in bills:
                case = Case("Where do I live?", "Lima", f"In Lima; {name}.")
                assert (await interview.hold(judge, rubric.inquiry(case))).found is not None

    asyncio.run(all_of())
    calls = read_calls(run).asked
    assert differing(calls, bills) == {}
    assert spent_on(calls) == budget.spent
    assert (run / CALLS).stat().st_size


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_gateway_charges_what_is_billed_call_by_call(
    protocol: str, server: Provider, tmp_path: Path
) -> None:
    bills, here = told(protocol), Behind(server, tmp_path, "1000")
    reporting(server, bills)
    said = [{"role": "user", "content": "word " * 80_000}]  # a call never costs more than its bytes could
    limits: dict[str, Callable[[], dict[str, Any]]] = {
        "chat": lambda: {"messages": said, "max_tokens": 20_000},
        "responses": lambda: {"input": said, "max_output_tokens": 20_000},
        "messages": lambda: {"messages": said, "max_tokens": 20_000},
    }
    charged = {}
    with here.gateway.listening(), httpx2.Client(timeout=20, trust_env=False) as client:
        for name in bills:
            before = here.budget.spent
            body = {"model": MODELS[protocol]} | limits[protocol]()
            key = {"authorization": f"Bearer {OWN}", "x-api-key": OWN}
            assert (
                client.post(f"{here.gateway.url}/c/a{PATHS[protocol]}", json=body, headers=key).status_code
                == 200
            )
            charged[name] = here.budget.spent - before
    here.journal.close()
    known = {name: Decimal(bill.dollars) for name, bill in bills.items() if bill.dollars}
    assert {name: charged[name] for name in known} == known
    assert all(charged[name] > 0 for name in bills)
    assert here.seen.spent == here.budget.spent
