"""Hindsight: facts that a model extracts, in memory banks on a server; a core model gets those nearest to a message.

The server is your own (`base_url`, or HINDSIGHT_BASE_URL), or Hindsight's cloud. It calls the model that extracts, with
a key of its own. Every user of a run has a bank, and every turn is a document there, so that the facts of a turn can be
deleted. After each turn Hindsight consolidates facts into observations in the background; the agent waits for this
before it searches. Times are the benchmark's. A reply's usage is the core's, with an unknown price.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ltm_bench import AgentError, Finding, Memory, Message, Turn
from ltm_bench.adapters import (
    EXAMINING,
    Again,
    Forgotten,
    HeardTurn,
    Patience,
    ServedProduct,
    Spoken,
    at_least,
    aware_time,
    halves_about,
    installed,
    is_about,
    json_of,
    need,
    passing,
    retrying,
    scrubbed,
    sendable,
    utterances_in,
    write_whole,
)

_ALL = 10_000
"""More memories than any number of tokens holds."""

_PAGE = 100
"""Memories, or operations, of one request."""

_PAUSE = 1.0
"""Seconds before the first retry."""

_POLL = 2.0
"""The longest pause between two questions whether Hindsight has finished, in seconds."""

_ENTITY_TOKENS = 2048
"""Tokens of what is known of entities, as in Hindsight's own evaluation."""

_PROMPT = (
    "You have facts and entities from a conversation. Read all of them, with their times, and look for direct evidence "
    "of what is asked. Where they contradict each other, or tell of something that happened several times, say all of "
    "it. Turn relative times into dates, months or years. Be as specific as possible about people, places and events. "
    "What they do not say outright, work out from what they do say, for instance how long something took."
)
"""What Hindsight's own evaluation says to the model that answers (vectorize-io/hindsight,
hindsight-dev/benchmarks/locomo/locomo_benchmark.py), in our words."""

_UNDER_WAY = ("pending", "processing")


class Hindsight(ServedProduct):
    """Remembers in Hindsight's banks, separately for every user, and answers through another adapter.

    Args:
        facts: Tokens of the facts recalled per message; the defaults of this and of `budget` are those of
            Hindsight's own evaluation.
        budget: How thoroughly Hindsight searches.
        chunks: Tokens of the conversation's own words, recalled besides; `window` must have room for them.
        timeout: Seconds to wait for one answer of Hindsight, whose model has to extract first, and of the core.
        settings: Those of every `ServedProduct`.
    """

    answers_early = True
    keeps_users = True
    vendor_url = "https://api.hindsight.vectorize.io"
    core_waits_alike = True
    lacks_settings = frozenset({"memories"})
    maker_prompt = _PROMPT

    def __init__(
        self,
        *,
        facts: int = 4096,
        budget: Literal["low", "mid", "high"] = "high",
        chunks: int = 8192,
        timeout: float = 300.0,
        **settings: Any,
    ) -> None:
        at_least("hindsight", facts=(facts, 64), chunks=(chunks, 0))
        super().__init__(timeout=timeout, memories=_ALL, **settings)
        self._recall = {
            "max_tokens": facts,
            "budget": budget,
            "include_entities": True,
            "max_entity_tokens": _ENTITY_TOKENS,
            "include_chunks": chunks > 0,
            "max_chunk_tokens": chunks,
        }
        self._client: Any = None
        self._busy = set[str]()
        """Banks that Hindsight may still be working on."""
        self._now: datetime | None = None
        """The time of the newest message; Hindsight ranks newer facts higher."""

    async def open(self, home: Path) -> None:
        """Connect to the server."""
        await super().open(home)
        self._client = self._connect(self.endpoint.timeout)
        self._known = home / "banks.json"
        self._forgotten = Forgotten(home / "forgotten.json")

    def _connect(self, timeout: float) -> Any:
        package = need("hindsight", "hindsight_client")
        # Retries are ours: the client's own are for searches only.
        return package.Hindsight(
            self.endpoint.url, api_key=self.endpoint.key, timeout=float(timeout), max_attempts=1
        )

    async def _call(self, call: Callable[[], Awaitable[Any]], *, unless: int | None = None) -> Any:
        """Return the answer to a request that may be repeated; None if its status is `unless`. Raises AgentError."""

        def again(error: Exception) -> Again | None:
            return None if _status(error) == unless else _again(error)

        with self.endpoint.explaining():
            try:
                answer = await retrying(call, retries=self.endpoint.max_retries, pause=_PAUSE, again=again)
            except Exception as error:  # the client is not imported before it is needed
                if unless is None or _status(error) != unless:
                    raise
                return None
        if answer is None:  # the client lets this pass
            raise self.endpoint.unreadable("null")
        return answer

    @property
    def _limits(self) -> dict[str, float]:
        return {"_request_timeout": float(self.endpoint.timeout)}

    # Banks and documents

    def _bank(self, user: str | None) -> str:
        who = "" if user is None else f"-{hashlib.sha256(user.encode()).hexdigest()[:16]}"
        return f"{self._name}{who}"

    def _users(self) -> list[str | None]:
        """Return the users of whom Hindsight has something."""
        return list(dict.fromkeys(each.data["user"] for each in self._ledger.heard if any(each.data["said"])))

    def _banks(self) -> list[str]:
        """Return the banks that may exist, even that of a turn which was interrupted."""
        names: list[str] = json_of(self._known.read_text("utf-8")) if self._known.exists() else []
        return names

    async def _tell(self, number: int, known: Mapping[str, Any]) -> None:
        """Have Hindsight store the halves of a turn that are not empty, instead of what it has of this turn."""
        if not (text := "\n".join(filter(None, known["said"]))):
            return
        bank = self._bank(known["user"])
        if bank not in (banks := self._banks()):
            write_whole(self._known, json.dumps([*banks, bank]))
        item = {
            "content": text,
            "timestamp": known["at"],
            "context": f"a conversation between {known.get('between', 'a user and an assistant')}",
            "document_id": _document(number),
        }
        self._busy.add(bank)
        await self._call(lambda: self._client.aretain_batch(bank, [item]))

    async def _delete(self, bank: str, number: int) -> None:
        """Delete what Hindsight has of a turn, if it has anything."""
        self._busy.add(bank)
        delete = self._client.documents.delete_document
        await self._call(lambda: delete(bank, _document(number), **self._limits), unless=404)

    # What Hindsight hears

    async def hear_session(self, turns: Sequence[Turn]) -> None:
        """Have Hindsight extract what a session says; every part of it is a document."""
        spoken = utterances_in(turns)
        for turn in turns:
            await self._retain(turn, [each for each in spoken if each.turn == turn.message.turn])

    async def _retain(self, turn: Turn, spoken: Sequence[Spoken]) -> None:
        message = turn.message
        self._ledger.begin(message.turn)
        halves: list[list[str]] = [[], []]
        for each in spoken:
            halves[turn.session is None and each.role == "assistant"].append(sendable(each.named))
        self._now = message.at
        known = {
            "user": message.user,
            "at": (spoken[0].at if spoken else message.at).isoformat(),
            "between": " and ".join(dict.fromkeys(each.speaker for each in spoken)),
            "said": self._forgotten.left(turn, ["\n".join(half) for half in halves]),
        }
        await self._tell(message.turn, known)
        self._ledger.finish(turn, known)

    async def settle(self) -> None:
        """Wait until Hindsight has consolidated everything."""
        patience = Patience(self._patience, first=_POLL / 32, longest=_POLL)
        while self._busy:
            bank = min(self._busy)
            found = await self._operations(bank)
            if failed := [each for each in found if each.status == "failed"]:
                raise _failed(f"failed at {failed[0].task_type}{_why(failed)}")
            if not (under_way := [each for each in found if each.status in _UNDER_WAY]):
                if count := await self._unconsolidated(bank):
                    raise _failed(f"could not consolidate {count} fact(s), see its server's log")
                self._busy.remove(bank)
            elif not await patience.lasts():
                raise self.impatient(f"Hindsight did not finish {under_way[0].task_type}", _why(under_way))

    async def _operations(self, bank: str) -> list[Any]:
        """Return Hindsight's newest work on a bank, if that exists."""
        listed = self._client.operations.list_operations
        found = await self._call(lambda: listed(bank, limit=_PAGE, **self._limits), unless=404)
        return [] if found is None else list(found.operations)

    async def _unconsolidated(self, bank: str) -> int:
        """Return of how many facts Hindsight has tried in vain to make observations."""
        listed = self._client.alist_memories
        found = await self._call(lambda: listed(bank, limit=1, consolidation_state="failed"), unless=404)
        return 0 if found is None else int(found.total)

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        """Delete the facts of all later turns, and of one that was interrupted."""
        begun = self._ledger.begun
        count = sum(begun is None or each.turn < begun for each in self._ledger.heard[: len(turns)])
        gone = {each.turn for each in self._ledger.heard[count:]} | (set() if begun is None else {begun})
        for bank in self._banks():
            for number in sorted(gone):
                await self._delete(bank, number)
        self._ledger.cut(count)
        return count

    async def resumed(self, turns: Sequence[Turn]) -> None:
        """Have Hindsight repeat what it failed at; it may still be at work, too."""
        self._busy = set(self._banks())
        self._now = turns[-1].message.at if turns else None
        operations, banks = self._client.operations, self._client.banks
        for bank in self._banks():
            for each in await self._operations(bank):
                if each.status == "failed":
                    retry = partial(operations.retry_operation, bank, each.id, **self._limits)
                    await self._call(retry, unless=409)  # it no longer is
            if await self._unconsolidated(bank):
                await self._call(partial(banks.recover_consolidation, bank, **self._limits))
                await self._call(partial(banks.trigger_consolidation, bank, **self._limits))

    # What it knows

    def query(self, message: Message) -> str:
        """Search for what a message asks, if it asks anything."""
        self._now = message.at
        return super().query(message)

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the facts and observations that Hindsight recalls for a user."""
        if not (query := sendable(query).strip()) or user not in self._users():
            return []
        now = None if self._now is None else self._now.isoformat()
        recall = partial(self._client.arecall, self._bank(user), query, query_timestamp=now, **self._recall)
        found = await self._call(recall)
        facts = [_memory(each, user) for each in found.results]
        known = [
            Memory(f"{name}: {each.text}", aware_time(each.mentioned_at), user=user)
            for name, entity in (found.entities or {}).items()
            for each in entity.observations
        ]
        source = {each.chunk_id: fact for each, fact in zip(found.results, facts, strict=True)}
        said = [
            replace(source[name], text=chunk.text, id=name)
            for name, chunk in (found.chunks or {}).items()
            if name in source
        ]
        return [*facts, *known, *said][:limit]

    async def _listed(self, user: str | None) -> list[Any]:
        """Return all facts and observations of a user."""
        bank, rows = self._bank(user), list[Any]()
        while True:
            page = await self._call(partial(self._client.alist_memories, bank, limit=_PAGE, offset=len(rows)))
            rows += page.items
            if not page.items or len(rows) >= page.total:
                return rows

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over all facts and observations of all users."""
        await self.settle()
        for user in self._users():
            for each in await self._listed(user):
                yield _memory(each, user)

    async def forget(self, query: str) -> int:
        """Delete the facts and observations about something.

        Hindsight deletes whole documents, with all that it made of them. Where only the reply was about it, the message
        is told again.
        """
        await self.settle()
        count, cut = 0, list[HeardTurn]()
        for user in self._users():
            rows = await self._listed(user)
            about = [each for each in rows if is_about(each.text, query)]
            count += len(about)
            sources = {one for each in about for one in (each.id, *(each.source_memory_ids or ()))}
            gone = {each.document_id for each in rows if each.id in sources}
            cut += [
                each
                for each in self._ledger.heard
                if each.data["user"] == user
                and (_document(each.turn) in gone or halves_about(each.data["said"], query))
            ]
        if not cut:
            return count
        # Both halves of a turn that says nothing about it, but that something about it was made of.
        halves = {each.turn: halves_about(each.data["said"], query) or (0, 1) for each in cut}
        self._forgotten.add((each.said, half) for each in cut for half in halves[each.turn])
        # If we are killed now, a resumed run tells everything from there again, without what is left out.
        self._ledger.begin(min(halves))
        for each in cut:
            data, gone_halves = each.data, halves[each.turn]
            data["said"] = ["" if half in gone_halves else text for half, text in enumerate(data["said"])]
            await self._delete(self._bank(data["user"]), each.turn)
            await self._tell(each.turn, data)
        self._ledger.cut(len(self._ledger.heard))  # rewritten
        await self.settle()
        return count

    async def examine(self) -> Sequence[Finding]:
        """Ask whether the client is installed, and whether the server answers."""
        package = installed("hindsight", "hindsight-client")
        if not package.ok:
            return [package]
        client = self._connect(EXAMINING)
        try:
            with self.endpoint.explaining():
                found = await client.aget_version()
        except AgentError as error:
            return [package, Finding(False, str(error))]
        finally:
            await client.aclose()
        return [package, Finding(True, f"the server is Hindsight {found.api_version}")]

    async def close(self) -> None:
        """Close the connections. The banks stay on the server, so that the run can be resumed."""
        await super().close()
        if self._client is not None:
            await self._client.aclose()


def _document(number: int) -> str:
    return f"turn-{number}"


def _memory(found: Any, user: str | None) -> Memory:
    _, _, number = (found.document_id or "").partition("turn-")
    return Memory(
        found.text,
        aware_time(found.mentioned_at),
        int(number) if number.isdecimal() else None,
        id=found.id,
        user=user,
    )


def _status(error: Exception) -> int:
    status = getattr(error, "status", None)
    return status if isinstance(status, int) else 0


def _again(error: Exception) -> Again | None:
    """Whether a request may be repeated: after a status that passes, and after a failed connection."""
    if passing(_status(error)):
        after = (getattr(error, "headers", None) or {}).get("Retry-After", "")
        return Again(float(after) if after.isdecimal() else None)
    lost = need("hindsight", "aiohttp").ClientConnectionError  # it comes with the client
    return Again() if isinstance(error, lost | TimeoutError) else None


def _failed(why: str) -> AgentError:
    return AgentError(f"Hindsight {why}; resume the run later, to have it tried again")


def _why(operations: Sequence[Any]) -> str:
    """Return why the first of these failed that says so."""
    said = next((each.error_message for each in operations if each.error_message), "")
    return f" ({scrubbed(' '.join(said.split()))[:200]})" if said else ""
