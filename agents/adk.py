"""Google ADK's in-memory memory service: it finds past turns by the words that they share with a message.

This is the service that ADK uses unless one in Google's cloud replaces it. No model extracts anything. The service
finds at most ten events, and keeps nothing on disk; a core model answers from them. A resumed run tells it everything
again, except what was forgotten.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ltm_bench import Memory, Turn
from ltm_bench.adapters import (
    Forgotten,
    Inheriting,
    MemoryProduct,
    fingerprint,
    is_about,
    need,
    sendable,
    utterances_in,
)

_APP = "ltm-bench"
_SESSION = "conversation"
_NOBODY = "nobody in particular"
_AUTHORS = {"User": "user", "Assistant": "agent"}
_WHO = {"user": "User", "agent": "You"}


class Adk(Inheriting, MemoryProduct):
    """Remembers what was said, separately for every user, and answers through another adapter.

    Args:
        base_url: The API of the core's model; default: the provider's.
        memories: Number of events recalled per message; ADK finds ten at most.
        timeout: Seconds to wait for one answer of the core.
        max_retries: Retries of a failed request of the core.
        settings: Those of every `MemoryProduct`.
    """

    keeps_users = True
    package = "google-adk"

    def __init__(
        self,
        *,
        base_url: str | None = None,
        memories: int = 10,
        timeout: float = 120.0,
        max_retries: int = 4,
        **settings: Any,
    ) -> None:
        core = {"base_url": base_url, "timeout": timeout, "max_retries": max_retries}
        super().__init__(None, core, memories=memories, **settings)
        self._service: Any = None
        self._spoken: dict[str, tuple[Turn, int, datetime]] = {}
        """The turn of every event, which half of it, and when it was said, by the event's id."""

    # ADK itself

    can_reopen = False  # its memory lives in this process

    async def open(self, home: Path) -> None:
        """Import ADK, and make an empty memory."""
        await super().open(home)
        self._service = need("adk", "google.adk.memory").InMemoryMemoryService()
        self._forgotten = Forgotten(home / "forgotten.json")

    async def hear_session(self, turns: Sequence[Turn]) -> None:
        """Add a turn, or a session of a record with its speakers and dates, to the user's memory.

        Nothing remains after the run, so no ledger is kept.
        """
        types, event = need("adk", "google.genai.types"), need("adk", "google.adk.events").Event
        told, events = {turn.message.turn: turn for turn in turns}, []
        for number, each in enumerate(utterances_in([self._left(turn) for turn in turns])):
            turn = told[each.turn]
            half = int(turn.session is None and each.role == "assistant")
            name = f"{each.turn}/{half if turn.session is None else number + 2}"
            content = types.Content(
                role="user" if each.role == "user" else "model", parts=[types.Part(text=sendable(each.text))]
            )
            author = _AUTHORS.get(each.speaker, each.speaker)
            events.append(event(id=name, author=author, content=content, timestamp=each.at.timestamp()))
            self._spoken[name] = turn, half, each.at
        await self._service.add_events_to_memory(
            app_name=_APP, user_id=_named(turns[0].message.user), events=events, session_id=_SESSION
        )

    def _left(self, turn: Turn) -> Turn:
        """Return a turn without what was forgotten of it."""
        message, reply = self._forgotten.left(turn, [turn.message.text, turn.reply.text])
        return replace(
            turn, message=replace(turn.message, text=message), reply=replace(turn.reply, text=reply)
        )

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the events that ADK finds for a user."""
        found = await self._service.search_memory(app_name=_APP, user_id=_named(user), query=sendable(query))
        return [self._memory(event) for event in found.memories[:limit]]

    def _memory(self, event: Any) -> Memory:
        turn, _, at = self._spoken[event.id]
        text = " ".join(part.text for part in event.content.parts if part.text)
        said = turn.message
        who = _WHO.get(event.author, event.author)
        return Memory(f"{who}: {text}", at, said.turn, id=event.id, user=said.user)

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over all events of all users; ADK has no way to list them, but keeps them in a dictionary."""
        for sessions in list(self._service._session_events.values()):
            for event in list(sessions[_SESSION]):
                yield self._memory(event)

    async def forget(self, query: str) -> int:
        """Delete the events that mention something."""
        gone = [memory async for memory in self.memories() if is_about(memory.text, query)]
        spoken = [self._spoken[str(memory.id)] for memory in gone]
        self._forgotten.add((fingerprint(turn), half) for turn, half, _ in spoken)
        for memory in gone:
            await self._service.delete_memory(app_name=_APP, user_id=_named(memory.user), memory_id=memory.id)
        return len(gone)


def _named(user: str | None) -> str:
    return _NOBODY if user is None else f"user {user}"
