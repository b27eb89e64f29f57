"""Where a conversation's requests tell the provider to cache, and which requests wait for another one's entry.

Anthropic caches a prompt up to each block that the request marks, and nowhere else. A later request finds that entry
from a mark of its own, at the same block or up to 20 blocks after it, once the request that writes it is being
answered (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). So

- a reply's request marks its newest message, with which the next prompts begin;
- a forked question's request marks the end of the history, because no other prompt contains the question;
- a request also marks where the newest entry is, if that is too far back to be found otherwise;
- a request waits while another one writes much of its prompt: of many questions at one place, the first goes alone.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from ltm_bench.adapters.window import Prompt, SentTurn

_NEAR = 8
"""Exchanges after an entry from which a mark still finds it: 20 blocks, two for each exchange."""

WORTH_WAITING = 256
"""Tokens from which a request waits for another one to write them."""

_ENTRIES = 8
"""Entries remembered: the newest of several users' conversations."""


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """A prefix that a request has the provider cache."""

    first: SentTurn | None
    last: SentTurn | None
    exchanges: int
    message: str | None
    """The message after those exchanges; None if the entry ends before it."""
    tokens: int

    def begins(self, prompt: Prompt) -> bool:
        """Whether a prompt begins with it."""
        history, n = prompt.history, self.exchanges
        if n > len(history) or (n and (history[0] is not self.first or history[n - 1] is not self.last)):
            return False
        return self.message in (None, history[n].message if n < len(history) else prompt.message)


def _entry(prompt: Prompt) -> _Entry:
    history = prompt.history
    first, last = (history[0], history[-1]) if history else (None, None)
    return _Entry(first, last, len(history), prompt.message if prompt.continues else None, prompt.kept)


class PromptCache:
    """What the provider has cached of a conversation, as far as this process knows."""

    def __init__(self) -> None:
        self._written: deque[_Entry] = deque(maxlen=_ENTRIES)
        self._writing: dict[_Entry, asyncio.Event] = {}

    async def wait(self, prompt: Prompt) -> None:
        """Wait until no request is writing much of this prompt."""
        while (other := self._worth_waiting_for(prompt)) is not None:
            await other.wait()

    @asynccontextmanager
    async def marked(self, prompt: Prompt) -> AsyncIterator[Prompt]:
        """Wait for other requests, and yield the prompt with its marks; after the block, the provider has its entry."""
        await self.wait(prompt)
        own, last = _entry(prompt), len(prompt.history) - 1
        marks = set() if prompt.continues else {last}
        found = self._found(prompt)
        if found is not None and last - found.exchanges > _NEAR:
            marks.add(found.exchanges - (found.message is None))
        done = self._writing[own] = asyncio.Event()
        try:
            yield replace(prompt, marks=sorted(mark for mark in marks if mark >= 0))
            others = (each for each in self._written if not each.begins(prompt))
            self._written = deque([*others, own], maxlen=_ENTRIES)
        finally:
            del self._writing[own]
            done.set()

    def _found(self, prompt: Prompt) -> _Entry | None:
        """Return the longest entry that a prompt begins with."""
        found = (each for each in self._written if each.begins(prompt))
        return max(found, key=lambda each: each.tokens, default=None)

    def _worth_waiting_for(self, prompt: Prompt) -> asyncio.Event | None:
        found = self._found(prompt)
        least = WORTH_WAITING + (0 if found is None else found.tokens)
        waits = (done for each, done in self._writing.items() if each.tokens >= least and each.begins(prompt))
        return next(waits, None)
