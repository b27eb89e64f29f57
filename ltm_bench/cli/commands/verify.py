"""Verify a bundle or a run: hashes, schema, stored verdicts."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.console import out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.export.bundle import unpack
from ltm_bench.export.verify import verify as verify_folder
from ltm_bench.plan.folders import find_run

app = group()


@command(app, "verify luna.zip", "verify standard-32k-gpt-6-luna-seed0")
def verify(
    run: Annotated[
        str, typer.Argument(metavar="BUNDLE_OR_RUN", help="A bundle's file, or a run's name or folder.")
    ],
) -> None:
    """Verify that a bundle or a run is consistent: hashes, token counts, verdicts, score. Calls no agent."""
    path = Path(run)
    if path.is_file():
        with tempfile.TemporaryDirectory() as place:
            _verify(unpack(path, Path(place)))
    else:
        _verify(find_run(run))


def _verify(folder: Path) -> None:
    found = verify_folder(folder)
    score = f"{found.results.score_so_far:.2f} / {found.results.out_of}"
    by_hand = f" ({found.results.overridden} by hand)" if found.results.overridden else ""
    out().print(
        f"{safe(folder.name)} agrees: {found.verdicts} verdicts checked{by_hand}, {found.texts:,} texts counted again, "
        f"{found.retold} of {len(found.results.examples)} examples regenerated from the seed, "
        f"{'score' if found.results.complete else 'incomplete, so far'} {score}"
    )
    if found.pages:
        out().print(f"not verified: {', '.join(found.pages)}; `ltm-bench report` writes pages from the log")
    for then, today in found.changed_scorers.items():
        out().print(f"scored with {then}; today's version is {today}: `ltm-bench rescore` shows what it says")
