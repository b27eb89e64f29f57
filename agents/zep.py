"""Zep: a temporal knowledge graph in Zep's cloud; facts and episodes near to a message are given to a core model.

Each run makes a user with a thread of its own, and uses no other. Zep works on what it is told in the background; the
agent waits until that is done before it looks anything up. Times are the benchmark's. The key is read from ZEP_API_KEY.

What Zep charges is credits, not tokens: a reply's usage is the core's, with an unknown price.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from ltm_bench.adapters.answerer import Core
from ltm_bench.adapters.endpoint import Endpoint
from ltm_bench.adapters.extractive import question_in
from ltm_bench.adapters.extras import installed, need
from ltm_bench.adapters.http import sendable
from ltm_bench.adapters.ledger import Ledger, name_in
from ltm_bench.core.agent import Agent, Finding, Memory
from ltm_bench.core.errors import AgentError, ConfigError, LtmBenchError
from ltm_bench.core.messages import Message, Reply, Turn

T = TypeVar("T")

_MESSAGE = 4000
"""Characters of one message: Zep takes a little more."""

_MESSAGES = 30
"""Messages that Zep takes at once."""

_QUERY = 400
"""Characters of one query."""

_UNSETTLED = 20
"""Turns of which it is asked anew whether Zep has worked on them, when a run is resumed: it takes them in order."""

_POLL = 4.0
"""The most seconds between two questions whether a task is done."""


class Zep(Agent):
    """Remembers in Zep's graph, and answers through another adapter.

    core        the adapter that answers, and its model, e.g. openai_chat:gpt-4o
    core_url    where the API of the core is, if not at the provider's
    base_url    where Zep's API is; default: ZEP_BASE_URL, else Zep's cloud
    memories    how many memories are recalled for a message: half of them facts, half of them episodes
    recent      how many of the newest turns the core sees word for word
    window      tokens of the prompt that the core gets, its reply not counted
    patience    seconds to wait until Zep has worked on what it was told
    timeout     seconds to wait for one answer
    max_retries how often a failed request is sent again
    """

    def __init__(
        self,
        *,
        core: str,
        core_url: str | None = None,
        base_url: str | None = None,
        memories: int = 20,
        recent: int = 4,
        window: int = 8192,
        patience: float = 1800.0,
        timeout: float = 60.0,
        max_retries: int = 4,
    ) -> None:
        for name, value, least in (("memories", memories, 1), ("recent", recent, 0), ("window", window, 256)):
            if value < least:
                raise ConfigError(f"zep: {name} = {value}, but at least {least} is needed")
        self._endpoint = Endpoint(
            model="zep",
            base_url=base_url,
            url_variable="ZEP_BASE_URL",
            vendor_url="https://api.getzep.com/api/v4",
            key_variable="ZEP_API_KEY",
            timeout=timeout,
            max_retries=max_retries,
        )
        self._core = Core(core, {"base_url": core_url}, window)
        self._memories, self._patience = memories, patience
        self._recent: deque[Turn] = deque(maxlen=recent)
        self._tasks: list[str] = []
        self._client: Any = None
        self._http: Any = None
        self._restored = False

    async def open(self, home: Path) -> None:
        """Find the run's user and thread, or make them."""
        package = need("zep", "zep_cloud")
        import httpx

        self._home = home
        self._name = name_in(home)
        self._ledger = Ledger(home / "heard.jsonl")
        self._http = httpx.AsyncClient(timeout=self._endpoint.timeout, follow_redirects=True)
        self._client = package.AsyncZep(
            api_key=self._endpoint.key,
            base_url=self._endpoint.url,
            max_retries=self._endpoint.max_retries,
            httpx_client=self._http,
        )
        await self._ask(self._find())

    async def _ask(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except LtmBenchError:
            raise
        except Exception as error:
            raise self._endpoint.explain(error) from error

    async def _find(self) -> None:
        """Find the run's user and its thread; make what is missing."""
        kept = self._home / "thread"
        words = kept.read_text("utf-8").split() if kept.exists() else []
        if len(words) == 3:
            self._user, self._graph, self._thread = words
            return
        # The user was not written down: it was never made, or we were killed before we could.
        try:
            user = await self._client.user.lookup(user_id=self._name)
        except Exception as error:
            if getattr(error, "status_code", None) != 404:
                raise
        else:
            await self._forget(user.uuid_)
        user = await self._client.user.create(user_id=self._name, first_name="User", time_zone="UTC")
        self._user, self._graph = user.uuid_, user.graph_uuid or user.uuid_
        self._thread = (await self._client.thread.create(user_uuid=self._user)).uuid_
        draft = kept.with_suffix(".part")
        draft.write_text(f"{self._user} {self._graph} {self._thread}", "utf-8")
        draft.replace(kept)

    async def _forget(self, user: str) -> None:
        """Delete a user of ours, with its graph and its threads, and take another name: it may not be free at once."""
        await self._client.user.delete(user)
        (self._home / "thread").unlink(missing_ok=True)
        (self._home / "name").unlink()
        self._name = name_in(self._home)

    # What Zep hears

    async def observe(self, turn: Turn) -> None:
        """Add a turn to the thread. Zep works on it in the background."""
        if not self._restored:
            await self.restore(())
        self._ledger.begin(turn.message.turn)
        tasks = await self._ask(self._tell(turn))
        self._ledger.finish(turn, tasks)
        self._tasks += tasks
        self._recent.append(turn)

    async def _tell(self, turn: Turn) -> list[str]:
        said = need("zep", "zep_cloud").AddMessage
        at = turn.message.at.isoformat()
        messages = [
            said(role=role, name=name, content=text, reference_time=at, metadata={"turn": turn.message.turn})
            for role, name, whole in (
                ("user", "User", turn.message.text),
                ("assistant", "Assistant", turn.reply.text),
            )
            for text in _split(whole)
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
        """Wait until Zep has worked on everything that it was told."""
        until = time.monotonic() + self._patience
        pause = _POLL / 16
        while self._tasks:
            task = await self._ask(self._client.task.get(self._tasks[0]))
            if task.status in ("succeeded", "partial"):
                self._tasks.pop(0)
            elif task.status == "failed":
                why = task.error.message if task.error is not None else "no reason is given"
                self._ledger.begin(self._ledger.heard[-1].turn)  # so that it will be told anew
                raise AgentError(f"Zep could not work on what it was told ({why}); resume the run later")
            elif time.monotonic() > until:
                raise AgentError(
                    f"Zep has not worked on what it was told within patience={self._patience:g} seconds; "
                    "resume the run later, or raise it"
                )
            else:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _POLL)

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Go on with the run's graph where it has heard these turns and no more; else make a new one, and tell it."""
        turns = list(turns)
        agreed = self._ledger.agreed(turns)
        if not self._ledger.clean(agreed):  # facts that others have replaced cannot be brought back
            await self._ask(self._forget(self._user))
            self._ledger.cut(0)
            self._tasks, agreed = [], 0
            await self._ask(self._find())
        self._restored = True
        self._tasks = [task for heard in self._ledger.heard[-_UNSETTLED:] for task in heard.data]
        self._recent.extend(turns[:agreed])
        for turn in turns[agreed:]:
            await self.observe(turn)

    # What it knows

    async def reply(self, message: Message) -> Reply:
        """Answer from what Zep finds, and tell it the turn."""
        if not self._restored:
            await self.restore(())
        found = await self.recall(question_in(message.text) or message.text, self._memories)
        prompt = self._core.prompt(message, found, self._recent)
        reply = await self._core.reply(self._home / "core", replace(message, text=prompt))
        if reply.usage is not None:
            reply = replace(reply, usage=replace(reply.usage, provider=None))
        await self.observe(Turn(message, reply))
        return reply

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return the facts and episodes that Zep's search finds, in turns."""
        await self.settle()
        query = sendable(query).strip()[:_QUERY]
        return await self._ask(self._search(query, limit)) if query else []

    async def _search(self, query: str, limit: int) -> list[Memory]:
        facts = await self._client.graph.search_edges(self._graph, query=query, page_size=(limit + 1) // 2)
        said = await self._client.graph.search_episodes(self._graph, query=query, page_size=(limit + 1) // 2)
        found: list[Memory] = []
        known = [_fact(edge) for edge in facts.items or () if edge.fact]
        heard = [_episode(episode) for episode in said.items or () if episode.content]
        for place in range(max(len(known), len(heard))):
            found += known[place : place + 1] + heard[place : place + 1]
        return found[:limit]

    async def examine(self) -> Sequence[Finding]:
        """Say whether Zep's client is installed."""
        return [Finding(*installed("zep", "zep-cloud"))]

    async def close(self) -> None:
        """Close the connections. The user stays with Zep: the run may be resumed."""
        await self._core.close()
        if self._http is not None:
            await self._http.aclose()


def _fact(edge: Any) -> Memory:
    until = _time(edge.invalid_at)
    text = f"{edge.fact} (until {until:%d %B %Y, %H:%M})" if until is not None else str(edge.fact)
    return Memory(text, _time(edge.valid_at), None, edge.score)


def _episode(episode: Any) -> Memory:
    who = "You" if episode.role == "assistant" else "User"
    turn = (episode.metadata or {}).get("turn")
    return Memory(
        f"{who}: {episode.content}",
        _time(episode.reference_time),
        int(turn) if isinstance(turn, int | float) else None,
        episode.score,
    )


def _time(text: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


def _split(text: str) -> Iterator[str]:
    """Cut a text into messages, between lines where there are any."""
    text = sendable(text)
    while len(text) > _MESSAGE:
        end = text.rfind("\n", 0, _MESSAGE) + 1 or _MESSAGE
        yield text[:end].rstrip()
        text = text[end:]
    if text.strip():
        yield text
