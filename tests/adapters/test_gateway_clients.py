"""Programs that know nothing of the gateway use it like a provider: frameworks, streams, tools, another language.

LTM_BENCH_CLIENTS names a Python that has them: the group `gateway-clients`.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from time import perf_counter

import pytest

from ltm_bench.adapters.gateway.server import Gateway
from ltm_bench.adapters.gateway.upstreams import Upstream
from ltm_bench.adapters.routing import Family, Route
from ltm_bench.adapters.testing import Calls, Provider
from ltm_bench.adapters.testing.faults import Said
from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.log.calls import CALLS, read_calls
from ltm_bench.log.journal import Journal

PYTHON = os.environ.get("LTM_BENCH_CLIENTS", "")
KEY = "sk-planted-0123456789abcdefgh"
OWN = "ltm-0123456789abcdef"
MODEL = "gpt-6-luna"
SAID = "Your boat is called Undine."

LITELLM = """
import litellm
ask = [{"role": "user", "content": "What is my boat called?"}]
litellm.suppress_debug_info = True
for stream in (False, True):
    answer = litellm.completion(model="openai/gpt-6-luna", messages=ask, stream=stream, timeout=60)
    if stream:
        print("".join(each.choices[0].delta.content or "" for each in answer))
    else:
        print(answer.choices[0].message.content)
print(litellm.completion(model="anthropic/claude-haiku-5-5", messages=ask, max_tokens=100).choices[0].message.content)
print(len(litellm.embedding(model="openai/text-embedding-3-small", input=["a boat"]).data))
"""

LANGCHAIN = """
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

def look(what: str) -> str:
    "Look at something."
    return "It says Undine on it."

for streaming, responses in ((False, None), (True, None), (False, True), (True, True), (True, False)):
    model = ChatOpenAI(model="gpt-6-luna", streaming=streaming, use_responses_api=responses)
    agent = create_agent(model, [look])
    told = agent.invoke({"messages": [{"role": "user", "content": "Look at my boat. What is it called?"}]})
    print(told["messages"][-1].text)
"""

AGENTS = """
import asyncio
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)

@function_tool
def look(what: str) -> str:
    "Look at something."
    return "It says Undine on it."

async def main():
    chat = OpenAIChatCompletionsModel(model="gpt-6-luna", openai_client=AsyncOpenAI())
    for model in ("gpt-6-luna", chat):
        agent = Agent(name="sailor", instructions="Be brief.", tools=[look], model=model)
        print((await Runner.run(agent, "Look at my boat. What is it called?")).final_output)
    sailor = Agent(name="sailor", tools=[look], model="gpt-6-luna")
    streamed = Runner.run_streamed(sailor, "Look at my boat. What is it called?")
    async for _ in streamed.stream_events():
        pass
    print(streamed.final_output)

asyncio.run(main())
"""

NODE = """
const messages = [{ role: "user", content: "What is my boat called?" }];
const url = process.env.OPENAI_BASE_URL, key = process.env.OPENAI_API_KEY;
const ask = async (stream) => {
  const answer = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-6-luna", stream, messages }),
  });
  if (!stream) return (await answer.json()).choices[0].message.content;
  const lines = (await answer.text()).split("\\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice(6)).choices[0].delta.content ?? "").join("");
};
console.log(await ask(false));
console.log(await ask(true));
"""


def bill(server: Provider) -> Decimal:
    """Return what the provider bills, if every call was to the same model."""
    each = (
        Usage(
            uncached=t.prompt - t.cached, cache_read=t.cached, output=t.output, model=MODEL, provider="openai"
        )
        for t in server.spent
    )
    return sum((dollars(usage) or Decimal() for usage in each), Decimal())


def answered(messages: Sequence[Said]) -> str:
    """Look first, if told to look, and then answer."""
    if "Look" in messages[-1]["content"]:
        return Calls(json.dumps([{"name": "look", "arguments": {"what": "boat"}}]))
    return SAID


def play(command: list[str], server: Provider, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a program behind a gateway, and return the lines that it prints."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server.answer = answered
    budget = Budget(Decimal(1))
    served: dict[Family, Upstream] = {
        "openai": Upstream(server.openai_url, "openai", KEY),
        "anthropic": Upstream(server.url, "anthropic", KEY),
    }
    routes: list[Route] = []
    gateway = Gateway(served, budget, adopt=lambda _: routes[0], key=OWN)
    with Journal(folder / CALLS, perf_counter) as journal, gateway.listening():
        routes.append(Route(gateway.url, "a", OWN, journal, budget, {KEY}))
        done = subprocess.run(
            command, env=routes[0].environment(), capture_output=True, text=True, timeout=250, check=False
        )
    assert done.returncode == 0, done.stderr[-2000:]
    assert KEY not in done.stdout + done.stderr
    assert budget.held == 0
    seen = read_calls(folder)
    assert len(seen.calls) == len(server.spent) + sum(
        each.path == "/v1/embeddings" for each in server.requests
    )
    assert all(each.usage is not None for each in seen.calls)
    if len({each.model for each in seen.calls}) == 1:
        assert seen.spent == budget.spent == bill(server) > 0
    return done.stdout.splitlines()


@pytest.mark.skipif(not PYTHON, reason="needs the packages of other clients: LTM_BENCH_CLIENTS")
@pytest.mark.parametrize(
    ("program", "lines"),
    [(LITELLM, [SAID, SAID, SAID, "1"]), (LANGCHAIN, [SAID] * 5), (AGENTS, [SAID, SAID, SAID])],
    ids=["litellm", "langchain", "openai-agents"],
)
def test_a_framework_talks_streams_and_calls_tools_through_the_gateway(
    server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, lines: list[str]
) -> None:
    path = tmp_path / "program.py"
    path.write_text(program, "utf-8")
    assert play([PYTHON, str(path)], server, tmp_path, monkeypatch) == lines


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_a_program_in_node_talks_and_streams_through_the_gateway(
    server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.mjs"
    path.write_text(NODE, "utf-8")
    assert play(["node", str(path)], server, tmp_path, monkeypatch) == [SAID, SAID]
