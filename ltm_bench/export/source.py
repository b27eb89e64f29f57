"""What an export format is given. This is the only place in the formats that reads a run's folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ltm_bench.core.messages import Turn
from ltm_bench.log.environment import begun_at
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.score.results import Results


@dataclass(frozen=True)
class Source:
    """A scored run."""

    folder: Path
    results: Results
    manifest: Manifest
    started: datetime | None
    """When the run was started, by the wall clock; None where that is unknown."""

    def turns(self) -> Iterator[Turn]:
        """Yield the answered turns from the event log, conversation by conversation. Raises LogError."""
        for path in conversations(self.folder, self.manifest):
            yield from read_turns(path, forks=True)


def source_of(folder: Path, results: Results) -> Source:
    """Return what a run has to export.

    Args:
        folder: The run folder.
        results: Of the same run.

    Raises:
        LogError: The folder has no manifest, or one that cannot be read.
    """
    return Source(folder, results, read_manifest(folder), begun_at(folder))
