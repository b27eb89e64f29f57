"""Write a run's page again from its log."""

from __future__ import annotations

import asyncio

import typer

from ltm_bench.api import published
from ltm_bench.cli.options import RunName, examples_of
from ltm_bench.cli.summary import print_page
from ltm_bench.plan.folders import find_run


def report(run: RunName = None) -> None:
    """Write a run's page again from its log."""
    folder = find_run(run)
    asyncio.run(published(folder, None, {}))
    print_page(folder / "report.html")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples_of("report", "report standard-32k-gpt-6-luna-seed0"))(report)
