"""Prints the figures of SWiM: accuracy over depth and size, inventions, and the gain from voting."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ltm_bench.adapters.embeddings import embedder_of
from ltm_bench.api import load_run
from ltm_bench.cli.console import out, print_table, safe, table_of
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.swim.figures import SwimFigure, Tested, figures_of
from ltm_bench.datasets.swim.matcher import says_absent
from ltm_bench.plan.values import spell_span
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.intervals import wilson


def show_figures(folder: Path, embedding: str, base_url: str | None, *, as_json: bool) -> None:
    """Print the figures of a run. Raises ConfigError if it asked nothing about documents."""
    run = load_run(folder)
    results, embed = run.results, partial(embedder_of, embedding, base_url)
    lines = [
        _line(figure)
        for entry in run.manifest.suite.scenarios
        if (entry.scenario or entry.name) == "swim"
        for figure in figures_of(entry.name, entry.parameters, _answers(results, entry.name), embed)
    ]
    if not lines:
        raise ConfigError(f"{folder}: that run has no question about documents")
    if as_json:
        out().print_json(json.dumps(lines))
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


def _line(figure: SwimFigure) -> dict[str, Any]:
    """Return a figure as it is printed: the mean of its scores, with a 95 % interval."""
    n = len(figure.scores)
    mean = sum(figure.scores) / n if n else 0.0
    interval = wilson(mean, max(1, n))
    return {"test": figure.test, "at": figure.at, "score": mean, **interval.model_dump(), "n": n}


def _print(results: Results, lines: Sequence[Mapping[str, Any]]) -> None:
    out().print(f"{safe(results.agent)} · span {spell_span(results.span)}")
    table = table_of("test", "at", "accuracy", "95 %", "n", words=("test", "at"), pad_edge=False)
    for line in lines:
        interval = "{low:.2f} – {high:.2f}".format(**line)
        table.add_row(line["test"], line["at"], f"{line['score']:.3f}", interval, str(line["n"]))
    print_table(table)
    if undecided := results.outcomes.get(Outcome.UNDECIDED, 0):
        out().print(
            f"{undecided} answers are undecided and count 0: text alone cannot tell; rescore --judge NAME decides them"
        )
    for remark in results.remarks:
        out().print(f"note: {remark}")
