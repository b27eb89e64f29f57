"""Almanac: keeps every turn in passages, finds the nearest ones by vector, and quotes the best."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ltm_bench import Agent, AgentError, CannotResume, Finding, Finish, Memory, Message, Reply, Turn, Usage
from ltm_bench.adapters import (
    ConfigError,
    Found,
    Passage,
    Retrieval,
    Shelf,
    SqliteStore,
    State,
    at_least,
    extractive,
    hashing,
    is_local,
    operating,
    sendable,
    split_turn,
    user_folder,
)


class Almanac(Agent):
    """Settings are keyword arguments with defaults; they come from configs/agents.toml and from -A key=value."""

    free = True
    forks = "snapshot"
    keeps_users = True

    def __init__(
        self, *, memories: int = 20, retrieval: Retrieval = "hybrid", embedder: str = "local"
    ) -> None:
        at_least("almanac", memories=(memories, 1))
        if not is_local(embedder):
            raise ConfigError(f"almanac: embedder = {embedder!r} costs money; use 'local'")
        self._limit, self._retrieval = memories, retrieval
        self._shelves: dict[str | None, Shelf] = {}
        self._restored = False

    async def open(self, home: Path) -> None:
        self._home = home

    async def close(self) -> None:
        for shelf in self._shelves.values():
            shelf.close()

    async def reply(self, message: Message) -> Reply:
        answer = await self.fork(message)
        reply = await answer()
        await self.observe(Turn(message, reply))
        return reply

    async def observe(self, turn: Turn) -> None:
        await self._ready()
        shelf = self._shelf(turn.message.user)
        if not split_turn(turn):
            raise AgentError(f"turn {turn.message.turn} has no text")
        shelf.remember(turn)
        with operating("write") as done:
            late: Sequence[Passage] = shelf.take_late()
            shelf.add(late, self._embed(late))
            done.used(Usage(uncached=0))

    async def _ready(self) -> None:
        if not self._restored:
            await self.restore(())

    async def restore(self, turns: Iterable[Turn]) -> None:
        said = 0
        for turn in turns:
            if turn.message.turn < said:
                raise CannotResume("the log goes backwards")
            self._shelf(turn.message.user).replay(turn)
            said = turn.message.turn + 1
        for shelf in self._shelves.values():
            missing = shelf.missing(said)
            shelf.restored(missing, self._embed(missing))
        self._restored = True

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        await self._ready()
        state = self._shelf(message.user).state()

        async def answer() -> Reply:
            with operating("retrieve"):
                found = self._found(message.text, state, self._limit)
            if not extractive.question_in(message.text):
                return Reply("Noted.", finish=Finish.STOP)
            return Reply(extractive.answer(message, [each.passage for each in found]))

        return answer

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        found = [
            Memory(each.passage.text, each.passage.at, each.passage.turn, each.score, user=user)
            for user, shelf in self._shelves.items()
            for each in self._found(query, shelf.state(), limit)
        ]
        return sorted(found, key=lambda memory: -(memory.relevance or 0))[:limit]

    async def memories(self) -> AsyncIterator[Memory]:
        for user, shelf in self._shelves.items():
            for memory in shelf.memories(user):
                yield memory

    async def forget(self, query: str) -> int:
        return sum(shelf.forget(query) for shelf in self._shelves.values())

    async def examine(self) -> Sequence[Finding]:
        return [Finding(True, "the store needs no server")]

    def _found(self, query: str, state: State, limit: int) -> list[Found]:
        return state.nearest(query, hashing.embed([sendable(query)])[0], limit)

    def _embed(self, passages: Sequence[Passage]) -> Any:
        return hashing.embed([passage.text for passage in passages])

    def _shelf(self, user: str | None) -> Shelf:
        if user not in self._shelves:
            home = self._home if user is None else user_folder(self._home, user)
            store = SqliteStore(hashing.NAME)
            self._shelves[user] = Shelf(home, store, recent=4, retrieval=self._retrieval, pad=None)
            if self._restored:  # leftovers of an abandoned conversation
                self._shelves[user].restored(self._shelves[user].missing(0), ())
        return self._shelves[user]
