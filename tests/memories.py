"""For tests of memory products: a model that treats the user's sentences as facts, and a short way of talking to it."""

import asyncio
import contextlib
import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ltm_bench.adapters.testing import Calls
from ltm_bench.adapters.testing.remembering import call, nearest, newest, told_before
from ltm_bench.core.agent import Agent, Memory
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plugins.agents import agent_class, make_agent

Recalled = tuple[str, int | None]
"""A memory's text, and the turn that it came from."""

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def turn(number: int, text: str, reply: str = "Noted.") -> Turn:
    return Turn(Message(text, START + timedelta(minutes=number), number), Reply(reply))


def record(*parts: str, number: int = 0) -> list[Turn]:
    """Return the turns of one session of a public set, which a script acknowledges."""
    told = [turn(number + place, text) for place, text in enumerate(parts)]
    return [replace(each, kind="tell", example="locomo/0", answered="script", session="1") for each in told]


SESSION = (
    "[Sunday, 7 May 2023, 13:56]\nMelanie: Any news?\nCaroline: I moved to Ribe.\nIt rained.",
    "[Sunday, 7 May 2023, 13:56]\nMelanie: My parrot is called Zebedee.",
)
"""A session in two parts."""


class Conversation:
    """A conversation with an agent in plain calls. The test numbers the turns."""

    def __init__(self, agent: Agent, home: Path) -> None:
        home.mkdir(exist_ok=True)
        self.agent, self.home = agent, home
        self.runner = asyncio.Runner()
        self.runner.run(agent.open(home))
        self.closed = False

    def say(self, number: int, text: str) -> Turn:
        message = turn(number, text).message
        return Turn(message, self.runner.run(self.agent.reply(message)))

    def ask_apart(self, number: int, text: str) -> Reply:
        """Ask beside the conversation."""

        async def forked() -> Reply:
            return await (await self.agent.fork(turn(number, text).message))()

        return self.runner.run(forked())

    def observe(self, *turns: Turn) -> None:
        for each in turns:
            self.runner.run(self.agent.observe(each))

    def fill(self, number: int, text: str) -> Turn:
        filler = replace(turn(number, text), kind="fill", answered="script")
        self.observe(filler)
        return filler

    def observe_session(self, turns: Sequence[Turn]) -> None:
        self.runner.run(self.agent.observe_session(turns))

    def restore(self, *turns: Turn) -> None:
        self.runner.run(self.agent.restore(turns))

    def recall(self, query: str, limit: int = 10) -> list[Recalled]:
        return [(m.text, m.turn) for m in self.runner.run(self.agent.recall(query, limit))]

    def known(self) -> list[Recalled]:
        """Return every remembered fact that these tests tell, sorted."""
        return sorted(
            each for each in self.recall("parrot called moved User says", 50) if "says:" in each[0][:12]
        )

    def memories(self) -> list[Memory]:
        async def listed() -> list[Memory]:
            return [each async for each in self.agent.memories()]

        return self.runner.run(listed())

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.runner.run(self.agent.close())
            self.runner.close()


def offline(adapter: str) -> dict[str, str]:
    """Return what an adapter must be told to need nothing but a model's server."""
    settings = inspect.signature(agent_class(adapter)).parameters
    needed = {name for name, each in settings.items() if each.default is each.empty} | {"embedder"}
    given = {"model": "some-model", "core": "openai:some-model", "embedder": "local"}
    return {name: value for name, value in given.items() if name in settings and name in needed}


Open = Callable[..., Conversation]


@contextlib.contextmanager
def conversations(folder: Path, adapter: str, **usual: object) -> Iterator[Open]:
    """Open conversations in separate folders, `start("one", setting=value)`; all are closed at the end."""
    started: list[Conversation] = []

    def start(name: str = "home", **settings: object) -> Conversation:
        started.append(Conversation(make_agent(adapter, {**usual, **settings}), folder / name))
        return started[-1]

    try:
        yield start
    finally:
        for each in started:
            each.close()


def model(messages: Sequence[dict[str, str]]) -> str:
    """Serve the request: Mem0's extraction, LangMem's, Graphiti's, Cognee's, Hindsight's, or a core's answer."""
    system, asked = messages[0]["content"], messages[-1]["content"]
    if "## New Messages" in asked:
        facts = facts_in(asked.partition("## New Messages\n")[2].partition("\n\n## Observation Date")[0])
        return json.dumps(
            {
                "memory": [
                    {"id": str(n), "text": fact, "attributed_to": "user"} for n, fact in enumerate(facts)
                ]
            }
        )
    if system.startswith("You are a memory subroutine"):
        said = asked.partition("<session_")[2].partition("Ai Message")[0]
        return Calls(
            json.dumps([{"name": "Memory", "arguments": {"content": fact}} for fact in facts_in(said)])
        )
    if system.startswith(("You are an entity extraction", "You are an expert fact extractor")):
        return graph(asked, entities="entity extraction" in system)
    if system.startswith(("You are a top-tier algorithm", "Summarize the chunk")):
        return cognee_graph(asked, summary=system.startswith("Summarize"))
    if system.startswith(("Extract SIGNIFICANT facts", "You are a memory consolidation system")):
        return hindsight_facts(asked, consolidation="consolidation" in system[:60])
    # Hindsight asks about two observations that are alike.
    if "You reconcile long-term memory observations" in asked:
        return json.dumps({"action": "keep"})
    if "Do not escape unicode" in system:
        return json.dumps(NOTHING)
    return answer(asked)


NOTHING: dict[str, list[str]] = {
    name: []
    for name in ("timestamps", "entity_resolutions", "duplicate_facts", "contradicted_facts", "summaries")
}
"""The answer that Graphiti expects about a graph in which nothing is duplicate or out of date."""


def graph(asked: str, *, entities: bool) -> str:
    """Return what Graphiti extracts from a message: its entities, or the facts about them."""
    said = re.findall(r"<CURRENT[ _]MESSAGE>(.*?)</CURRENT[ _]MESSAGE>", asked, re.DOTALL)[-1]
    facts = facts_in(said.partition("Assistant:")[0])
    things = [max(re.findall(r"\w+", fact.partition(":")[2]), key=len) for fact in facts]
    if entities:
        return json.dumps(
            {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in ("User", *things)]}
        )
    edge = {"source_entity_name": "User", "relation_type": "SAYS"}
    edges = [
        {**edge, "target_entity_name": thing, "fact": fact} for thing, fact in zip(things, facts, strict=True)
    ]
    return json.dumps({"edges": edges})


def cognee_graph(asked: str, *, summary: bool) -> str:
    """Return what Cognee extracts from a passage: its summary, or the entities and the facts about them."""
    facts = facts_in(asked.partition("User:")[2].partition("Assistant:")[0])
    if summary:
        return json.dumps(
            {"summary": " ".join(facts) or "Nothing of note.", "description": "A conversation."}
        )
    user = {"id": "user", "name": "User", "type": "Person", "description": "Who speaks."}
    nodes, edges = [user], []
    for fact in facts:
        thing = max(re.findall(r"\w+", fact.partition(":")[2]), key=len)
        nodes.append({"id": thing, "name": thing, "type": "Thing", "description": fact})
        edges.append(
            {
                "source_node_id": "user",
                "target_node_id": thing,
                "relationship_name": "says",
                "description": fact,
            }
        )
    return json.dumps({"nodes": nodes, "edges": edges})


def hindsight_facts(asked: str, *, consolidation: bool) -> str:
    """Return what Hindsight's model has to say: facts of a turn, or an observation for each new fact."""
    if consolidation:
        new = re.findall(r"^\[([0-9a-f-]{36})\] User says: (.*?)(?: \(|$)", asked, re.MULTILINE)
        return json.dumps(
            {"creates": [{"text": f"Observed: {text}", "source_fact_ids": [name]} for name, text in new]}
        )
    nothing = dict.fromkeys(("when", "where", "who", "why"), "N/A")
    return json.dumps(
        {
            "facts": [
                {"what": fact, **nothing, "fact_kind": "conversation", "fact_type": "world", "entities": []}
                for fact in facts_in(asked.partition("Content:")[2].partition("Assistant:")[0])
            ]
        }
    )


def facts_in(said: str) -> list[str]:
    return [f"User says: {fact}" for fact in re.findall(r"\b(?:My|I) [^.?\n]+\.", said)]


def answer(prompt: str) -> str:
    """Return the line of a core's prompt that shares most words with the new message."""
    before, _, message = prompt.partition("# The new message")
    wanted = _words(message)
    lines = [line for line in before.splitlines() if line.startswith(("[", "User"))]
    best = max(lines, key=lambda line: len(_words(line) & wanted), default="")
    return best if _words(best) & wanted else "I do not know."


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", re.sub(r"\[.*?\]", "", text).lower()) if len(word) > 4}


def keep_graph(messages: Sequence[dict[str, str]]) -> str:
    """Use the tools of MCP's reference memory server: keep the user's sentences as observations, or quote from them.

    What the graph lacks is quoted from the conversation.
    """
    asked, answers = newest(messages)
    told = facts_in(asked)
    if not answers and (told or "?" in asked):
        return call("open_nodes", names=["User"])
    if "?" in asked:
        kept = [each for entity in json.loads(answers[0])["entities"] for each in entity["observations"]]
        return nearest(asked, [*kept, *told_before(messages)])
    if len(answers) == 1 and told:
        if json.loads(answers[0])["entities"]:
            return call("add_observations", observations=[{"entityName": "User", "contents": told}])
        return call(
            "create_entities", entities=[{"name": "User", "entityType": "person", "observations": told}]
        )
    return "Noted."
