"""Writes what is derived from a run's log: verdicts.jsonl, results.json, report.html and transcript.html.

The log is read once: the transcript is written while the results are summed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import is_ordinary
from ltm_bench.core.messages import Verdict
from ltm_bench.log.lines import to_line
from ltm_bench.log.manifest import Manifest
from ltm_bench.plan.scenarios import About
from ltm_bench.report.page import render_page
from ltm_bench.report.transcript import TranscriptWriter
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.fold import score_run
from ltm_bench.score.results.run import Results

DERIVED = ("verdicts.jsonl", "results.json", "report.html", "transcript.html")
"""The files that `publish` writes."""


def publish(
    run: Path,
    manifest: Manifest,
    *,
    about: Mapping[str, About],
    references: Mapping[str, float],
    verdicts: Mapping[tuple[str, int], Verdict] | None = None,
) -> Results:
    """Score a run, and write everything that is derived from its log.

    Args:
        run: The run folder.
        manifest: The run's manifest.
        about: Descriptions of the scenarios.
        references: Scores of baseline and oracle on the same examples.
        verdicts: Known verdicts of today's matchers, by example and turn; the others are computed.

    Raises:
        LogError: The log is damaged.
        ConfigError: A file cannot be written.
    """
    try:
        with TranscriptWriter(run / "transcript.html", manifest) as writer:
            results = score_run(
                run,
                manifest,
                about=about,
                references=references,
                verdicts=verdicts,
                explain=True,
                listener=writer,
            )
            results = _with_calibrations(results, run.parent)
            writer.finish(results)
    except OSError as error:
        place = error.filename or run
        raise ConfigError(
            f"{place}: cannot be written: {error.strerror or error}; the log is unharmed; mend this (free some "
            f"space, say), then write the pages with `ltm-bench report {run.name}`"
        ) from error
    replace_file(run / "verdicts.jsonl", b"".join(_verdict_lines(results)))
    replace_file(run / "results.json", _json(results))
    replace_file(run / "report.html", render_page(results, manifest).encode("utf-8", "replace"))
    return results


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
    """Return the opinions of judges and people on a reply."""
    besides: dict[str, Any] = {}
    if question.matched is not None:
        besides["matcher"] = question.matched.value
    if question.opinions:
        besides["opinions"] = [opinion.model_dump(mode="json") for opinion in question.opinions]
    if question.override is not None:
        besides["override"] = question.override.model_dump(mode="json")
    return besides


def _with_calibrations(results: Results, reports: Path) -> Results:
    """Add the last calibration of a run's judges."""
    if not results.judges:
        return results
    from ltm_bench.judge.memory import FILE, Memory

    if not (reports / FILE).exists():
        return results
    memory = Memory(reports / FILE)
    try:
        known = {note.key: memory.calibration(note.key) for note in results.judges}
    finally:
        memory.close()
    notes = []
    for note in results.judges:
        if (found := known[note.key]) is not None:
            changes: dict[str, Any] = {
                "sensitivity": found.sensitivity,
                "specificity": found.specificity,
                "believed": found.believed,
            }
            tally = found.kinds.get("vague")
            if note.false_accepts is None and tally is not None and tally.n:
                changes |= {"vague": tally.n, "false_accepts": tally.accepted / tally.n}
            note = note.model_copy(update=changes)
        notes.append(note)
    return results.model_copy(update={"judges": notes})


def _json(results: Results) -> bytes:
    content = results.model_dump(mode="python")
    return json.dumps(content, indent=1, ensure_ascii=True, default=str).encode() + b"\n"


def replace_file(path: Path, content: bytes) -> None:
    """Write a derived file atomically. Raises ConfigError, also instead of replacing a device or a pipe."""
    draft = path.with_name(f".{path.name}.new")
    try:
        if path.exists() and not is_ordinary(path):
            raise ConfigError(
                f"{path}: it is not an ordinary file, and is not replaced; move it away, or name another"
            )
        draft.write_bytes(content)
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error
