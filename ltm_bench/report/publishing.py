"""Writes what is derived from a run's log: verdicts.jsonl, results.json, report.html and transcript.html.

The log is read once: the transcript is written while the results are summed. Whoever asks judges does so between
`read_to_publish` and `Publication.publish`, so that their answers reach pages which are written once.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import is_ordinary
from ltm_bench.core.messages import Verdict
from ltm_bench.log.lines import to_line
from ltm_bench.plan.scenarios import About
from ltm_bench.report.page import render_page
from ltm_bench.report.transcript import TranscriptWriter
from ltm_bench.score.audits.judgements import Place
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.files import RunFiles
from ltm_bench.score.results.fold import Fold, TurnListener
from ltm_bench.score.results.remarks import JudgeNote
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.scoring import results_of
from ltm_bench.score.results.stored import SUMS

if TYPE_CHECKING:
    from ltm_bench.judge.opinions import Calibration


class Publication:
    """A run that has been read, and is still to be published: until then, judges may change its verdicts."""

    def __init__(self, fold: Fold, writer: TranscriptWriter) -> None:
        self.fold = fold
        self._writer = writer

    def publish(self, about: Mapping[str, About], references: Mapping[str, float]) -> Results:
        """Write everything that is derived from the log.

        Args:
            about: Descriptions of the scenarios.
            references: Scores of baseline and oracle on the same examples.
        """
        run, manifest = self.fold.files.folder, self.fold.files.manifest
        results = results_of(self.fold, about=about, references=references)
        results = _with_calibrations(results, run.parent)
        self._writer.finish(results)
        replace_file(run / "verdicts.jsonl", b"".join(_verdict_lines(results)))
        replace_file(run / "report.html", render_page(results, manifest).encode("utf-8", "replace"))
        replace_file(run / "results.json", _json(results))  # last: where it is right, so are the pages
        (run / SUMS).unlink(missing_ok=True)  # of a bundle whose files these were
        return results


@contextmanager
def read_to_publish(
    files: RunFiles,
    *,
    verdicts: Mapping[Place, Verdict] | None = None,
    background: TurnListener | None = None,
) -> Iterator[Publication]:
    """Read a run, and write its transcript as far as its verdicts are final.

    Args:
        files: The run.
        verdicts: Known verdicts of today's matchers, by example and turn; the others are computed.
        background: Gets every turn, if judges are to be asked.

    Raises:
        LogError: The log is damaged.
        ConfigError: A file cannot be written.
    """
    run = files.folder
    judged = background is not None
    try:
        with TranscriptWriter(run / "transcript.html", files.manifest, judged=judged) as writer:
            listeners = (writer,) if background is None else (writer, background)
            yield Publication(Fold(files, verdicts=verdicts, explain=True, listeners=listeners), writer)
    except OSError as error:
        place = error.filename or run
        raise ConfigError(
            f"{place}: cannot be written: {error.strerror or error}; the log is unharmed; make room or make it "
            f"writable, then write the pages with `ltm-bench report {run.name}`"
        ) from error


def _verdict_lines(results: Results) -> list[bytes]:
    return [
        to_line(
            {"example": example.id, "turn": question.turn, "scorer": question.scorer}
            | asdict(question.verdict)
            | _said_besides(question)
        )
        for example in results.examples
        for question in example.questions
    ]


def _said_besides(question: Question) -> dict[str, Any]:
    """Return what readers, judges and people say of a reply."""
    besides: dict[str, Any] = {}
    if question.matched is not None:
        besides["matcher"] = question.matched.value
    if question.reading is not None:
        besides["reading"] = question.reading.model_dump(mode="json")
    if question.opinions:
        besides["opinions"] = [opinion.model_dump(mode="json") for opinion in question.opinions]
    if question.override is not None:
        besides["override"] = question.override.model_dump(mode="json")
    return besides


def _with_calibrations(results: Results, reports: Path) -> Results:
    """Add the last calibration of a run's judges."""
    if not results.judges:  # nearly always
        return results
    from ltm_bench.judge.opinions import FILE, OpinionStore

    if not (reports / FILE).exists():  # SQLite would create it
        return results
    with OpinionStore(reports / FILE) as memory:
        notes = [_calibrated(note, memory.calibration(note.key)) for note in results.judges]
    return results.model_copy(update={"judges": notes})


def _calibrated(note: JudgeNote, found: "Calibration | None") -> JudgeNote:
    if found is None:
        return note
    changes: dict[str, Any] = {
        name: getattr(found, name) for name in ("sensitivity", "specificity", "believed")
    }
    vague = found.kinds.get("vague")
    if note.false_accepts is None and vague is not None and vague.n:
        changes |= {"vague": vague.n, "false_accepts": vague.accepted / vague.n}
    return note.model_copy(update=changes)


def _json(results: Results) -> bytes:
    content = results.model_dump(mode="python")
    return json.dumps(content, indent=1, ensure_ascii=True, default=str).encode() + b"\n"


def replace_file(path: Path, content: bytes) -> None:
    """Write a derived file atomically. Raises ConfigError, also instead of replacing a device or a pipe."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a derived file, to be replaced when the block ends without an error. Raises ConfigError as above."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")  # another process may write one, too
    try:
        if path.exists() and not is_ordinary(path):
            raise ConfigError(
                f"{path}: it is not an ordinary file, and is not replaced; move it away, or name another"
            )
        with draft.open("wb") as file:
            yield file
        draft.replace(path)
    except OSError as error:
        said = f"{path}: cannot be written: {error.strerror or error}; make room or make it writable"
        raise ConfigError(said) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
