"""Rolodex: stands for a memory product: it keeps cards in its own file, and another model answers from them."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from ltm_bench import CannotResume, Finding, Memory, Turn, Usage
from ltm_bench.adapters import (
    MemoryProduct,
    aware_time,
    counter,
    fingerprint,
    is_about,
    json_of,
    sendable,
    write_whole,
)


class Rolodex(MemoryProduct):
    """Keeps a card for every turn.

    Args:
        core: The adapter that answers and its model, e.g. `openai:gpt-6-luna`.
        base_url: The API of the core's model; default: the provider's.
        memories: Number of cards recalled per message.
        recent: Number of newest turns that the core sees verbatim.
        window: Tokens of the core's prompt, without its reply.
        timeout: Seconds to wait for one answer of the core.
        max_retries: Retries of a failed request of the core.
    """

    keeps_users = True

    def __init__(
        self,
        *,
        core: str,
        base_url: str | None = None,
        memories: int = 10,
        recent: int = 4,
        window: int = 8192,
        timeout: float = 120.0,
        max_retries: int = 4,
    ) -> None:
        super().__init__(
            None,
            core=core,
            core_settings={"base_url": base_url, "timeout": timeout, "max_retries": max_retries},
            memories=memories,
            recent=recent,
            window=window,
        )
        self._cards: list[dict[str, object]] = []

    async def open(self, home: Path) -> None:
        await super().open(home)
        self._path = home / "cards.json"
        if self._path.exists():
            self._cards = json_of(self._path.read_text("utf-8"))

    async def hear(self, turn: Turn) -> None:
        said = turn.message
        self._ledger.begin(said.turn)
        text = sendable(f"{said.text} / {turn.reply.text}")
        card = {"text": text, "at": said.at.isoformat(), "turn": said.turn, "user": said.user}
        self._cards.append({**card, "id": fingerprint(turn)})
        self._tally.add(Usage(uncached=counter().count(text)))
        self._save()
        self._ledger.finish(turn, self._tally.turn())

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        kept = {fingerprint(turn) for turn in turns}
        if len(kept) > len(self._ledger.heard):
            raise CannotResume("the ledger has lost turns")
        self._cards = [card for card in self._cards if card["id"] in kept]
        self._save()
        self._ledger.cut(len(turns))
        return len(turns)

    async def resumed(self, turns: Sequence[Turn]) -> None:
        self._tally.owe(turns, [heard.data for heard in self._ledger.heard])

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        words = set(query.lower().split())
        own = [self._memory(card) for card in self._cards if card["user"] == user]
        return sorted(own, key=lambda each: -len(words & set(each.text.lower().split())))[:limit]

    async def memories(self) -> AsyncIterator[Memory]:
        for card in list(self._cards):
            yield self._memory(card)

    async def forget(self, query: str) -> int:
        left = [card for card in self._cards if not is_about(str(card["text"]), query)]
        gone, self._cards = len(self._cards) - len(left), left
        self._save()
        return gone

    def billed(self, usage: Usage | None) -> Usage | None:
        return super().billed(self._tally.settle(usage))

    def billed_apart(self) -> Callable[[Usage | None], Usage | None]:
        return self._tally.apart()

    async def examine(self) -> Sequence[Finding]:
        return [Finding(True, "the cards need no server")]

    def _memory(self, card: dict[str, object]) -> Memory:
        user, turn = card["user"], card["turn"]
        return Memory(
            str(card["text"]),
            aware_time(str(card["at"])),
            turn if isinstance(turn, int) else None,
            id=str(card["id"]),
            user=None if user is None else str(user),
        )

    def _save(self) -> None:
        write_whole(self._path, json.dumps(self._cards))
