"""What was written, read from the stores of memory products: a model that loses, keeps and invents at known rates."""

import json
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Fact, Tell, run
from ltm_bench.adapters.testing import Calls, Provider
from ltm_bench.adapters.testing.faults import Said
from ltm_bench.adapters.testing.remembering import NOTES, call, newest
from ltm_bench.core.tokens import counter
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.score.results.written import State
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

SCENARIOS = ["colours", "never_told", "two_users", "forget_me"]
EXAMPLES = 4
ONE_COLOUR = {"colours": {"several": False}}
"""As the rehearsals below have it."""
SERVER = Path(__file__).parent / "mcp_memory_server.py"


class Lossy:
    """A model that notes everything except every fourth fact, and invents a value for every fifth.

    It notes every colour, since a lost one may occur in another example, and never replaces an older one.
    """

    def __init__(self) -> None:
        self.notes: dict[str, list[str]] = {}
        self.kept = Counter[State]()
        """The contents of a store from which nothing is deleted."""
        self.made_up_of_deleted = 0
        """Values that it makes up about what is to be deleted, and that are deleted with it."""
        steps = [
            rehearse(Example(scenario(name), index, 0, {}), counter())
            for name in SCENARIOS
            for index in range(EXAMPLES)
        ]
        tells = [[(s.text, s.line) for s in each if isinstance(s.line, Tell)] for each in steps]
        known = {fact.value for each in tells for _, line in each for fact in line.facts}
        seen = 0
        for each in tells:
            deleted = {about for _, line in each for about in line.deletes}
            last = {fact.about: fact.value for _, line in each for fact in line.facts}
            for text, fact in dict.fromkeys((text, fact) for text, line in each for fact in line.facts):
                if fact.about == "favourite colour":
                    self._note(text, fact, fact.value)
                    self.kept[State.PRESENT if last[fact.about] == fact.value else State.STALE] += 1
                    continue
                seen += 1
                state = State.UNDELETED if fact.about in deleted else State.PRESENT
                if seen % 4:
                    self._note(text, fact, fact.value)
                else:
                    state = State.NEVER if fact.about in deleted else State.MISSING
                self.kept[state] += 1
                if seen % 5 == 0 and fact.among:
                    self._note(text, fact, next(value for value in fact.among if value not in known))
                    self.kept[State.INVENTED] += 1
                    self.made_up_of_deleted += fact.about in deleted

    def _note(self, text: str, fact: Fact, value: str) -> None:
        self.notes.setdefault(text, []).append(f"{fact.about}: {' '.join(fact.words)} {value}")

    def after_deletion(self) -> Counter[State]:
        """Return the contents of a store after all requested deletions."""
        held = self.kept.copy()
        held[State.DELETED] += held.pop(State.UNDELETED)
        held[State.INVENTED] -= self.made_up_of_deleted
        return held

    def told(self, said: str) -> list[str]:
        return [note for text, notes in self.notes.items() if text in said for note in notes]

    def extract(self, messages: Sequence[Said]) -> str:
        """Answer Mem0's and LangMem's extraction requests."""
        system, asked = messages[0]["content"], messages[-1]["content"]
        if "## New Messages" in asked:
            new = asked.partition("## New Messages\n")[2].partition("\n\n## Observation Date")[0]
            found = enumerate(self.told(new))
            memory = [{"id": str(n), "text": note, "attributed_to": "user"} for n, note in found]
            return json.dumps({"memory": memory})
        if system.startswith("You are a memory subroutine"):
            new = asked.partition("<session_")[2].partition("Ai Message")[0]
            calls = [{"name": "Memory", "arguments": {"content": note}} for note in self.told(new)]
            return Calls(json.dumps(calls))
        return "I do not know."

    def keep_files(self, messages: Sequence[Said]) -> str:
        """Write lines into a file with Claude's memory tool."""
        asked, answers = newest(messages)
        notes = "\n".join(self.told(asked))
        match answers:
            case []:
                return call("memory", command="view", path="/memories")
            case [there] if notes and NOTES in there:
                return call("memory", command="insert", path=NOTES, insert_line=0, insert_text=notes)
            case [_] if notes:
                return call("memory", command="create", path=NOTES, file_text=f"{notes}\n")
        return "I do not know."

    def add(self, messages: Sequence[Said]) -> str:
        """Call the tools of an MCP server."""
        asked, answers = newest(messages)
        calls = [{"name": "add_memory", "arguments": {"content": note}} for note in self.told(asked)]
        return Calls(json.dumps(calls)) if calls and not answers else "I do not know."


def settings(adapter: str, server: Provider) -> dict[str, Any]:
    compatible: dict[str, Any] = {"model": "some-model", "base_url": server.openai_url, "max_retries": 0}
    match adapter:
        case "mem0":
            return {**compatible, "dimensions": 512}
        case "langmem":
            return {**compatible, "embedder": "local"}
        case "anthropic_memory":
            return {**compatible, "base_url": server.url}
    return {
        "core": "openai:some-model",
        "base_url": server.openai_url,
        "command": f"{shlex.quote(sys.executable)} {shlex.quote(str(SERVER))} {{home}}/lines.jsonl",
        "timeout": 60.0,
        "listing": "list_memories",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("adapter", "module", "manner", "deletes"),
    [
        ("mem0", "mem0", Lossy.extract, True),
        ("langmem", "langmem", Lossy.extract, True),
        ("anthropic_memory", "anthropic", Lossy.keep_files, False),
        ("mcp", "mcp", Lossy.add, False),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_the_table_finds_what_a_model_loses_keeps_and_invents(
    adapter: str,
    module: str,
    manner: Any,
    deletes: bool,
    server: Provider,
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An agent that writes while it replies decides for itself what to delete, and this model deletes nothing."""
    if find_spec(module) is None:
        pytest.skip(f"needs the extra: pip install ltm-bench[{adapter}]")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    lossy = Lossy()
    server.answer = lambda messages: manner(lossy, messages)
    result = run(
        agent=adapter,
        settings=settings(adapter, server),
        span="4k",
        scenarios=SCENARIOS,
        examples=EXAMPLES,
        parameters=ONE_COLOUR,
    )
    found = result.results.writing
    assert found is not None
    assert found.examples == len(SCENARIOS) * EXAMPLES
    assert Counter(found.states) == +(lossy.after_deletion() if deletes else lossy.kept)
    assert (found.leaked.count, found.leaked.of, found.common.count) == (0, 2 * EXAMPLES, 0)
    assert found.undeleted.of == lossy.kept[State.UNDELETED]
