"""Anthropic's prompt cache by its published rules, as of November 2026.

https://platform.claude.com/docs/en/build-with-claude/prompt-caching: A request writes an entry at each of its
breakpoints, and nowhere else. It reads the longest entry that ends at a breakpoint, or up to 20 blocks before one, the
breakpoint's own block included. An entry exists once the response to the request that writes it begins, for that model
only, and only from a minimum of tokens on.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

LOOK_BACK = 20
"""Blocks that are looked up for each breakpoint."""

BREAKPOINTS = 4
"""Maximum breakpoints of a request."""


class PromptBlock(NamedTuple):
    """A part of a prompt that can be cached up to its end."""

    identity: str
    text: str
    begins: bool
    """Whether it is the first of its message, or of what follows a summary."""
    summary: bool
    """Whether it replaces all that was said before."""
    ttl: str | None
    """The lifetime of the entry to be written up to here; None if this is no breakpoint."""


def blocks_of(body: Mapping[str, Any]) -> list[PromptBlock]:
    """Return the blocks of a request, in the order of the prompt."""
    system = body.get("system") or ()
    said = [{"role": "system", "content": system}] if system else []
    found = [block for one in (*said, *body["messages"]) for block in _blocks(one, body.get("tools"))]
    summaries = [n for n, block in enumerate(found) if block.summary]
    if summaries:  # it replaces all that was said before
        found = [*(block for block in found[:1] if system), *found[summaries[-1] :]]
    if (control := body.get("cache_control")) is not None and found:
        found[-1] = found[-1]._replace(ttl=_ttl(control))
    return found


def _blocks(one: Mapping[str, Any], tools: object) -> Iterator[PromptBlock]:
    content = one["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for n, block in enumerate(blocks):
        control = block.get("cache_control")
        plain = {name: value for name, value in block.items() if name != "cache_control"}
        text = block.get("text") or block.get("content") or json.dumps(block.get("input", ""))
        yield PromptBlock(
            identity=json.dumps([tools, one["role"], plain]),
            text=text if isinstance(text, str) else json.dumps(text),
            begins=n == 0 or blocks[n - 1]["type"] == "compaction",
            summary=block["type"] == "compaction",
            ttl=None if control is None else _ttl(control),
        )


def _ttl(control: Mapping[str, str]) -> str:
    return control.get("ttl", "5m")


class Looked(NamedTuple):
    """What a request reads from the cache, and what it will write."""

    prompt: int
    """All tokens of the prompt."""
    read: int
    written: int
    for_an_hour: int
    """The part of `written` with that lifetime."""
    breakpoints: int
    entries: frozenset[bytes]


class BlockCache:
    """The entries."""

    def __init__(self) -> None:
        self._entries: set[bytes] = set()

    def look_up(self, model: str, blocks: Sequence[tuple[PromptBlock, int]], least: int) -> Looked:
        """Return what a request to a model reads and will write.

        Args:
            model: The model.
            blocks: The prompt's blocks, each with its tokens.
            least: Minimum tokens of an entry.
        """
        digest, tokens, ends = hashlib.sha256(model.encode()), 0, list[tuple[bytes, int]]()
        for block, size in blocks:
            digest.update(block.identity.encode())
            tokens += size
            ends.append((digest.digest(), tokens))
        marked = [n for n, (block, _) in enumerate(blocks) if block.ttl and ends[n][1] >= least]
        near = {at for n in marked for at in range(max(0, n - LOOK_BACK + 1), n + 1)}
        read = max((ends[n][1] for n in near if ends[n][0] in self._entries), default=0)
        stops = [(read, None), *((ends[n][1], blocks[n][0].ttl) for n in marked if ends[n][1] > read)]
        parts = [(end - start, ttl) for (start, _), (end, ttl) in pairwise(stops)]
        return Looked(
            prompt=tokens,
            read=read,
            written=stops[-1][0] - read,
            for_an_hour=sum(size for size, ttl in parts if ttl == "1h"),
            breakpoints=sum(block.ttl is not None for block, _ in blocks),
            entries=frozenset(ends[n][0] for n in marked),
        )

    def write(self, looked: Looked) -> None:
        """Add the entries of a request, whose response begins."""
        self._entries |= looked.entries
