"""Import published results."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.console import err, out
from ltm_bench.cli.declared import command, group

app = group("Import published results.")


@command(app, "datasets import goodai goodai-ltm-benchmark/data/tests", "list runs", name="goodai")
def import_goodai(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Their definitions and results (v1 to v3, MIT licence).")
    ],
) -> None:
    """Import GoodAI's published results: one run per agent and span, scored by us, with their scores beside ours."""
    from ltm_bench.api import publish
    from ltm_bench.core.tokens import counter
    from ltm_bench.datasets.goodai.importing import import_runs
    from ltm_bench.plan.folders import REPORTS
    from ltm_bench.report.words import plural

    skipped: list[str] = []

    def on_bad(line: str) -> None:
        skipped.append(line)
        err().print(f"skipped: {line}")

    written = 0
    for run, examples, new in import_runs(folder, REPORTS, counter(), on_bad):
        if not new:
            err().print(f"{run} exists already and is left as it is; delete it to import it again")
            continue
        results = asyncio.run(publish(run)).results
        written += 1
        theirs = f"published {results.published:.2f}" if results.published is not None else ""
        out().print(
            f"{run}: {theirs}, ours {results.score_so_far:.2f} of {results.out_of}, {plural(examples, 'example')}"
        )
    out().print(f"{plural(written, 'run')} imported, {len(skipped)} files or examples skipped")
