"""From a folder of bundles to entries: each bundle is unpacked, verified and scored here, or refused with a reason.

A bundle's stated score is checked, never trusted: an entry's figures come from its log, by the scorers of this version,
so that all entries are measured alike.

Seeds are drawn after an agent was submitted, so that it cannot have been prepared for them. The
keeper of a board draws a seed for a bundle's agent. The adapter's content and its settings are recorded with the seed
and the day; a run counts as drawn if all of them match, and if it did not start before that day.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from ltm_bench.core.errors import ConfigError, LtmBenchError, NotVerified, first_problem
from ltm_bench.core.seeds import Seed, is_training
from ltm_bench.export.bundle import Siblings, read_siblings, unpack
from ltm_bench.export.verify import Verified, questions_of, verify
from ltm_bench.log.manifest import IMPORTED, AgentEntry, Manifest
from ltm_bench.plan.scenarios import abouts
from ltm_bench.plan.tables import read_toml
from ltm_bench.report.page import started_on
from ltm_bench.report.publishing import read_to_publish
from ltm_bench.report.words import counted
from ltm_bench.score.results.files import RunFiles
from ltm_bench.score.results.remarks import JudgeNote
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.stored import PAGES

DRAWN = "drawn.toml"
"""The file beside the bundles that records which seed was drawn for which agent, and when."""

HIGHEST = 2**31


class DrawnSeed(BaseModel, frozen=True, extra="forbid"):
    """A seed that was drawn for an agent."""

    agent: str
    """Its name, for readers."""
    handed_in: str = Field(pattern="^[0-9a-f]{64}$")
    """The agent's identity: see `identity`."""
    seed: int = Field(ge=0, lt=HIGHEST)
    on: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    """The day, in UTC."""

    @property
    def toml(self) -> str:
        """The draw as a table of `DRAWN`; texts are written as JSON, which TOML reads."""
        lines = [f"{name} = {json.dumps(value)}" for name, value in self.model_dump().items()]
        return "\n".join(["[[drawn]]", *lines]) + "\n"


def identity(agent: AgentEntry) -> str:
    """Return a hash of an agent's identity: its adapter, the adapter's content, and its settings."""
    content = [agent.adapter, agent.hash, agent.settings]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def draws(folder: Path) -> Mapping[tuple[str, Seed], DrawnSeed]:
    """Return what was drawn, by agent and seed; nothing if the folder has no such file. Raises ConfigError."""
    path = folder / DRAWN
    if not path.exists():
        return {}
    found: dict[tuple[str, Seed], DrawnSeed] = {}
    rows = read_toml(path).get("drawn", [])
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
        try:
            draw = DrawnSeed.model_validate(row)
        except ValidationError as error:
            raise ConfigError(f"{path}: drawn {number}: {first_problem(error)}") from error
        found[draw.handed_in, draw.seed] = draw
    return found


class BoardEntry(NamedTuple):
    """A bundle that was verified."""

    name: str
    """Unique among entries; letters, digits, `.`, `_` and `-` only, so a valid folder name on any system."""
    file: str
    """The bundle's."""
    digest: str
    """SHA-256 of the bundle."""
    manifest: Manifest
    results: Results
    """As this version scores the log."""
    stated: float | None
    """The score stated in the bundle."""
    retold: int
    """Number of examples whose scripts reproduce the log."""
    changed_scorers: Mapping[str, str]
    """Scorers of other versions behind the bundle's own verdicts, and today's."""
    pages: Mapping[str, bytes]
    """The run's pages by name, written here from its log: those in the bundle are ignored."""
    siblings: Siblings | None = None
    """What the bundle says of other runs beside it, which proves nothing about runs elsewhere; None for nothing."""
    drawn_on: str | None = None
    """The day on which its seed was drawn, after the agent was submitted; None if it was not drawn."""

    @property
    def historical(self) -> bool:
        """Whether it was imported, so that the run cannot be checked."""
        return self.manifest.agent.adapter == IMPORTED

    @property
    def run_on(self) -> str | None:
        """The day, in UTC, on which the bundle says that it was run."""
        return started_on(self.results.environment)


class Refusal(NamedTuple):
    """A bundle that was refused."""

    file: str
    reason: str


def is_of_board(name: str) -> bool:
    """Whether a file in a folder of bundles, by its path there, is one of them or says which seeds were drawn."""
    return "/" not in name and (name.endswith(".zip") or name == DRAWN)


def read_bundles(folder: Path) -> Iterator[BoardEntry | Refusal]:
    """Yield an entry or a refusal for every bundle in a folder, by name.

    Raises:
        ConfigError: There is no such folder, or no bundle in it.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"{folder}: there is no such folder; name one that holds bundles (ltm-bench bundle)"
        )
    bundles = sorted(path for path in folder.iterdir() if path.suffix == ".zip")
    if not bundles:
        raise ConfigError(f"{folder}: it has no bundle; make some with `ltm-bench bundle RUN -o FILE.zip`")
    seen: dict[str, str] = {}
    drawn = draws(folder)
    for bundle in bundles:
        try:
            entry = _read(bundle)
        except (LtmBenchError, OSError) as error:
            yield Refusal(bundle.name, str(error).replace(f"{folder}/", "").replace(f"{folder}\\", ""))
            continue
        earlier = seen.setdefault(entry.results.log, bundle.name)
        if earlier != bundle.name:
            yield Refusal(
                bundle.name, f"its event log is that of {earlier}, to the byte: one run counts once"
            )
        else:
            yield _with_draw(entry, drawn)


def _with_draw(entry: BoardEntry, drawn: Mapping[tuple[str, Seed], DrawnSeed]) -> BoardEntry:
    """Mark an entry's seed as drawn, if it was and the run did not begin earlier."""
    draw = drawn.get((identity(entry.manifest.agent), entry.results.seed))
    if draw is None or (entry.run_on or "") < draw.on:
        return entry
    return entry._replace(drawn_on=draw.on)


def _read(bundle: Path) -> BoardEntry:
    """Verify and score one bundle. Raises LtmBenchError with the reason for which it is refused."""
    with bundle.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with tempfile.TemporaryDirectory() as place:
        run = unpack(bundle, Path(place))
        found = verify(run)
        stated = found.results
        if not stated.complete:
            raise NotVerified(
                f"{run.name}: incomplete ({counted(stated.outcomes)}), so it has no score; resume "
                "it, and bundle it again"
            )
        with RunFiles(run) as files, read_to_publish(files) as publication:
            manifest = files.manifest
            fresh = publication.publish(abouts(manifest), stated.references)
        if is_training(manifest.seed):
            raise NotVerified(
                f"{run.name}: {manifest.seed} is a training seed, on which an agent may have been trained; run it with "
                "a number as its seed"
            )
        _check_verdicts(run.name, found, fresh)
        return BoardEntry(
            name=f"{re.sub('[^A-Za-z0-9._-]+', '-', run.name).strip('.-')[:60] or 'run'}-{digest[:8]}",
            file=bundle.name,
            digest=digest,
            manifest=manifest,
            results=fresh.model_copy(update={"judges": _with_calibrations(fresh.judges, stated.judges)}),
            stated=stated.score,
            retold=found.retold,
            changed_scorers=found.changed_scorers,
            siblings=read_siblings(run),
            pages={name: (run / name).read_bytes() for name in PAGES},
        )


def _with_calibrations(judges: Sequence[JudgeNote], stated: Sequence[JudgeNote]) -> list[JudgeNote]:
    """Take the judges' calibration from a bundle, since its log does not have it."""
    calibrated = ("sensitivity", "specificity", "believed")
    known = {note.key: {name: getattr(note, name) for name in calibrated} for note in stated}
    return [note.model_copy(update=known.get(note.key, {})) for note in judges]


def _check_verdicts(run: str, stated: Verified, fresh: Results) -> None:
    """Raise NotVerified if a scorer of the same version gives a different verdict on the same reply."""
    ours = dict(questions_of(fresh))
    for place, question in questions_of(stated.results):
        mine = ours.get(place)
        if mine is None or mine.scorer != question.scorer:
            continue
        if (mine.outcome, mine.score) != (question.outcome, question.score):
            raise NotVerified(
                f"{run}: {place}: the bundle says {question.outcome}, {question.scorer} says "
                f"{mine.outcome} of the same reply: the verdict was changed"
            )
