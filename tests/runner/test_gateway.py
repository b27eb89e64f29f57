"""A black box behind the gateway: what it costs is known, kept within a limit, and counted after a crash."""

import json
import os
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.gateway.server import PORT
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.log.calls import CALLS, read_calls
from ltm_bench.runner.spent import cost_of

if TYPE_CHECKING:
    from tests import zygote
    from tests.conftest import Command
else:
    import zygote

KEY = "sk-planted-0123456789abcdefgh"
MODEL = "gpt-6-luna"

BOT = '''"""A program that calls a model, and never admits that it could not."""

import json, os, sys
from urllib.error import URLError
from urllib.request import Request, urlopen

with open("seen.txt", "a") as file:
    file.write(repr(sorted(os.environ.items())) + " ".join(sys.argv))
for line in sys.stdin:
    message = json.loads(line)["message"]
    body = {"model": "gpt-6-luna", "messages": [{"role": "user", "content": message}], "max_tokens": 50}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    try:
        with urlopen(Request(url, json.dumps(body).encode(), headers)) as answer:
            said = json.load(answer)["choices"][0]["message"]["content"]
    except URLError as error:
        said = "Sorry, I cannot talk now. " + (error.read().decode() if hasattr(error, "read") else repr(error))
    print(json.dumps({"reply": said}), flush=True)
'''

FUNCTION = '''"""A function that makes its client for every message, as the docs say."""

from openai import OpenAI

from ltm_bench.adapters import through_gateway


def agent(message: str) -> str:
    with OpenAI(**through_gateway("openai"), max_retries=0) as client:
        said = client.chat.completions.create(
            model="gpt-6-luna", messages=[{"role": "user", "content": message}], max_tokens=50
        )
    return said.choices[0].message.content or ""
'''

TINY = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "bot.py").write_text(BOT, "utf-8")
    (tmp_path / "modelled.py").write_text(FUNCTION, "utf-8")
    return tmp_path


def bot(server: Provider) -> tuple[str, ...]:
    """Return the words of a run of the program through a gateway, at OpenAI's prices."""
    program = f"command={sys.executable} {Path('bot.py').resolve()}"
    return ("--agent", "command", "-A", program, "--gateway", "--upstream", f"openai={server.openai_url}")


def bill(server: Provider) -> Decimal:
    """Return what the provider bills."""
    each = (
        Usage(
            uncached=t.prompt - t.cached, cache_read=t.cached, output=t.output, model=MODEL, provider="openai"
        )
        for t in server.spent
    )
    return sum((dollars(usage) or Decimal() for usage in each), Decimal())


def results(name: str = "r") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("reports", name, "results.json").read_text("utf-8"))
    return found


def test_a_programs_calls_have_dollars_and_belong_to_their_turns(
    command: "Command", place: Path, server: Provider
) -> None:
    done = command(*TINY, *bot(server), "--max-cost", "1")
    assert done.exit_code == 0
    found, calls = results(), len(server.chats)
    assert calls > 5
    assert found["costs"]["dollars"] == pytest.approx(float(bill(server)), abs=1e-6)
    assert found["costs"]["gateway"] == {"calls": calls, "unassigned": 0, "lost": 0, "retries": 0}
    assert f"{calls} calls through the gateway, 0 of them tied to no turn" in done.out
    (account,) = found["costs"]["accounts"]
    assert (account["purpose"], account["model"], account["calls"]) == ("agent", MODEL, calls)
    (answers,) = found["operations"]
    assert (answers["name"], answers["calls"]) == ("answer", calls)
    assert answers["dollars"] == pytest.approx(found["costs"]["dollars"], abs=1e-6)
    asked = [question for each in found["examples"] for question in each["questions"]]
    assert all(each["dollars"] > 0 and each["usage"]["output"] > 0 for each in asked)
    assert "calls through the gateway" in Path("reports/r/report.html").read_text("utf-8")


def test_the_providers_key_is_nowhere_on_the_agents_side(
    command: "Command", place: Path, server: Provider
) -> None:
    for status in (401, 400, 500):
        server.fail(status=status, message=f"Incorrect API key provided: {KEY}")
    assert command(*TINY, *bot(server)).exit_code == 0
    assert "Sorry" in Path("reports/r/events.jsonl").read_text("utf-8")
    assert server.chats[0].headers["authorization"] == f"Bearer {KEY}"
    for path in place.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def test_an_agent_that_hides_that_the_money_is_gone_is_stopped_all_the_same(
    command: "Command", place: Path, server: Provider
) -> None:
    assert command(*TINY[:-1], "whole", *bot(server), "--max-cost", "1").exit_code == 0
    lines = Path("reports/whole", CALLS).read_text("utf-8").splitlines()
    reserved = [Decimal(str(call["reserved"])) for call in map(json.loads, lines) if "reserved" in call]
    limit = max(reserved)  # enough for the first call, but not for the largest after what was spent by then
    assert reserved[0] < limit
    server.spent.clear()
    done = command(*TINY, *bot(server), "--max-cost", str(limit))
    assert done.exit_code == 4
    assert "--max-cost" in done.err
    replies = [json.loads(line) for line in Path("reports/r/events.jsonl").read_text("utf-8").splitlines()]
    assert not [each for each in replies if "Sorry" in str(each.get("reply"))]
    cost = cost_of(Path("reports/r"))
    assert 0 < bill(server) <= cost.logged + cost.charged <= limit
    again = command(
        "resume", "r", "--gateway", "--upstream", f"openai={server.openai_url}", "--max-cost", "1"
    )
    assert again.exit_code == 0
    assert results()["costs"]["dollars"] == pytest.approx(float(bill(server)), abs=1e-6)


def test_what_was_billed_before_a_kill_is_counted_by_whoever_resumes(
    command: "Command", place: Path, server: Provider
) -> None:
    words = [*TINY, *bot(server), "--max-cost", "1"]

    def die(messages: Any) -> str:
        if len(server.chats) == 5:
            os.kill(process.pid, signal.SIGKILL)
        return "Noted."

    server.answer = die
    with zygote.Forked([sys.executable, "-m", "ltm_bench", *words], stdout=-3, stderr=-3) as process:
        assert process.wait(120) == -signal.SIGKILL
    cut_off = read_calls(Path("reports/r")).calls[-1]
    assert (cut_off.lost, len(server.chats)) == (True, 5)
    cost = cost_of(Path("reports/r"))
    assert bill(server) < cost.logged + cost.charged
    done = command("resume", "r", "--gateway", "--upstream", f"openai={server.openai_url}", "--max-cost", "1")
    assert done.exit_code == 0
    found = results()["costs"]
    assert found["gateway"]["lost"] == 1
    assert float(bill(server)) < found["dollars"] < float(bill(server) + (cut_off.dollars or 0)) + 1e-9


def test_a_function_in_this_process_uses_the_gateway_if_there_is_one(
    command: "Command", place: Path, server: Provider
) -> None:
    words = (
        *TINY,
        "--agent",
        "python:modelled:agent",
        "--gateway",
        "--upstream",
        f"openai={server.openai_url}",
    )
    assert command(*words).exit_code == 0
    assert results()["costs"]["dollars"] == pytest.approx(float(bill(server)), abs=1e-6) != 0


def test_an_adapter_of_a_provider_uses_the_gateway_without_being_told(
    command: "Command", place: Path, server: Provider
) -> None:
    settings = (
        "-A",
        f"model={MODEL}",
        "-A",
        "window=8000",
        "-A",
        "max_output=50",
        "--base-url",
        server.openai_url,
    )
    words = ("--agent", "openai_chat", *settings, "--gateway", "--upstream", f"openai={server.openai_url}")
    assert command(*TINY, *words, "--max-cost", "1").exit_code == 0
    found = results()["costs"]
    assert found["dollars"] == pytest.approx(float(bill(server)), abs=1e-6) != 0
    assert found["gateway"]["calls"] == len(server.chats)


def test_what_an_agent_says_of_calls_that_the_gateway_saw_is_not_charged_again(
    command: "Command", place: Path, server: Provider
) -> None:
    (place / "configs").mkdir()
    preset = f'[chat]\nadapter = "openai_chat"\nmodel = "{MODEL}"\nwindow = 8000\nmax_output = 50\n'
    (place / "configs" / "agents.toml").write_text(preset, "utf-8")
    words: tuple[str, ...] = (
        "race",
        "chat",
        "goldfish",
        *TINY[1:],
        "--most",
        "2",
        "--questions",
        "in-line",
        "--json",
    )
    words += ("--gateway", "--upstream", f"openai={server.openai_url}", "--max-cost", "1")
    for _ in range(2):  # the second time, both rounds are finished
        done = command(*words)
        assert done.exit_code == 0, done.output
        assert json.loads(done.out)["dollars"] == pytest.approx(float(bill(server))) != 0


def test_isolated_examples_have_a_route_each(command: "Command", place: Path, server: Provider) -> None:
    words = ("run", "--span", "2k", "--scenario", "colours", "--examples", "3", "--isolated", "--name", "r")
    assert command(*words, *bot(server), "--max-cost", "1").exit_code == 0
    calls = read_calls(Path("reports/r")).calls
    assert {each.conversation for each in calls} == {"colours-0", "colours-1", "colours-2"}
    assert None not in {each.turn for each in calls}
    assert results()["costs"]["dollars"] == pytest.approx(float(bill(server)), abs=1e-6)


def test_a_run_says_that_no_call_arrived_and_that_its_cost_is_unknown(
    command: "Command", place: Path
) -> None:
    (place / "silent.py").write_text("def agent(message: str) -> str:\n    return 'Okay.'\n", "utf-8")
    done = command(*TINY, "--agent", "python:silent:agent", "--gateway")
    assert done.exit_code == 0
    assert "No call arrived at the gateway in 1 conversation" in done.err
    assert results()["costs"]["dollars"] is None


CHAT = ("--agent", "openai_chat", "-A", f"model={MODEL}", "-A", "window=8000", "-A", "max_output=50")


def test_neither_logged_replies_nor_forecasts_are_conversations_without_a_call(
    command: "Command", place: Path, server: Provider
) -> None:
    server.answer = lambda messages: "I do not know."
    through = ("--gateway", "--upstream", f"openai={server.openai_url}", "--max-cost", "1")
    words = ("run", "--span", "2k", "--scenario", "colours", "--examples", "3", "--isolated", "--name", "r")
    assert "No call arrived" not in command(*words, *CHAT, "--base-url", server.openai_url, *through).err
    Path("reports/r/isolated/colours-2.jsonl").unlink()
    for again in (("resume", "r"), ("control", "r", "--ladder")):
        asked = len(server.chats)
        done = command(*again, *through)
        assert done.exit_code == 0, done.err
        assert len(server.chats) > asked
        assert "No call arrived" not in done.err


def test_doctor_says_whether_calls_arrive_and_forwards_none(
    command: "Command", place: Path, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    program = f"command={sys.executable} {place / 'bot.py'}"
    done = command("doctor", "--agent", "command", "-A", program, "--gateway")
    assert "its calls arrive at the gateway" in done.out
    (place / "silent.py").write_text("def agent(message: str) -> str:\n    return 'Okay.'\n", "utf-8")
    done = command("doctor", "--agent", "python:silent:agent", "--gateway")
    assert done.exit_code == 1
    assert "no call of it arrives at the gateway" in done.out
    assert not server.chats


def alone(server: Provider, port: int) -> Any:
    """Start a gateway that stands alone."""
    words = ["gateway", "--upstream", f"openai={server.openai_url}", "--port", str(port), "--max-cost", "1"]
    return zygote.Forked([sys.executable, "-m", "ltm_bench", *words], stdout=subprocess.PIPE, text=True)


def test_a_gateway_alone_counts_by_conversation_what_was_spent(place: Path, server: Provider) -> None:
    with alone(server, PORT + 1) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        url, key = (word.partition("=")[2] for word in first.split())
        assert len(key) > 30  # drawn
        environment = {**os.environ, "OPENAI_BASE_URL": url.replace("/v1", "/c/mine/v1")}
        said, refused = (
            subprocess.run(
                [sys.executable, "bot.py"],
                input='{"message": "Hello"}\n',
                env={**environment, "OPENAI_API_KEY": each},
                capture_output=True,
                text=True,
            )
            for each in (key, "ltm-bench")
        )
        process.send_signal(signal.SIGINT)
        shown = process.communicate()[0]
    assert "does not know this key" in json.loads(refused.stdout)["reply"]
    assert json.loads(said.stdout)["reply"]
    assert "mine" in shown
    assert MODEL in shown
    assert read_calls(Path("reports/gateway")).spent == bill(server) > 0
    assert (Path("reports/gateway") / CALLS).exists()


def test_a_second_gateway_on_one_folder_is_refused_in_one_line(
    command: "Command", place: Path, server: Provider
) -> None:
    with alone(server, PORT + 2) as process:
        assert process.stdout is not None
        process.stdout.readline()
        second = command("gateway", "--port", str(PORT + 3), "--max-cost", "1")
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert second.exit_code == 1
    (line,) = second.err.splitlines()
    assert "records there already" in line
    assert "--folder" in line


SPY = """import json, os, sys
with open("environment.json", "w") as file:
    json.dump(dict(os.environ), file)
for line in sys.stdin:
    print(json.dumps({"reply": "Okay."}), flush=True)
"""


def test_a_program_behind_a_gateway_has_no_variable_with_a_key_but_those_that_are_named(
    command: "Command", place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "spy.py").write_text(SPY, "utf-8")
    held = {
        "GEMINI_API_KEY": "g-123",
        "OPENAI_ADMIN_KEY": "o-123",
        "HEADER": f"Bearer {KEY}",
        "CONFIG": json.dumps({"openai": KEY}),
        "QUOTED": f'"{KEY}"',
        "MY_DATABASE": "postgres://me:pass1word@db.example/x",
        "COLOUR": "blue",
    }
    for name, value in held.items():
        monkeypatch.setenv(name, value)
    program = f"command={sys.executable} {place / 'spy.py'}"
    words = (*TINY, "--agent", "command", "-A", program, "--gateway", "--gateway-env", "MY_DATABASE")
    assert command(*words).exit_code == 0
    found = json.loads((place / "environment.json").read_text("utf-8"))
    assert held.keys() & found.keys() == {"MY_DATABASE", "COLOUR"}
    assert KEY not in str(found)
    assert "PATH" in found


def test_an_agent_that_starts_before_the_run_shares_a_key_with_it(
    command: "Command", place: Path, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = SPY.replace(
        "for line",
        "from urllib.request import Request, urlopen\nfrom urllib.error import HTTPError\nfor line",
    ).replace(
        "    print",
        """    for key in ("ltm-bench", "shared-by-hand-7Gh2kQ9x"):
        asked = Request("http://127.0.0.1:PORT/v1/models", headers={"Authorization": "Bearer " + key})
        try:
            said = urlopen(asked).status
        except HTTPError as error:
            said = error.code
        print(said, file=open("said.txt", "a"))
    print""".replace("PORT", str(PORT + 4)),
    )
    (place / "spy.py").write_text(asking, "utf-8")
    program = f"command={sys.executable} {place / 'spy.py'}"
    through = ("--gateway", "--gateway-port", str(PORT + 4), "--upstream", f"openai={server.openai_url}")
    words = (*TINY, "--agent", "command", "-A", program, *through)
    assert "export LTM_BENCH_GATEWAY_KEY" in command(*words).err
    assert set((place / "said.txt").read_text("utf-8").split()) == {"401"}
    monkeypatch.setenv("LTM_BENCH_GATEWAY_KEY", "shared-by-hand-7Gh2kQ9x")
    assert "export LTM_BENCH_GATEWAY_KEY" not in command(*words, "--fresh").err
    assert (place / "said.txt").read_text("utf-8").split()[-2:] == ["401", "200"]
    assert "LTM_BENCH_GATEWAY_KEY" not in json.loads((place / "environment.json").read_text("utf-8"))


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("forks", [True, False])
def test_controls_and_ladder_are_paid_apart_from_the_run(
    command: "Command", place: Path, server: Provider, *, forks: bool, at_once: bool
) -> None:
    through = ("--gateway", "--upstream", f"openai={server.openai_url}")
    chat = ("--agent", "openai_chat", "-A", f"model={MODEL}", *through)
    words = (*TINY, *(chat if forks else bot(server)))
    server.answer = lambda messages: "I do not know."
    more = ("--ladder", "--control", "blind", "--max-cost", "1")
    if at_once:
        done = command(*words, *more)
    else:
        assert command(*words, "--max-cost", "1").exit_code == 0
        costs = results()["costs"]
        assert costs["dollars"] == pytest.approx(float(bill(server)), abs=1e-6)
        done = command("control", "r", *through, *more)
        assert results()["costs"] == costs
    assert done.exit_code == 0, done.err
    found = results()
    assert found["ladder"]["missed"] > 0
    apart = [found["ladder"]["dollars"], found["controls"]["blind"]["dollars"]]
    assert 0 not in apart
    assert found["costs"]["dollars"] + sum(apart) == pytest.approx(float(bill(server)), abs=1e-6)
    asked = len(server.chats)
    assert command("control", "r", "--ladder", "--control", "blind", *through).exit_code == 0
    assert len(server.chats) == asked, "nothing is asked twice"
