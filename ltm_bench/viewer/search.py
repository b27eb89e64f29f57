"""Searches the transcripts of runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import LtmBenchError
from ltm_bench.core.messages import Turn
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.report.anchors import anchor

CONTEXT = 300
"""Characters shown around the words."""


class Hit(NamedTuple):
    """A turn that contains the words."""

    anchor: str
    """The turn's anchor in the transcript."""
    turn: int
    who: str
    """The example that it belongs to, or `filler`."""
    message: str
    reply: str


class RunHits(NamedTuple):
    """The hits in one run."""

    run: str
    hits: list[Hit]
    all: int
    """Number of hits; `hits` may hold fewer."""
    problem: str = ""
    """Why the run could not be read to its end."""


def search_runs(runs: Sequence[Path], words: str, most: int) -> list[RunHits]:
    """Search several runs. An unreadable one reports its problem, and the others are searched.

    Args:
        runs: Their folders.
        words: The exact words; without any, nothing is found.
        most: Maximum number of hits, over all runs.
    """
    found = []
    for run in runs if words else ():
        hits: list[Hit] = []
        count, problem = 0, ""
        try:
            for hit in search(run, words):
                count += 1
                if len(hits) < most:
                    hits.append(hit)
        except (LtmBenchError, OSError, ValueError, TypeError, RecursionError, OverflowError) as error:
            problem = f"{error}"
        most -= len(hits)
        if count or problem:
            found.append(RunHits(run.name, hits, count, problem))
    return found


def search(run: Path, words: str) -> Iterator[Hit]:
    """Yield the turns of a run whose message or reply contains some words, ignoring case.

    Args:
        run: The run folder.
        words: The exact words.

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
    """Cut a long text to the words' surroundings."""
    start = max(0, text.casefold().find(wanted) - CONTEXT // 2)
    end = start + CONTEXT
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
