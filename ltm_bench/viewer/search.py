"""Where words occur in the transcript of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.messages import Turn
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.report.anchors import anchor

CONTEXT = 300
"""Characters of a text that are shown around the words."""


class Hit(NamedTuple):
    """A turn in which the words occur."""

    anchor: str
    """Of the turn in the transcript."""
    turn: int
    who: str
    """The example that it belongs to, or `filler`."""
    message: str
    reply: str


def search(run: Path, words: str) -> Iterator[Hit]:
    """Yield the turns of a run whose message or reply contains some words, ignoring case.

    Args:
        run: The run folder.
        words: Exactly as they must occur.

    Raises:
        LogError: The log is damaged.
    """
    wanted = words.casefold()
    isolated = read_manifest(run).suite.isolated
    for path in conversations(run):
        for turn in read_turns(path, forks=True):
            if wanted in turn.message.text.casefold() or wanted in turn.reply.text.casefold():
                yield _hit(turn, wanted, isolated=isolated)


def _hit(turn: Turn, wanted: str, *, isolated: bool) -> Hit:
    example = turn.example or ""
    return Hit(
        anchor(turn.message.turn, example, isolated=isolated),
        turn.message.turn,
        example or "filler",
        _around(turn.message.text, wanted),
        _around(turn.reply.text, wanted),
    )


def _around(text: str, wanted: str) -> str:
    """Cut a long text to what surrounds the words."""
    start = max(0, text.casefold().find(wanted) - CONTEXT // 2)
    end = start + CONTEXT
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
