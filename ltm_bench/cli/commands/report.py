"""Rewrite a run's page from its log."""

import asyncio
from typing import Annotated

from ltm_bench.cli.console import out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import RunName
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import find_run

app = group()


@command(
    app,
    "report",
    "report standard-32k-gpt-6-luna-seed0",
    "report standard-32k-gpt-6-luna-seed0 --reference reciter",
)
def report(
    run: RunName = None,
    reference: Annotated[
        list[str] | None,
        Option(
            "Beside floor and ceiling, show what this agent scores in the same conversation: reciter (recites "
            "its last 40 messages) or parrot.",
            "NAME",
        ),
    ] = None,
) -> None:
    """Rewrite a run's page from its log."""
    from ltm_bench.api import publish

    folder = find_run(run)
    asyncio.run(publish(folder, besides=reference or ()))
    out().print(safe(f"page: {folder / 'report.html'}"))
