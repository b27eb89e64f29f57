"""`rescore`, `report` and `show`: everything that reads a run and asks no agent."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from ltm_bench.cli.console import err, out, safe
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.log.lines import to_line
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, read_events, read_manifest, read_turns
from ltm_bench.plan.planning import REPORTS, abouts, find_run, reference_examples
from ltm_bench.plugins.agents import agent_class
from ltm_bench.report.page import render_page, render_transcript
from ltm_bench.runner.references import score_alone
from ltm_bench.score.fold import score_run
from ltm_bench.score.judgements import JUDGEMENTS, OVERRIDES, judgements, overrides
from ltm_bench.score.results import Question, Results

REFERENCES = ("goldfish", "perfect")


def references(manifest: Manifest) -> dict[str, float]:
    """Return what floor and ceiling score on a run's examples."""
    examples = reference_examples(manifest)
    if not examples:
        return {}
    return {
        name: asyncio.run(score_alone(examples, agent_class(name), manifest.suite.start))
        for name in REFERENCES
    }


def publish(run: Path) -> Results:
    """Score a run and write verdicts.jsonl, results.json, report.html and transcript.html."""
    manifest = read_manifest(run)
    results = _with_calibrations(
        score_run(run, manifest, about=abouts(manifest), references=references(manifest), explain=True)
    )
    verdicts = b"".join(
        to_line(
            {
                "example": example.id,
                "turn": question.turn,
                "scorer": question.scorer,
                "outcome": question.outcome.value,
                "score": question.score,
                "reason": question.reason,
                "parts": list(question.parts),
            }
            | _said_besides(question)
        )
        for example in results.examples
        for question in example.questions
    )
    replace(run / "verdicts.jsonl", verdicts)
    replace(run / "results.json", _json(results))
    replace(
        run / "report.html",
        render_page(results, manifest, results.environment, results.course).encode("utf-8", "replace"),
    )
    render_transcript(run, results, run / "transcript.html")
    return results


def _said_besides(question: Question) -> dict[str, Any]:
    """Return what judges and people said of a reply, for its verdict."""
    besides: dict[str, Any] = {}
    if question.matched is not None:
        besides["matcher"] = question.matched.value
    if question.opinions:
        besides["opinions"] = [opinion.model_dump(mode="json") for opinion in question.opinions]
    if question.override is not None:
        besides["override"] = question.override.model_dump(mode="json")
    return besides


def _with_calibrations(results: Results) -> Results:
    """Add how the judges of a run did when they were last checked."""
    path = REPORTS / "judgements.sqlite"
    if not results.judges or not path.exists():
        return results
    from ltm_bench.judge.asking import Memory

    memory = Memory(path)
    try:
        known = {note.key: memory.calibration(note.key) for note in results.judges}
    finally:
        memory.close()
    notes = [
        note.model_copy(
            update={
                "sensitivity": found.sensitivity,
                "specificity": found.specificity,
                "believed": found.believed,
            }
        )
        if (found := known[note.key]) is not None
        else note
        for note in results.judges
    ]
    return results.model_copy(update={"judges": notes})


def _json(results: Results) -> bytes:
    content = results.model_dump(mode="python")
    text = json.dumps(content, indent=1, ensure_ascii=True, default=str)
    return text.encode() + b"\n"


def replace(path: Path, content: bytes) -> None:
    """Write a derived file whole or not at all."""
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.write_bytes(content)
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


def check_records(run: Path) -> None:
    """Read all that a run rests on. Raises LogError for damage: before anything is added to it."""
    judgements(run)
    overrides(run)
    for path in dict.fromkeys([run / "events.jsonl", *conversations(run)]):
        for _ in read_events(path):
            pass


def check_output(path: Path) -> None:
    """Raise ConfigError where `-o` names no file, or one that nothing may replace: before any work is done for it."""
    if not path.name or path.is_dir():
        raise ConfigError(f"-o {path}: it is a folder; name a file")
    real = path.resolve()
    in_isolated = real.parent.name == "isolated" and (real.parent.parent / "events.jsonl").exists()
    if real.exists() and (real.name in _RECORDS or (in_isolated and real.suffix == ".jsonl")):
        raise ConfigError(
            f"-o {path}: that is the record of a run, which nothing replaces; name another file"
        )


_RECORDS = ("events.jsonl", JUDGEMENTS, OVERRIDES)


def summarise(results: Results, run: Path) -> None:
    """Print the scores of a run."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_footer=True)
    head = f"{results.score_so_far:.2f} / {results.out_of}"
    table.add_column("scenario", footer="sum" if results.complete else "sum so far (incomplete)")
    table.add_column("score", justify="right", footer=head)
    interval = results.interval
    table.add_column("95 %", footer=f"{interval.low:.2f} – {interval.high:.2f}" if interval else "")
    table.add_column("n", justify="right", footer=str(len(results.examples)))
    table.add_column("outcomes")
    for each in results.scenarios:
        score = "–" if each.score_so_far is None else f"{each.score_so_far:.2f}"
        span = f"{each.interval.low:.2f} – {each.interval.high:.2f}" if each.interval else ""
        outcomes = ", ".join(f"{n} {outcome.value}" for outcome, n in each.outcomes.items())
        table.add_row(each.name, score, span, str(each.n), outcomes)
    out().print(table)
    if results.references:
        floor, ceiling = (results.references.get(name, 0.0) for name in REFERENCES)
        out().print(
            f"floor (goldfish) {floor:.2f}, ceiling (perfect) {ceiling:.2f}, chance {results.chance:.2f}"
        )
    if results.overruns:
        out().print(f"last questions after the end of their span (overrun): {results.overruns}")
    if results.undecided:
        out().print(
            f"undecided: {results.undecided}; text alone cannot tell, so they count 0; "
            f"if all were right, the score would be {results.undecided_worth:.2f} higher: rescore --judge, or review"
        )
    for note in results.judges:
        if not note.believed:
            checked = "is below the threshold" if note.sensitivity is not None else "was never checked"
            out().print(
                f"judge {note.name} {checked}: ltm-bench judge check --judge {note.name}", markup=False
            )
    for remark in results.remarks:
        out().print(f"note: {remark}", markup=False)
    if results.overridden:
        out().print(f"verdicts by hand: {results.overridden}")
    out().print(f"page: {run / 'report.html'}", markup=False)


def write_page(run: str | None) -> None:
    """Write a run's page anew from its log."""
    folder = find_run(run)
    publish(folder)
    out().print(f"page: {folder / 'report.html'}", markup=False)


def score_anew(run: str | None, judges: Sequence[str], limit: Decimal | None) -> None:
    """Score a run anew from its log, without its agent, and say what has changed; judges are asked where given."""
    folder = find_run(run)
    before = _verdicts(folder)
    results = publish(folder)
    if judges:
        from ltm_bench.cli.judging import have_judged, make_judges

        if have_judged(folder, results, make_judges(judges), Budget(limit)):
            results = publish(folder)
    after = _verdicts(folder)
    changed = [key for key in after if key in before and before[key] != after[key]]
    for key in changed:
        out().print(f"{key}: was {before[key]}, now {after[key]}", markup=False)
    out().print(f"{len(after)} verdicts, {len(changed)} changed")
    summarise(results, folder)


def _verdicts(run: Path) -> dict[str, str]:
    path = run / "verdicts.jsonl"
    if not path.exists():
        return {}
    try:
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        return {f"{r['example']} turn {r['turn']}": _spelt(r["outcome"], r["score"]) for r in records}
    except (ValueError, LookupError, TypeError):  # a derived file: it is about to be written anew
        return {}


def _spelt(outcome: str, score: float | None) -> str:
    return outcome if score is None else f"{outcome} {score:.2f}"


def print_transcript(run: str | None, example: str | None, *, filler: bool) -> None:
    """Print the turns of a run, or of one example, with the verdicts; without `filler`, of that the first lines."""
    folder = find_run(run)
    manifest = read_manifest(folder)
    known = [f"{entry.name}/{i}" for entry in manifest.suite.scenarios for i in range(entry.examples)]
    if example is not None and example not in known:
        raise ConfigError(
            f"--example {example}: the run has none{nearest(example, known)} ({', '.join(known)})"
        )
    verdicts = _verdicts(folder)
    shown = 0
    for path in conversations(folder):
        for turn in read_turns(path):
            if example is not None and turn.example != example:
                continue
            shown += 1
            who = turn.example or "filler"
            out().rule(
                f"turn {turn.message.turn} · {turn.message.at:%Y-%m-%d %H:%M} · {who} · {turn.kind}",
                align="left",
            )
            text, reply = safe(turn.message.text), safe(turn.reply.text)
            if turn.kind == "fill" and not filler:
                text, reply = _first_line(text), _first_line(reply)
            out().print(f"> {text}", markup=False)
            out().print(reply, markup=False)
            if verdict := verdicts.get(f"{turn.example} turn {turn.message.turn}"):
                out().print(f"= {verdict}", markup=False)
    if not shown:
        err().print(f"{folder}: {example or 'the run'} has no turns yet", markup=False)


def _first_line(text: str) -> str:
    line = text.partition("\n")[0]
    return line if line == text and len(line) < 100 else line[:100] + " …"
