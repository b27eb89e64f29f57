"""Compare runs: scores, differences, and how the runs differ."""

from pathlib import Path
from typing import Annotated

from ltm_bench import api
from ltm_bench.cli.comparison import (
    places_of,
    print_apart,
    print_cells,
    print_pairs,
    print_spread,
    write_comparison,
)
from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Json, Runs, check_output, output_option
from ltm_bench.cli.sheets import print_compared
from ltm_bench.cli.summary import print_controls
from ltm_bench.core.errors import ConfigError, check_known
from ltm_bench.plan.declaring import Option
from ltm_bench.report.paper_table import FORMS
from ltm_bench.report.publishing import replace_file
from ltm_bench.report.words import plural

app = group()


@command(
    app,
    "compare standard-120k-gpt-6-luna-seed0 standard-120k-vector_memory-seed0 -o compare.html",
    "compare s3://bucket/runs --json > all.json  # all runs there, by their results.json",
    "compare --format latex > table.tex",
)
def compare(
    runs: Runs = None,
    output: Annotated[
        Path | None, output_option("compare", "Write a page, or --format's table, to this file.")
    ] = None,
    as_json: Json = False,
    form: Annotated[
        str | None,
        Option(
            f"Print a table for a paper instead: {' or '.join(FORMS)}.",
            "NAME",
            flags=("--format",),
            variable="COMPARE_FORMAT",
        ),
    ] = None,
) -> None:
    """Compare runs: scores over spans, differences by example, and how the runs differ. Calls no agent."""
    if form is not None:
        check_known(f"--format {form}: unknown", form, FORMS)
    if form is not None and as_json:
        raise ConfigError("--format and --json exclude each other")
    check_output(output)
    places = places_of(runs or ())
    if not runs:
        err().print(f"all {plural(len(places), 'run')} in reports/; name some to compare those alone")
    comparison = api.compare(*places)
    if output is not None and form is None:
        write_comparison(comparison, places, output)
    if as_json:
        out().print(comparison.model_dump_json(indent=1))
        return
    for warning in comparison.warnings:
        err().print(f"warning: {safe(warning)}")
    if form is not None:
        if output is None:
            out().print(FORMS[form](comparison))
        else:
            replace_file(output, f"{FORMS[form](comparison)}\n".encode())
        return
    for span in comparison.spans:
        print_cells(comparison, span)
        for cell in comparison.at(span):
            print_spread(cell)
            print_controls(cell.controls, cell.entrant)
        print_apart(comparison.at(span))
        print_pairs([pair for pair in comparison.pairs if pair.span == span])
    print_compared(comparison.sets)
    if output is not None:
        out().print(f"page: {output}")
