"""The input of an export format, and the only part of the formats that reads a run's folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.messages import Turn
from ltm_bench.core.pricing import total
from ltm_bench.log.environment import begun_in
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.timings import side_of


class Timed(NamedTuple):
    """A turn, how long its reply took, and what it cost."""

    turn: Turn
    seconds: float | None
    """Wall-clock seconds; None if a script replied, or if not measured."""
    dollars: Decimal | None = None
    """None if a price is unknown."""


@dataclass(frozen=True)
class Source:
    """A scored run."""

    folder: Path
    results: Results
    manifest: Manifest
    started: datetime | None
    """When the run was started, by the wall clock; None if unknown."""

    def turns(self) -> Iterator[Timed]:
        """Yield the answered turns from the event log, conversation by conversation. Raises LogError."""
        timings, kept = side_of(self.folder, self.started)
        for path in conversations(self.folder, self.manifest):
            name = path.stem if self.manifest.suite.isolated else None
            of_turn = timings.seconds(name)
            for turn in read_turns(path, forks=True):
                every = kept.take_reply((name, turn.message.turn), turn.reply.usage, self.started)
                yield Timed(turn, of_turn.get(turn.message.turn), total(each.price for each in every))


def source_of(folder: Path, results: Results, manifest: Manifest | None = None) -> Source:
    """Return a run's data for export.

    Args:
        folder: The run folder.
        results: The same run's results.
        manifest: Its manifest, if that has been read.

    Raises:
        LogError: The folder has no manifest, or one that cannot be read.
    """
    return Source(folder, results, manifest or read_manifest(folder), begun_in(results.environment))
