"""A run's folder, of which every file is opened once, however much is derived from it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from ltm_bench.log.asked import Asked, read_asked
from ltm_bench.log.controls import Control, LadderLog, read_controls, read_ladder
from ltm_bench.log.environment import begun_in, environment_of
from ltm_bench.log.gateway import GatewayCalls, read_gateway
from ltm_bench.log.lines import records
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import EventReader, conversations
from ltm_bench.score.audits.judgements import (
    BlindReading,
    Judgement,
    Override,
    Place,
    VagueTrial,
    blind_readings,
    judgements,
    ratings,
    vague_trials,
)
from ltm_bench.score.audits.records import Records, read_records
from ltm_bench.score.results.timings import Timings


class RunFiles:
    """The files of a run, to be read inside a `with` block: what one of them says is kept for whoever asks next.

    Args:
        folder: The run folder.
        manifest: Its manifest, if that is known.
    """

    def __init__(self, folder: Path, manifest: Manifest | None = None) -> None:
        self.folder = folder
        self.log = EventReader(folder / "events.jsonl")
        self._manifest = manifest

    def __enter__(self) -> Self:
        self.log.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.log.__exit__()

    @cached_property
    def manifest(self) -> Manifest:
        """The run's manifest. Raises LogError."""
        return self._manifest or self.log.manifest()

    def conversations(self) -> Iterator[EventReader]:
        """Yield the log of each conversation: the run's own or, in an isolated run, one for each example."""
        if not self.manifest.suite.isolated:
            yield self.log
            return
        for path in conversations(self.folder, self.manifest):
            with EventReader(path) as reader:
                yield reader

    @cached_property
    def environment(self) -> Mapping[str, Any]:
        """Where and when the run ran."""
        return environment_of(self.folder)

    @property
    def begun(self) -> datetime | None:
        """When it was started first, whose prices apply; None if not recorded."""
        return begun_in(self.environment)

    @cached_property
    def timings(self) -> Timings:
        """How long its replies and operations took."""
        return Timings(records(self.folder / "timings.jsonl"), self.begun)

    @cached_property
    def gateway(self) -> GatewayCalls:
        """The agent's own calls, as far as a gateway saw them."""
        return read_gateway(self.folder)

    @cached_property
    def controls(self) -> Mapping[str, Control]:
        """What was replied in its controls, by kind. Raises LogError."""
        return read_controls(self.folder)

    @cached_property
    def ladder(self) -> LadderLog | None:
        """What was replied when missed questions were asked again. Raises LogError."""
        return read_ladder(self.folder)

    @property
    def unasked(self) -> list[str]:
        """The controls, and the ladder, that were asked for and have not begun. Raises LogError."""
        asked = read_asked(self.folder) or Asked()
        ladder = ["ladder"] if asked.ladder and self.ladder is None else []
        return [*(kind for kind in asked.controls if kind not in self.controls), *ladder]

    @cached_property
    def judgements(self) -> Mapping[Place, Judgement]:
        """The judges' opinions on its replies. Raises LogError."""
        return judgements(self.folder)

    @cached_property
    def blind(self) -> Mapping[Place, BlindReading]:
        """What a blind reader read of its replies. Raises LogError."""
        return blind_readings(self.folder)

    @cached_property
    def ratings(self) -> Mapping[Place, Mapping[str, Override]]:
        """The verdicts by hand, by reviewer. Raises LogError."""
        return ratings(self.folder)

    @cached_property
    def vague(self) -> Sequence[VagueTrial]:
        """The judges' opinions on deliberately vague, wrong replies. Raises LogError."""
        return vague_trials(self.folder)

    @cached_property
    def audits(self) -> Records:
        """What auditors were commissioned to read, and have read. Raises LogError."""
        return read_records(self.folder)
