"""A conversation with a durable agent begins with `restore`, and what only the agent knows cannot be told again."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ltm_bench import CannotResume, Turn
from ltm_bench.adapters import DurableAgent, require_scripted

if TYPE_CHECKING:
    from tests.memories import turn
else:
    from memories import turn


class Book(DurableAgent):
    def __init__(self) -> None:
        self.restorations: list[list[Turn]] = []

    async def restore(self, turns: Iterable[Turn]) -> None:
        self.restorations.append(list(turns))
        self._restored = True

    async def observe(self, turn: Turn) -> None:
        await self._ready()


def test_a_new_conversation_is_restored_to_nothing_once() -> None:
    book = Book()
    asyncio.run(book.observe(turn(0, "Hello!")))
    asyncio.run(book.observe(turn(1, "Hello!")))
    assert book.restorations == [[]]


def test_a_resumed_conversation_is_not_restored_again() -> None:
    book = Book()
    asyncio.run(book.restore([turn(0, "Hello!")]))
    asyncio.run(book.observe(turn(1, "Hello!")))
    assert book.restorations == [[turn(0, "Hello!")]]


def test_only_what_a_script_answered_can_be_told_again() -> None:
    scripted = replace(turn(0, "Hello!"), answered="script")
    require_scripted([scripted], "its notes are missing")
    with pytest.raises(CannotResume, match=r"^its notes are missing; start the run again, with --fresh$"):
        require_scripted([scripted, turn(1, "Hello!")], "its notes are missing")
