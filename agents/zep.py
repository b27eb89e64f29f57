"""Zep: a temporal knowledge graph in Zep's cloud; a core model gets the facts and entities nearest to a message.

Each run creates its own user and thread, and uses no other. Zep processes messages in the background; the agent waits
for this before it searches. Times are the benchmark's. The key is read from ZEP_API_KEY. Zep charges credits, not
tokens: a reply's usage is the core's, with an unknown price.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ltm_bench import AgentError, Memory, Turn
from ltm_bench.adapters import (
    Patience,
    ServedProduct,
    aware_time,
    bounded,
    name_in,
    need,
    pieces,
    sendable,
    utterances_in,
    write_whole,
)

_MESSAGE = 4000
"""Maximum characters of a message; Zep accepts slightly more."""

_MESSAGES = 30
"""Maximum messages per request to Zep."""

_QUERY = 400
"""Characters of one query."""

_UNSETTLED = 20
"""Number of turns whose tasks are polled again when a run is resumed; Zep processes them in order."""

_POLL = 4.0
"""The longest pause between two polls of a task, in seconds."""

_ENTITIES = 4
"""Of how many memories one is an entity, and the others are facts, as in Zep's own evaluation (5 of 20)."""

_RERANKER = "cross_encoder"
"""What ranks both there."""

_PROMPT = (
    "You have facts and entities from a conversation. Read all of them, with their times, look for direct evidence of "
    "what is asked, and where they contradict each other, follow the latest. The time of a memory is when the event in "
    "it happened, not when somebody mentioned it: a memory of 15 March 2023 that says 'yesterday' is about 15 March "
    "2023. Turn relative times into dates, months or years. Be as specific as possible about people, places and "
    "events. Go step by step, show any calculation, then give a precise and short answer that rests on the memories "
    "alone."
)
"""What Zep's own evaluation says to the model that answers (getzep/zep, benchmarks/locomo/prompts.py), in our words."""


class Zep(ServedProduct):
    """Remembers in Zep's graph, and answers through another adapter; three quarters of what it recalls are facts.

    Args:
        settings: Those of every `ServedProduct`.
    """

    answers_early = True
    vendor_url = "https://api.getzep.com/api/v4"
    package = "zep-cloud"
    maker_prompt = _PROMPT

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._tasks: list[str] = []
        self._client: Any = None

    async def open(self, home: Path) -> None:
        """Find the run's user and thread, or create them."""
        package = need("zep", "zep_cloud")
        import httpx

        await super().open(home)
        self._http = bounded(httpx.AsyncClient, timeout=self.endpoint.timeout, follow_redirects=True)
        self._client = package.AsyncZep(
            api_key=self.endpoint.key,
            base_url=self.endpoint.url,
            max_retries=self.endpoint.max_retries,
            httpx_client=self._http,
        )
        with self.endpoint.explaining():
            await self._find()

    async def _find(self) -> None:
        """Find the run's user and its thread; create what is missing."""
        kept = self._home / "thread"
        words = kept.read_text("utf-8").split() if kept.exists() else []
        if len(words) == 3:
            self._user, self._graph, self._thread = words
            return
        # The user was not recorded: either it was never created, or the run was killed before it could be recorded.
        try:
            user = await self._client.user.lookup(user_id=self._name)
        except Exception as error:  # the client's error for a 404 is in a different module in each version
            if getattr(error, "status_code", None) != 404:
                raise
        else:
            await self._forget(user.uuid_)
        user = await self._client.user.create(user_id=self._name, first_name="User", time_zone="UTC")
        self._user, self._graph = user.uuid_, user.graph_uuid or user.uuid_
        self._thread = (await self._client.thread.create(user_uuid=self._user)).uuid_
        write_whole(kept, f"{self._user} {self._graph} {self._thread}")

    async def _forget(self, user: str) -> None:
        """Delete the run's user, with its graph and threads, and choose a new name: the old one may stay taken."""
        await self._client.user.delete(user)
        (self._home / "thread").unlink(missing_ok=True)
        (self._home / "name").unlink()
        self._name = name_in(self._home)

    # What Zep hears

    async def hear_session(self, turns: Sequence[Turn]) -> None:
        """Add what each speaker of a session said to the thread. Zep processes it in the background."""
        *before, last = turns
        self._ledger.begin(turns[0].message.turn)
        with self.endpoint.explaining():
            tasks = await self._tell(turns)
        self._ledger.finish(last, tasks, with_it=before)
        self._tasks += tasks

    async def _tell(self, turns: Sequence[Turn]) -> list[str]:
        said = need("zep", "zep_cloud").AddMessage
        messages = [
            said(
                role=each.role,
                name=each.speaker,
                content=text,
                reference_time=each.at.isoformat(),
                metadata={"turn": each.turn},
            )
            for each in utterances_in(turns)
            for text in pieces(each.text, _MESSAGE)
        ]
        tasks = []
        for start in range(0, len(messages), _MESSAGES):
            added = await self._client.thread.add_messages(
                self._thread, messages=messages[start : start + _MESSAGES]
            )
            if added.task is not None and added.task.uuid_ is not None:
                tasks.append(added.task.uuid_)
        return tasks

    async def settle(self) -> None:
        """Wait until Zep has processed everything."""
        patience = Patience(self._patience, first=_POLL / 16, longest=_POLL)
        while self._tasks:
            with self.endpoint.explaining():
                task = await self._client.task.get(self._tasks[0])
            if task.status in ("succeeded", "partial"):
                self._tasks.pop(0)
            elif task.status == "failed":
                why = task.error.message if task.error is not None else "no reason is given"
                self._ledger.begin(self._ledger.heard[-1].turn)  # so that it is told again
                raise AgentError(f"Zep failed to process a message ({why}); resume the run later")
            elif not await patience.lasts():
                raise self.impatient("Zep did not finish processing")

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        """Delete the run's user, and create a new one: replaced facts cannot be restored."""
        with self.endpoint.explaining():
            await self._forget(self._user)
            self._ledger.cut(0)
            await self._find()
        return 0

    async def resumed(self, turns: Sequence[Turn]) -> None:
        """Resume waiting for Zep's pending tasks."""
        self._tasks = [task for heard in self._ledger.heard[-_UNSETTLED:] for task in heard.data or ()]

    # What it knows

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the facts that Zep's search finds, then the entities, each ranked by Zep's cross-encoder."""
        query = sendable(query).strip()[:_QUERY]
        if not query:
            return []
        search, entities = self._client.graph, limit // _ENTITIES
        with self.endpoint.explaining():
            facts = await search.search_edges(
                self._graph, query=query, page_size=limit - entities, reranker=_RERANKER
            )
            found = [_fact(edge) for edge in facts.items or () if edge.fact]
            if entities:
                nodes = await search.search_nodes(
                    self._graph, query=query, page_size=entities, reranker=_RERANKER
                )
                found += [_entity(node) for node in nodes.items or () if node.summary]
        return found[:limit]


def _fact(edge: Any) -> Memory:
    until = aware_time(edge.invalid_at)
    text = f"{edge.fact} (until {until:%d %B %Y, %H:%M})" if until is not None else str(edge.fact)
    return Memory(text, aware_time(edge.valid_at), None, edge.score)


def _entity(node: Any) -> Memory:
    return Memory(f"{node.name}: {node.summary}", relevance=node.score)
