"""What each memory sends to its model during a run, and what it stores: the second table of docs/memories.md.

    python -m perf.memories --agents langmem --spans 2k,32k

The model is scripted (tests/memories.py) and treats every sentence of the user that begins with "My" or "I" as a fact;
its server caches prompts as a provider does. Seconds are for the whole run, without model latency. Dollars are computed
from the tokens of every request and the list prices of `--prices`, not billed. *Needles*: the agent hears ten sentences
like "My boat is called Undine.", each followed by filler; the table says how many of the ten names it has stored, and
in how many memories.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.adapters.testing import Answer, Provider, keep_files, provider
from ltm_bench.core.messages import Message, Reply, Turn, Usage
from ltm_bench.core.pricing import dollars, price_list
from ltm_bench.plan.agents import resolve_agent
from ltm_bench.plugins.driven import driven
from perf.harness import Arguments, measurement, spent_on, table
from tests.hindsight_server import hindsight_server
from tests.memories import keep_graph, model, offline
from tests.notes import keep_notes

SERVER = Path(__file__).parents[1] / "tests" / "agents" / "mcp_memory_server.py"
CORE = {"core": "openai:some-model"}
NAMED = {
    **CORE,
    "command": f"{sys.executable} {SERVER} {{home}}/lines.jsonl",
    "store": "add_memory",
    "store_arguments": '{"content": "User: {message}"}',
    "search": "search_memory",
    "search_arguments": '{"query": "{query}", "limit": "{limit}"}',
    "listing": "list_memories",
}
REFERENCE = {"command": os.environ["LTM_BENCH_MCP_MEMORY"]} if "LTM_BENCH_MCP_MEMORY" in os.environ else {}
"""The path of the reference server; by default npx fetches it."""
ELSEWHERE = {"python": os.environ["LTM_BENCH_COGNEE"]} if "LTM_BENCH_COGNEE" in os.environ else {}
"""The Python that has Cognee; by default this one. Hindsight's server is the program LTM_BENCH_HINDSIGHT."""


class Row(NamedTuple):
    """An agent, its settings, and the model that it gets."""

    agent: str
    settings: Mapping[str, str]
    answer: Answer = model


SPECIAL = {
    "anthropic_memory": Row("anthropic_memory", {"model": "some-model"}, keep_files),
    "cognee": Row("cognee", {**offline("cognee"), **ELSEWHERE}),
    "letta_code": Row("letta_code", {"model": "some-model"}, keep_notes),
    "mcp": Row("mcp", NAMED),
    "mcp_memory": Row("mcp_memory", {**CORE, **REFERENCE}, keep_graph),
    "vector_memory": Row("vector_memory", CORE),
}
MEMORIES = {name for name, known in driven().items() if known.can and known.how == "real"}
ROWS = {name: SPECIAL.get(name) or Row(name, offline(name)) for name in sorted(MEMORIES | set(SPECIAL))}
"""Every memory whose own parts run on one machine, and what it needs besides a model's server."""
NEEDLES = {
    "boat": "Undine",
    "parrot": "Zebedee",
    "teacher": "Quillon",
    "street": "Marlowgate",
    "dentist": "Ostrander",
    "village": "Hildesheim",
    "bicycle": "Pegasus",
    "cousin": "Leopoldine",
    "school": "Fairweather",
    "piano": "Bellatrix",
}
FILLER = "The weather was fine, and many people walked along the river."


@dataclass
class Bill:
    """The usage of everything that a provider has answered."""

    prices: str
    requests: int = 0
    new: int = 0
    cached: int = 0
    output: int = 0
    dollars: Decimal = field(default_factory=Decimal)

    def add(self, body: dict[str, Any]) -> dict[str, Any]:
        """Count the usage of an answer, in either protocol; return the answer."""
        spent = body.get("usage")
        if not spent or body.get("object") == "list":  # an error, or embeddings
            return body
        if "prompt_tokens" in spent:
            cached = spent["prompt_tokens_details"]["cached_tokens"]
            new, output = spent["prompt_tokens"] - cached, spent["completion_tokens"]
        else:
            cached = spent["cache_read_input_tokens"]
            new, output = spent["input_tokens"] + spent["cache_creation_input_tokens"], spent["output_tokens"]
        self.requests, self.new = self.requests + 1, self.new + new
        self.cached, self.output = self.cached + cached, self.output + output
        name, _, priced = self.prices.partition(":")
        usage = Usage(uncached=new, cache_read=cached, output=output, model=priced, provider=name)
        self.dollars += dollars(usage) or 0
        return body


@contextmanager
def serving(row: Row) -> Iterator[tuple[Provider, dict[str, str]]]:
    """Run the model of a row inside the block; yield it, and the settings with its address."""
    if row.agent == "hindsight":
        own = hindsight_server(os.environ["LTM_BENCH_HINDSIGHT"], row.answer)
        yield own.model, {**row.settings, "base_url": own.url, "core_url": own.model.openai_url}
        return
    with provider(row.answer) as server:
        url = server.url if row.agent.startswith("anthropic") else server.openai_url
        yield server, {**row.settings, "base_url": url}


async def stored(row: Row, settings: Mapping[str, str], home: Path) -> tuple[int, int]:
    """Tell an agent the needles; return how many of the names it has stored, and in how many memories."""
    agent = resolve_agent(row.agent, settings).source()
    await agent.open(home)
    at, number = datetime(2026, 1, 5, 9, tzinfo=UTC), 0
    for thing, name in NEEDLES.items():
        await agent.reply(Message(f"My {thing} is called {name}.", at + timedelta(minutes=number), number))
        filler = Message(FILLER, at + timedelta(minutes=number + 1), number + 1)
        await agent.observe(Turn(filler, Reply("Indeed."), "fill", answered="script"))
        number += 2
    await agent.settle()
    texts = [memory.text async for memory in agent.memories()]
    await agent.close()
    return sum(any(name in text for text in texts) for name in NEEDLES.values()), len(texts)


def run(name: str, row: Row, span: str, prices: str) -> list[str]:
    """Make a run of an agent; return its row of the table."""
    bill = Bill(prices)
    with serving(row) as (server, settings), tempfile.TemporaryDirectory() as place:
        server.edit = bill.add
        words = ["run", "--name", "r", "--span", span, "--suite", "standard", "--agent", row.agent]
        for setting in settings.items():
            words += ["-A", "=".join(setting)]
        took = spent_on(words, Path(place)).wall
        log = Path(place) / "reports" / "r" / "events.jsonl"
        messages = log.read_bytes().count(b'"event":"sent"')
    counts = (messages, bill.requests, bill.new, bill.cached, bill.output)
    return [name, span, *(f"{count:,}" for count in counts), f"{bill.dollars:.2f}", f"{took:.0f}"]


@measurement(
    __doc__,
    agents=("vector_memory,anthropic_memory", ", ".join(ROWS)),
    spans=("2k,32k", "none for the needles alone"),
    prices=("openai:gpt-6-luna", "provider and model of the list prices"),
)
def main(args: Arguments) -> None:
    """Run each agent at each span, and print the rows of the table."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        os.environ[name] = "sk-not-a-key-0123456789"
    print(f"Prices: {args.prices}, {price_list()}\n")
    heads = "agent|span|messages|requests|tokens in, new|cached|out|dollars|seconds"
    tell = table(*heads.split("|"), names=2)
    for name in args.agents.split(","):
        row = ROWS[name]
        with serving(row) as (_, settings), tempfile.TemporaryDirectory() as place:
            found, memories = asyncio.run(stored(row, settings, Path(place)))
        tell(name, f"{found} of {len(NEEDLES)} needles, in {memories}")
        for span in filter(None, args.spans.split(",")):
            tell(*run(name, row, span, args.prices))
