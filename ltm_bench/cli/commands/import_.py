"""Import published results."""

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
    from ltm_bench.cli.scoring import keep_run
    from ltm_bench.core.tokens import counter
    from ltm_bench.datasets.goodai.importing import logs_in
    from ltm_bench.plan.folders import REPORTS
    from ltm_bench.report.words import plural

    skipped: list[str] = []

    def on_bad(line: str) -> None:
        skipped.append(line)
        err().print(f"skipped: {line}")

    written = 0
    for name, examples, log in logs_in(folder, counter(), on_bad):
        if (results := keep_run(name, log)) is None:
            continue
        written += 1
        theirs = f"published {results.published:.2f}" if results.published is not None else ""
        ours = f"ours {results.score_so_far:.2f} of {results.out_of}"
        out().print(f"{REPORTS / name}: {theirs}, {ours}, {plural(examples, 'example')}")
    out().print(f"{plural(written, 'run')} imported, {len(skipped)} files or examples skipped")
