"""Letta: an agent in Letta's cloud, which keeps its own memory and answers with its own model.

The server is Letta's cloud, or your own one with the same API (`base_url`, or LETTA_BASE_URL), which Letta no longer
maintains. For an agent on your own machine, use `letta_code`. Each run creates its own agent there, and uses no other.
A turn answered elsewhere (scripted filler) goes into the agent's archival memory, since Letta has no other way to take
one; with `--filler live` the agent hears and answers it itself.

After every turn the adapter records the messages in the agent's context, its memory blocks and its archival passages; a
resumed run restores them. Later messages cannot be deleted from a Letta server: the agent's own search of old messages
can still find traces of an interrupted turn.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ltm_bench import AgentError, Finding, Finish, Memory, Message, Reply, Turn, Usage
from ltm_bench.adapters import (
    EXAMINING,
    Again,
    ConfigError,
    DurableAgent,
    Endpoint,
    HeardTurn,
    Ledger,
    aware_time,
    installed,
    name_in,
    need,
    passing,
    pieces,
    require_scripted,
    retrying,
    sendable,
    stamp,
    stamped,
    usage_of,
)

_PASSAGE = 4000
"""Characters of one archival passage."""

_PAGE = 100
_PAUSE = 1.0
"""Seconds before the first retry of a message."""

_ENDED = ("end_turn", "tool_rule", "no_tool_call")
"""Reasons to stop that come from the agent itself."""

_TOOLS = ("archival_memory_insert", "archival_memory_search", "conversation_search")


class Letta(DurableAgent):
    """One agent on a Letta server.

    Args:
        model: The handle of the agent's model, e.g. openai/gpt-6-luna.
        embedding: The handle of its embedding model; default: the server's.
        base_url: Your own server, e.g. http://localhost:8283; default: LETTA_BASE_URL, else Letta's cloud.
        system: The agent's system prompt; default: Letta's.
        persona: The initial content of the agent's block `persona`.
        human: The initial content of its block `human`.
        context: Maximum tokens of its context window; default: the server's.
        timeout: Seconds to wait for one reply.
        max_retries: Retries of a failed request.
    """

    writes_in_reply = True

    def __init__(
        self,
        *,
        model: str,
        embedding: str | None = None,
        base_url: str | None = None,
        system: str | None = None,
        persona: str = "I am a helpful assistant in one long conversation with one person, and remember it.",
        human: str = "Nothing is known yet about the person.",
        context: int | None = None,
        timeout: float = 300.0,
        max_retries: int = 2,
    ) -> None:
        self._endpoint = Endpoint(
            model=model,
            base_url=base_url,
            url_variable="LETTA_BASE_URL",
            vendor_url="https://api.letta.com",
            key_variable="LETTA_API_KEY",
            timeout=timeout,
            max_retries=max_retries,
        )
        self.connections = self._endpoint.connections
        if "/" not in model:
            raise ConfigError(f"letta: model = {model!r}; write it as provider/name, e.g. openai/gpt-6-luna")
        self._asked: dict[str, Any] = {
            "model": model,
            "embedding": embedding,
            "system": system,
            "context_window_limit": context,
        }
        self._blocks = {"persona": persona, "human": human}
        self._client: Any = None
        self._agent = ""
        self._passages: set[str] = set()

    async def open(self, home: Path) -> None:
        """Find the run's agent on the server; a new one is created once it is told something."""
        package = need("letta", "letta_client")
        self._client = self._connect(package, self._endpoint.timeout, self._endpoint.max_retries)
        self._home = home
        self._ledger = Ledger(home / "heard.jsonl")
        with self._endpoint.explaining():
            found = await self._client.agents.list(tags=[name_in(home)], match_all_tags=True, limit=1)
        self._agent = found.items[0].id if found.items else ""

    def _connect(self, package: Any, timeout: float, max_retries: int) -> Any:
        return package.AsyncLetta(
            api_key=self._endpoint.key, base_url=self._endpoint.url, timeout=timeout, max_retries=max_retries
        )

    async def _make(self, name: str) -> str:
        made = await self._client.agents.create(
            name=name,
            tags=["ltm-bench", name],
            memory_blocks=[{"label": label, "value": value} for label, value in self._blocks.items()],
            tools=list(_TOOLS),
            include_base_tools=True,
            timezone="UTC",
            **{setting: value for setting, value in self._asked.items() if value is not None},
        )
        agent: str = made.id
        return agent

    # One turn

    async def reply(self, message: Message) -> Reply:
        """Send the message to the agent, then record its state."""
        await self._ready()
        self._ledger.begin(message.turn)
        with self._endpoint.explaining():
            answer = await self._send(sendable(stamped(message)))
            reply = self._read(answer)
            state = await self._state(inserted=any(map(_inserts, answer.messages)))
        self._ledger.finish(Turn(message, reply), state)
        return reply

    async def _send(self, text: str) -> Any:
        """Send a message. Before a retry, the agent is reset: it may have heard the first attempt."""
        # The client's own retries would let it hear the message twice.
        messages = self._client.with_options(max_retries=0).agents.messages
        return await retrying(
            lambda: messages.create(self._agent, messages=[{"role": "user", "content": text}]),
            retries=self._endpoint.max_retries,
            pause=_PAUSE,
            again=lambda error: Again() if passing(getattr(error, "status_code", 0)) else None,
            before=lambda: self._put_back(self._ledger.heard),
        )

    async def observe(self, turn: Turn) -> None:
        """Put a turn into the agent's archival memory."""
        await self._ready()
        self._ledger.begin(turn.message.turn)
        made = []
        with self._endpoint.explaining():
            for text in pieces(f"User: {turn.message.text}\nYou: {turn.reply.text}", _PASSAGE):
                made += await self._client.agents.passages.create(
                    self._agent,
                    text=sendable(f"[{stamp(turn.message.at)}]\n{text}"),
                    created_at=turn.message.at,
                    tags=[f"turn-{turn.message.turn}"],
                )
        self._passages.update(passage.id for passage in made)
        self._ledger.finish(turn, {"passages": [passage.id for passage in made]})

    async def _state(self, *, inserted: bool) -> dict[str, Any]:
        """Return the agent's context and blocks, and the passages that it made itself."""
        agent = await self._client.agents.retrieve(self._agent)
        blocks = [block async for block in self._client.agents.blocks.list(self._agent)]
        new = [each for each in await self._all_passages() if each not in self._passages] if inserted else []
        self._passages.update(new)
        return {
            "messages": agent.message_ids,
            "blocks": {block.label: block.value for block in blocks},
            "passages": new,
        }

    async def _all_passages(self) -> list[str]:
        """Return the agent's archival passages. There can be many, so this is called only if necessary."""
        found: dict[str, None] = {}
        more: dict[str, str] = {}
        while True:
            page = await self._client.agents.passages.list(self._agent, ascending=True, limit=_PAGE, **more)
            ids = [passage.id for passage in page if passage.id not in found]
            found.update(dict.fromkeys(ids))
            if not ids or len(page) < _PAGE:
                return list(found)
            more = {"after": ids[-1]}

    def _read(self, answer: Any) -> Reply:
        said: list[str] = []
        for message in answer.messages:
            if message.message_type == "assistant_message":
                content = message.content
                parts = [content] if isinstance(content, str) else [part.text for part in content]
                said += [part for part in parts if part]
        why = answer.stop_reason.stop_reason
        usage = self._usage(answer.usage)
        text = "\n".join(said)
        if why in _ENDED:  # an agent may end its turn without a reply: then that is its answer
            return Reply(text, usage)
        if why in ("max_steps", "max_tokens_exceeded"):
            return Reply(text, usage, Finish.LENGTH)
        if why == "context_window_overflow_in_system_prompt":
            return Reply(text, usage, Finish.OVERFLOW)
        raise AgentError(
            f"{self._endpoint.model} on Letta: the agent stopped with {why!r}; see its server's log, then resume"
        )

    def _usage(self, spent: Any) -> Usage | None:
        if spent is None or not spent.prompt_tokens:
            return None
        provider, _, model = self._endpoint.model.partition("/")
        priced = provider in ("openai", "anthropic") and not self._endpoint.is_vendor
        return usage_of(
            prompt=spent.prompt_tokens,
            output=spent.completion_tokens,
            cache_read=spent.cached_input_tokens,
            cache_write=spent.cache_write_tokens,
            reasoning=spent.reasoning_tokens,
            model=model,
            provider=provider if priced else None,  # Letta's cloud bills credits, not tokens
        )

    # Resuming

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Restore the agent's recorded state after these turns."""
        if not self._agent:
            with self._endpoint.explaining():
                self._agent = await self._make(name_in(self._home))
        turns = list(turns)
        agreed = self._ledger.agreed(turns)
        heard = self._ledger.heard[:agreed]
        if missing := turns[agreed:]:
            require_scripted(
                missing,
                f"the Letta agent {self._agent} has not heard turn {missing[0].message.turn} as the log has it, and "
                "cannot be told what it answered",
            )
        self._passages = {passage for each in heard for passage in each.data["passages"]}
        if not self._ledger.clean(agreed):
            with self._endpoint.explaining():
                await self._put_back(heard)
            self._ledger.cut(agreed)
        self._restored = True
        for turn in turns[agreed:]:
            await self.observe(turn)

    async def _put_back(self, heard: Sequence[HeardTurn]) -> None:
        states = [each.data for each in heard if "messages" in each.data]
        if states:
            await self._client.agents.update(self._agent, message_ids=states[-1]["messages"])
            blocks = states[-1]["blocks"]
        else:
            await self._client.agents.messages.reset(self._agent, add_default_initial_messages=True)
            blocks = self._blocks
        for label, value in blocks.items():
            await self._client.agents.blocks.update(label, agent_id=self._agent, value=value)
        for passage in await self._all_passages():
            if passage not in self._passages:
                await self._client.agents.passages.delete(passage, agent_id=self._agent)

    # Looking at it

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return what the agent's archival memory has about `query`."""
        if not query.strip():
            return []
        await self._ready()
        with self._endpoint.explaining():
            found = await self._client.agents.passages.search(self._agent, query=sendable(query), top_k=limit)
        return [Memory(row.content, aware_time(row.timestamp), _turn(row.tags)) for row in found.results]

    async def examine(self) -> Sequence[Finding]:
        """Ask whether the client is installed, and whether the server answers."""
        package = installed("letta", "letta-client")
        if not package.ok:
            return [package]
        client = self._connect(need("letta", "letta_client"), EXAMINING, 0)
        async with client:
            try:
                with self._endpoint.explaining():
                    health = await client.health()
            except AgentError as error:
                return [package, Finding(False, str(error))]
        return [package, Finding(True, f"the server is Letta {health.version}")]

    async def close(self) -> None:
        """Close the connections. The agent stays on the server, to be resumed or inspected."""
        if self._client is not None:
            await self._client.close()


def _inserts(message: Any) -> bool:
    """Whether the agent put something into its archival memory."""
    if message.message_type != "tool_call_message":
        return False
    calls = message.tool_calls or [message.tool_call]
    return any(
        call.name == "archival_memory_insert" for call in (calls if isinstance(calls, list) else [calls])
    )


def _turn(tags: Sequence[str] | None) -> int | None:
    for tag in tags or ():
        name, _, number = tag.partition("-")
        if name == "turn" and number.isdecimal():
            return int(number)
    return None
