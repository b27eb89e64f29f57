"""The cost of a memory's operations, adapter by adapter, against a scripted model on this machine.

    python -m perf.operations                            # vector_memory; mem0 and langmem where they are installed
    python -m perf.operations --agents mem0 --span 32k

The model treats the user's sentences as facts, and answers with the line of its prompt that is nearest to the question,
each time after `--latency` seconds; prices are those of gpt-4o-mini. So the table shows how often a product calls its
model, how many tokens that takes and how much latency the product adds, but not how well it remembers. The extras of
mem0 and langmem need conflicting versions: give each its own virtual environment.
"""

import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ltm_bench.adapters.testing import Calls, Said, provider
from ltm_bench.core.pricing import dollars
from ltm_bench.log.events import usage_of
from ltm_bench.log.lines import records
from perf.arguments import parser_for
from perf.processes import spent_on

MODEL = "gpt-4o-mini"

PRODUCTS = {
    "vector_memory": (f"core=openai:{MODEL}",),
    "mem0": (f"model={MODEL}", "embedder=local"),
    "langmem": (f"model={MODEL}", "embedder=local"),
}
"""The settings of each. All embed on this machine."""

INSTALLED = {"mem0": "mem0", "langmem": "langmem"}
"""The package that an adapter needs."""


def scripted(messages: Sequence[dict[str, Any]]) -> str:
    """Answer a request by its kind: Mem0's extraction, LangMem's, or a core's answer."""
    system, asked = str(messages[0]["content"]), str(messages[-1]["content"])
    if "## New Messages" in asked:
        said = asked.partition("## New Messages\n")[2].partition("\n\n## Observation Date")[0]
        facts = [
            {"id": str(n), "text": fact, "attributed_to": "user"} for n, fact in enumerate(facts_in(said))
        ]
        return json.dumps({"memory": facts})
    if system.startswith("You are a memory subroutine"):
        said = asked.partition("<session_")[2].partition("Ai Message")[0]
        kept = [{"name": "Memory", "arguments": {"content": fact}} for fact in facts_in(said)]
        return Calls(json.dumps(kept))
    before, _, message = asked.partition("# The new message")
    wanted = words_of(message)
    lines = [line for line in before.splitlines() if line.startswith(("[", "User"))]
    return max(lines, key=lambda line: len(words_of(line) & wanted), default="I do not know.")


def facts_in(said: str) -> list[str]:
    """Return what users say about themselves."""
    return [f"User says: {fact}" for fact in re.findall(r"\b(?:My|I) [^.?\n]+\.", said)]


def words_of(text: str) -> set[str]:
    """Return the longer words of a text."""
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 4}


def prices(timings: Path) -> dict[str, Decimal]:
    """Return what the operations of a run would have cost at the price of MODEL, since a local server has none."""
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    for record in records(timings):
        for name, _, calls in record.get("operations", ()):
            for call in filter(None, calls or ()):
                usage = usage_of({**call, "model": MODEL, "provider": "openai"})
                found[name] += (usage and dollars(usage)) or 0
    return found


def seconds(value: float | None) -> str:
    """Write a duration in milliseconds."""
    return "–" if value is None else f"{1000 * value:,.1f}"


def main() -> None:
    """Run each adapter, and print a table of its operations."""
    here = [name for name in PRODUCTS if name not in INSTALLED or find_spec(INSTALLED[name])]
    latency = (0.05, "seconds per answer of the model")
    args = parser_for(__doc__, agents=",".join(here), span="8k", suite="smoke", latency=latency).parse_args()

    def answer(messages: Sequence[Said]) -> str:
        time.sleep(args.latency)
        return scripted([dict(each) for each in messages])

    print(
        "| agent | operation | calls | p50 ms | p95 ms | all s | tokens | dollars | p50 ms, first and last tenth |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|---|")
    with provider(answer) as server, tempfile.TemporaryDirectory() as temporary:
        for agent in args.agents.split(","):
            settings = [word for each in PRODUCTS[agent] for word in ("-A", each)]
            words = ["run", "--span", args.span, "--suite", args.suite, "--agent", agent, *settings]
            environment = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": server.openai_url}
            spent_on([*words, "--name", agent], Path(temporary), environment=environment)
            results = json.loads((Path(temporary) / "reports" / agent / "results.json").read_text("utf-8"))
            paid = prices(Path(temporary) / "reports" / agent / "timings.jsonl")
            for each in results["operations"]:
                along = each["along"]
                course = f"{seconds(along[0]['p50'])} → {seconds(along[-1]['p50'])}" if along else "–"
                print(
                    f"| {agent} | {each['name']} | {each['calls']:,} | {seconds(each['p50'])} | "
                    f"{seconds(each['p95'])} | {each['seconds'] or 0:.1f} | {each['tokens']:,} | "
                    f"{paid[each['name']]:.4f} | {course} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
