"""Plan how many examples and seeds it takes to detect a difference."""

import json
from collections.abc import Mapping
from typing import Annotated

import typer
from rich.table import Table

from ltm_bench.api.loading import load_each
from ltm_bench.cli.comparison import places_of
from ltm_bench.cli.console import out, print_table, safe, table_of
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Json
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.request import Suite
from ltm_bench.plan.scenarios import find_suite
from ltm_bench.plan.values import number, parse_span, positive
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.sizing import Basis, assumed, measured
from ltm_bench.score.statistics.power import MOST, Size, examples_needed, seeds_in_words, seeds_needed

_SEEDS = (1, 2, 3, 5, 10)
"""Numbers of seeds in the table."""


app = group()


@command(
    app,
    "plan-size --detect 0.5",
    "plan-size --detect 0.5 standard-32k-gpt-6-luna-seed0 standard-32k-vector_memory-seed0",
    name="plan-size",
)
def plan_size(
    detect: Annotated[
        float,
        Option(
            "The difference to detect, in points of the score; every scenario adds at most 1.",
            "POINTS",
            number("points of the score, such as 0.5", positive),
        ),
    ],
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Names or folders of earlier runs, of one agent or several, from which to measure the variance "
            "instead of assuming it.",
        ),
    ] = None,
    suite: Suite = "standard",
    as_json: Json = False,
) -> None:
    """Plan how many examples and seeds it takes to detect a difference between two agents. Calls no agent."""
    loaded = load_each(places_of(runs), REPORTS) if runs else ()
    basis = measured([Scored(run.manifest, run.results) for run in loaded]) if runs else _assumed(suite)
    if detect > basis.scenarios:
        raise ConfigError(
            f"--detect {detect:g}: more than the highest possible score, {basis.scenarios}; write fewer points"
        )
    examples = {seeds: examples_needed(detect, basis.scenarios, seeds, basis.noise) for seeds in _SEEDS}
    seeds = seeds_needed(detect, basis.scenarios, basis.examples, basis.noise)
    if as_json:
        found = basis._asdict() | {"noise": basis.noise.model_dump()}
        found |= {"detect": detect, "examples_needed": examples, "seeds_needed": seeds}
        out().print(json.dumps(found, indent=1))
        return
    out().print(
        f"To show a difference of {detect:g} of {basis.scenarios} points between two agents on the same examples "
        "(95 % confidence, 80 % power):"
    )
    print_table(_table(basis.scenarios, examples))
    out().print(f"With {basis.examples:.3g} examples of each scenario in a run: {seeds_in_words(seeds)}.")
    out().print(safe(basis.source))


def _assumed(name: str) -> Basis:
    suite = find_suite(name)
    return assumed([suite.count(row) for row in suite.fitting(parse_span(suite.span))])


def _table(scenarios: int, examples: Mapping[int, int | None]) -> Table:
    table = table_of("seeds", "examples of each scenario in a run", "examples in all", words=())
    for seeds, each in examples.items():
        size = None if each is None else Size(scenarios=scenarios, examples=each, seeds=seeds)
        cells = (f"more than {MOST:,}", "") if size is None else (f"{each:,}", f"{size.total:,}")
        table.add_row(str(seeds), *cells)
    return table
