"""What is said of the agent's window and its model's end before a run: header, estimate and page say the same."""

import json
from dataclasses import replace
from datetime import date
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.log.events import Sent
from ltm_bench.log.reader import read_events, read_manifest
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.estimate import Estimate, estimate
from ltm_bench.runner.outlook import outlook

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

EARLIER, LATER = date(2027, 1, 13), date(2027, 1, 14)


def planned(agent: str = "openai_chat", **asked: Any) -> tuple[Plan, Estimate]:
    plan = make_plan(Request(agent=agent, **{"span": "32k", "suite": "smoke", **asked}))
    return plan, estimate(plan)


def test_the_users_own_line_says_what_the_window_loses_and_what_to_choose(key: str) -> None:
    plan, found = planned("gpt-4o", span="120k", suite="standard")
    said = outlook(plan, found, EARLIER)
    assert said == (
        "about 350,000 tokens of conversation meet a window of 128,000: a full-context agent forgets by truncation, "
        f"and about {found.unseen} of {found.needles} needles lie outside it when asked about; --span 86k or --agent "
        "gpt-6-luna (a window of 930,000) would keep all of them in view; gpt-4o is shut down by its provider on 14 "
        "January 2027; its replacement is gpt-6-luna"
    )
    assert 0 < found.unseen < found.needles / 2
    for choice in (planned("gpt-4o", span="86k", suite="standard"), planned("gpt-6-luna", span="120k")):
        assert choice[1].unseen == 0
        assert choice[1].needles > 0


def test_needles_lie_outside_as_often_as_the_agents_prompts_lack_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Provider, key: str, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    server.answer = lambda _: "well" + " well" * 19
    settings = {"model": "some-model", "window": 14_000}
    plan = make_plan(
        Request("openai_chat", "16k", scenarios=("colours",), settings=settings, base_url=server.openai_url)
    )
    words = ("--span", "16k", "--scenario", "colours", "--agent", "openai_chat", "-A", "model=some-model")
    done = command("run", *words, "-A", "window=14000", "--base-url", server.openai_url, "--name", "r")
    assert done.exit_code == 0, done.err
    sent = [
        event
        for event in read_events(Path("reports/r/events.jsonl"))
        if isinstance(event, Sent) and event.kind != "fill"
    ]
    told: dict[str | None, list[str]] = {}
    needles = lost = 0
    for event, chat in zip(sent, server.chats, strict=True):
        if event.kind == "tell":
            told.setdefault(event.example, []).append(event.message)
        else:
            shown = {each["content"].partition("\n")[2] for each in chat.messages}
            needles += len(told[event.example])
            lost += len({*told[event.example]} - shown)
    found = estimate(plan, 20)
    assert 0 < lost < needles
    assert (found.unseen, found.needles) == (lost, needles)


LOCAL = ("--span", "4k", "--suite", "smoke", "--agent", "openai_chat", "-A", "model=some-model")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
def test_a_local_servers_window_is_asked_for_used_and_said(server: Provider, command: "Command") -> None:
    server.details, server.context = {"max_model_len": 4096}, 4096
    local = (*LOCAL, "--base-url", server.openai_url)
    said = "tokens of conversation meet a window of 4,096 (its server says so): a full-context agent forgets"
    estimated = command("estimate", *local)
    line = next(line for line in "".join(estimated.out).splitlines() if said in line)
    assert not server.chats
    done = command("run", *local, "--name", "r")
    assert done.exit_code == 0, done.err
    assert line in done.err.splitlines()
    assert f"note: {line}" in " ".join(done.out.split())
    assert line in unescape(Path("reports/r/report.html").read_text("utf-8"))
    results = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    assert results["remarks"][0] == line
    assert "overflow" not in results["outcomes"]
    assert "window" not in read_manifest(Path("reports/r")).agent.settings


@pytest.mark.unkept
@pytest.mark.usefixtures("here")
def test_a_window_that_the_server_does_not_say_is_unknown_and_no_minutes_are_promised(
    server: Provider, command: "Command"
) -> None:
    done = command("run", *LOCAL, "--base-url", server.openai_url, "--name", "r")
    unknown = "meet an unknown window (its server does not say: 128,000 is assumed, -A window=N sets it), which would"
    assert unknown in done.err
    assert "minute" not in done.err
    assert unknown in unescape(Path("reports/r/report.html").read_text("utf-8"))
    given = command("run", *LOCAL, "-A", "window=64000", "--base-url", server.openai_url, "--name", "s")
    assert "window of" not in given.err
    assert "/props" in {request.path for request in server.requests}


@pytest.mark.usefixtures("here")
def test_a_resumed_run_keeps_the_window_that_it_began_with(server: Provider, command: "Command") -> None:
    server.details = {"max_model_len": 4096}
    local = (*LOCAL, "--base-url", server.openai_url, "--name")
    assert command("run", *local, "whole").exit_code == 0
    expected = [chat.body for chat in server.chats]
    server.requests.clear()
    half = len(expected) // 2
    server.edit = lambda body: body if len(server.chats) <= half else {}
    assert command("run", *local, "r").exit_code != 0
    server.edit, server.details = lambda body: body, {"max_model_len": 100_000}
    assert command("resume", "r").exit_code == 0
    sent = [chat.body for chat in server.chats]
    assert sent[: half + 1] == expected[: half + 1]
    assert sent[half + 1 :] == expected[half:]


def test_a_model_that_is_gone_was_shut_down_and_a_core_counts_as_a_model(key: str) -> None:
    plan, found = planned("vector_memory", span="2k", settings={"core": "openai:gpt-4o"})
    assert outlook(plan, found, EARLIER).startswith(
        "gpt-4o is shut down by its provider on 14 January 2027; its"
    )
    assert outlook(plan, found, LATER).startswith("gpt-4o was shut down")
    assert outlook(*planned("vector_memory", span="2k"), EARLIER) == ""
    assert outlook(*planned("gpt-6-luna"), EARLIER) == ""


def test_a_window_that_moves_but_always_shows_the_span_loses_no_needle(key: str) -> None:
    plan, found = planned("gpt-4o", span="16k", suite="standard", settings={"window": 40_000})
    assert "but no needle lies outside it when asked about; gpt-4o" in outlook(plan, found, EARLIER)


def test_a_conversation_too_long_to_simulate_has_a_lower_bound(key: str) -> None:
    plan, _ = planned("gpt-4o", span="2k")
    long = replace(plan, manifest=plan.manifest.model_copy(update={"span": 10_000_000}))
    said = outlook(long, None, EARLIER)
    assert said.startswith("at least ")
    assert (
        "tokens of conversation meet a window of 128,000: a full-context agent forgets by truncation; "
        in said
    )


def test_messages_that_an_agent_refuses_are_counted(key: str) -> None:
    plan, found = planned(
        "gpt-4o", span="16k", suite="standard", settings={"window": 20_000, "truncate": "none"}
    )
    said = outlook(plan, found, EARLIER)
    assert f": {found.overflows} messages do not fit into it at all" in said
    assert "-A window=128000 would keep" not in said  # it is shut down
