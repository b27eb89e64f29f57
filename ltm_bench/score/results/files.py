"""A run's folder, of which every file is opened once, however much is derived from it."""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

from ltm_bench.log.asked import AskedFor, read_asked
from ltm_bench.log.calls import KeptCalls
from ltm_bench.log.controls import RUNGS, read_again
from ltm_bench.log.environment import begun_in, environment_of
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import EventReader, conversations
from ltm_bench.score.audits import judgements as judged
from ltm_bench.score.audits.records import read_records
from ltm_bench.score.results.timings import Timings, side_of

T = TypeVar("T")


def _read_by(read: Callable[[Path], T]) -> cached_property[T]:
    """Return a property that reads a run's folder, once."""
    return cached_property(lambda files: read(files.folder))


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

    environment = _read_by(environment_of)
    """Where and when the run ran."""

    @property
    def begun(self) -> datetime | None:
        """When it was started first, whose prices apply; None if not recorded."""
        return begun_in(self.environment)

    @cached_property
    def _side(self) -> tuple[Timings, KeptCalls]:
        return side_of(self.folder, self.begun)

    @property
    def timings(self) -> Timings:
        """How long its replies and operations took."""
        return self._side[0]

    @property
    def calls(self) -> KeptCalls:
        """Its calls to models."""
        return self._side[1]

    again = _read_by(read_again)
    """How its questions were asked again, by kind. Raises LogError."""

    @property
    def unasked(self) -> list[str]:
        """The controls, and the ladder, that were asked for and have not begun. Raises LogError."""
        asked = read_asked(self.folder) or AskedFor()
        ladder = ["ladder"] if asked.ladder and RUNGS.keys().isdisjoint(self.again) else []
        return [*(kind for kind in asked.controls if kind not in self.again), *ladder]

    judgements = _read_by(judged.judgements)
    """The judges' opinions on its replies. Raises LogError."""
    blind = _read_by(judged.blind_readings)
    """What a blind reader read of its replies. Raises LogError."""
    ratings = _read_by(judged.ratings)
    """The verdicts by hand, by reviewer. Raises LogError."""
    vague = _read_by(judged.vague_trials)
    """The judges' opinions on deliberately vague, wrong replies. Raises LogError."""
    audits = _read_by(read_records)
    """What auditors were commissioned to read, and have read. Raises LogError."""
