"""Any agent that speaks A2A, the protocol between services: 1.0 and 0.3, JSON-RPC and HTTP+JSON (extra `a2a`).

    --agent a2a -A url=https://host/agent -A headers=Authorization=MY_TOKEN

Its card is read from `/.well-known/agent-card.json` below the URL. Every user has one context, which the agent names
with its first answer and which is sent with every later message: the agent keeps the memory, under that context. A task
is asked for until it ends. A task that needs input is a question back: its text is the reply, and the next message
goes to the same task. What its calls cost, only the gateway knows, if the agent runs behind one.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from ltm_bench import Agent, AgentError, CannotResume, Finding, Finish, Message, Reply, Turn
from ltm_bench.adapters import (
    bounded,
    check_url,
    content_of,
    headers_from_environment,
    json_of,
    name_in,
    need,
    proxies_from_environment,
    scrubbed,
    sendable,
    stamped,
    write_whole,
)

_PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Seconds between two questions for a task; the last one from then on."""

_CANCELLING = 5.0
"""Seconds for an agent to confirm that a task was cancelled."""


class A2a(Agent):
    """Sends every message to `url`, and waits for the message or the task that answers it.

    Args:
        url: The agent's URL, below which its card is.
        binding: JSONRPC or HTTP+JSON; default: what its card prefers.
        headers: Headers whose values come from environment variables: `Authorization=MY_TOKEN, X-Team=TEAM`.
        timeout: Seconds for one answer, however often it is asked for.
    """

    keeps_users = True
    can_reopen = True

    def __init__(
        self,
        *,
        url: str,
        binding: Literal["", "JSONRPC", "HTTP+JSON"] = "",
        headers: str = "",
        timeout: float = 120.0,
    ) -> None:
        check_url("url", url)
        self._url, self._place = url.rstrip("/"), scrubbed(url)
        self.connections = self._place
        self._bindings = [binding] if binding else ["JSONRPC", "HTTP+JSON"]
        self._headers, self._timeout = dict(headers_from_environment(headers)), timeout
        self._client: Any = None

    async def open(self, home: Path) -> None:
        """Read the agent's card, and what it called this run's conversations.

        Raises CannotResume if the card is that of another agent than the run began with.
        """
        httpx, client = need("a2a", "httpx"), need("a2a", "a2a.client")
        self._kept, self._name = home / "contexts.json", name_in(home)
        kept = json_of(content_of(self._kept)) if self._kept.exists() else {}
        self._contexts: dict[str, list[str]] = kept.get("contexts", {})
        own = {"accept-encoding": "identity"} | {name.lower(): value for name, value in self._headers.items()}
        with proxies_from_environment():
            self._http = bounded(httpx.AsyncClient, headers=own, timeout=self._timeout)
        async with self._explained():
            card = await client.A2ACardResolver(self._http, self._url).get_agent_card()
            self._card = scrubbed(f"{card.name} {card.version}")[:200]
            if kept.get("card", self._card) != self._card:
                raise CannotResume(
                    f"{self._place} is {self._card!r} now, and was {kept['card']!r} when the run began; "
                    "start again with --fresh"
                )
            elsewhere = [each for each in card.supported_interfaces if not self._is_here(each.url)]
            for each in elsewhere:  # the conversation, and the headers, go nowhere that nobody has named
                card.supported_interfaces.remove(each)
            if elsewhere and not card.supported_interfaces:
                raise AgentError(
                    f"{self._place}: its card leads to another server; set url to {scrubbed(elsewhere[0].url)[:200]!r} "
                    "if that is meant"
                )
            config = client.ClientConfig(
                streaming=False,  # a stream has no end that is known before; a task is asked for, piece by piece
                polling=True,
                httpx_client=self._http,
                supported_protocol_bindings=self._bindings,
            )
            self._client = client.ClientFactory(config).create(card)

    def _is_here(self, url: str) -> bool:
        return urlsplit(url)[:2] == urlsplit(self._url)[:2]

    @asynccontextmanager
    async def _explained(self) -> AsyncIterator[None]:
        """Turn what an agent, or the way to it, does wrong into an AgentError of one line."""
        httpx, failed = need("a2a", "httpx"), need("a2a", "a2a.utils.errors").A2AError
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except TimeoutError:
            said = f"did not answer within timeout={self._timeout:g} seconds"
        except (failed, httpx.HTTPError, ValueError) as error:  # of protobuf's JSON, too
            said = f"failed: {error or type(error).__name__}"
        else:
            return
        raise AgentError(f"{self._place} {self._clean(said)}")

    def _clean(self, text: str) -> str:
        """Return an agent's text on one line, without values from the environment."""
        return " ".join(scrubbed(text, self._headers.values()).split())[:300]

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Go on in the contexts that the agent keeps. Raises CannotResume if one that it answered in is not known."""
        for turn in turns:
            if turn.answered == "agent" and (turn.message.user or "") not in self._contexts:
                raise CannotResume(
                    f"{self._place} named no context for this conversation, or {self._kept} is gone: it would answer "
                    "as if nothing had been said; start again with --fresh"
                )

    async def reply(self, message: Message) -> Reply:
        """Send a message in its user's context, and wait for what answers it."""
        types, user = need("a2a", "a2a.types"), message.user or ""
        context, task = self._contexts.get(user, ["", ""])
        sent = types.Message(
            role=types.Role.ROLE_USER,
            message_id=f"{self._name}-{message.turn}",  # the same one again after a crash
            context_id=context,
            task_id=task,
            parts=[types.Part(text=sendable(stamped(message)))],
        )
        async with self._explained():
            answer = await self._answer(types, sent)
        if answer.context_id not in ("", context) and context:
            raise AgentError(f"{self._place} answered in another context than the one it was asked in")
        name = _state(types, answer)
        again = answer.id if name == "input_required" else ""
        if answer.context_id and [answer.context_id, again] != [context, task]:
            self._contexts[user] = [answer.context_id, again]
            write_whole(self._kept, json.dumps({"card": self._card, "contexts": self._contexts}))
        said = "\n".join(filter(None, map(_text, _parts(answer)))).strip()
        if name in ("message", "completed", "rejected") or (again and said):
            return Reply(said, finish=Finish.REFUSAL if name == "rejected" else Finish.STOP)
        raise AgentError(f"{self._place} left its task as {name!r}: {self._clean(said) or '(no text)'}")

    async def _answer(self, types: Any, sent: Any) -> Any:
        """Return the message that answers, or the task once it waits for nothing but us."""
        wanted = types.SendMessageConfiguration(accepted_output_modes=["text/plain", "application/json"])
        request = types.SendMessageRequest(message=sent, configuration=wanted)
        [answer] = [each async for each in self._client.send_message(request)]
        found = answer.message if answer.HasField("message") else answer.task
        for count in range(1_000_000):
            if _state(types, found) not in ("submitted", "working"):
                break
            try:
                await asyncio.sleep(_PAUSES[min(count, len(_PAUSES) - 1)])
                found = await self._client.get_task(types.GetTaskRequest(id=found.id))
            except asyncio.CancelledError:  # of the timeout, too
                with suppress(Exception):  # whatever it says, nobody waits for that task
                    await asyncio.wait_for(
                        self._client.cancel_task(types.CancelTaskRequest(id=found.id)), _CANCELLING
                    )
                raise
        return found

    async def examine(self) -> Sequence[Finding]:
        """Send the agent one message, as a run does, in a context of its own."""
        said = await self.reply(Message("Hello, can you hear me?", datetime(2026, 1, 5, 9, tzinfo=UTC), 0))
        return [
            Finding(True, f"{self._place} is {self._card}; it says {said.text!r:.100}"),
            Finding(True, "it keeps a context, so that a run can be resumed")
            if self._contexts
            else Finding(True, "it names no context: to it, every message is the first one", lacks=True),
        ]

    async def close(self) -> None:
        """Close the connections."""
        if hasattr(self, "_http"):
            await self._http.aclose()


def _state(types: Any, answer: Any) -> str:
    """Return the state of a task as the protocol calls it, in lower case; `message` for a message."""
    if isinstance(answer, types.Message):
        return "message"
    named = (
        types.TaskState.Name(answer.status.state)
        if answer.status.state in types.TaskState.values()
        else "unknown"
    )
    return str(named).removeprefix("TASK_STATE_").lower()


def _parts(answer: Any) -> list[Any]:
    """Return the parts of a message, or of a task: of what it made, else of what it says of its state."""
    if hasattr(answer, "artifacts"):
        made = [part for each in answer.artifacts for part in each.parts]
        return made or list(answer.status.message.parts)
    return list(answer.parts)


def _text(part: Any) -> str:
    """Return what a part says; files say nothing."""
    if part.HasField("data"):
        to_dict = need("a2a", "google.protobuf.json_format").MessageToDict
        return json.dumps(to_dict(part.data), ensure_ascii=False, sort_keys=True)
    return str(part.text)
