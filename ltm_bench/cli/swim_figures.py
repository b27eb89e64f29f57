"""Prints the figures of SWiM: accuracy over depth and size, inventions, and the gain from voting."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ltm_bench.adapters import embedder_of
from ltm_bench.api import load_run
from ltm_bench.cli.console import out, safe, table_of
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.grouping import grouped
from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.swim.figures import Tested, placed
from ltm_bench.datasets.swim.matcher import says_absent
from ltm_bench.plan.values import spell_span
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.figures import Figure
from ltm_bench.score.statistics.intervals import wilson


class SettingFigure(Figure, frozen=True):
    """The accuracy at one setting of a test, such as a depth."""

    WRITTEN = "test at=name score=mean low high n"
    test: str


def show_figures(folder: Path, embedding: str, base_url: str | None, *, as_json: bool) -> None:
    """Print the figures of a run. Raises ConfigError if it asked nothing about documents."""
    run = load_run(folder)
    results, embed = run.results, partial(embedder_of, embedding, base_url)
    lines = [
        _figure(entry.name, at, [each.score for each in of])
        for entry in run.manifest.suite.scenarios
        if (entry.scenario or entry.name) == "swim"
        for at, of in grouped(placed(entry.parameters, _answers(results, entry.name), embed)).items()
    ]
    if not lines:
        raise ConfigError(f"{folder}: that run has no question about documents")
    if as_json:
        out().print_json(json.dumps([each.model_dump() for each in lines]))
    else:
        _print(results, lines)


def _answers(results: Results, row: str) -> list[Tested]:
    return [_answer(each) for each in results.examples if each.scenario == row and each.score is not None]


def _answer(example: ExampleResult) -> Tested:
    question = example.questions[0]
    reply = question.reply or ""
    return Tested(
        index=int(example.id.rpartition("/")[2]),
        score=example.score or 0.0,
        reply=reply,
        # A judge may recognise an abstention that no phrase shows.
        absent=question.outcome is Outcome.ABSTAINED or says_absent(reply),
        depth=1 - min(1.0, example.needles[0].depth / max(1, example.span)) if example.needles else None,
    )


def _figure(test: str, at: str, scores: Sequence[float]) -> SettingFigure:
    mean, n = sum(scores) / len(scores), len(scores)
    return SettingFigure(test=test, name=at, n=n, mean=mean, interval=wilson(mean, n))


def _print(results: Results, lines: Sequence[SettingFigure]) -> None:
    out().print(f"{safe(results.agent)} · span {spell_span(results.span)}")
    table = table_of("test", "at", "accuracy", "95 %", "n", names=2, pad_edge=False)
    for line in lines:
        ends = f"{line.interval.low:.2f} – {line.interval.high:.2f}" if line.interval else ""
        table.add_row(line.test, line.name, f"{line.mean:.3f}", ends, str(line.n))
    out().print(table)
    if undecided := results.outcomes.get(Outcome.UNDECIDED, 0):
        out().print(
            f"{undecided} answers are undecided and count 0: text alone cannot tell; rescore --judge NAME decides them"
        )
    for remark in results.remarks:
        out().print(f"note: {remark}")
