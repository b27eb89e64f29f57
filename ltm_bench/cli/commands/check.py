"""Check a scenario or an adapter of your own against the rules."""

from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.console import print_finding
from ltm_bench.cli.declared import command, group
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.request import Settings
from ltm_bench.runner.checking import check_file

app = group()


@command(app, "check scenarios/parking.py", "check agents/notebook.py -A pages=50")
def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A scenario (scenarios/*.py) or an adapter (agents/*.py).")
    ],
    settings: Settings = None,
) -> None:
    """Check a scenario or an adapter. Executes the file; talks to an adapter and tries its hooks."""
    failed = 0
    for finding in check_file(file, settings or {}):
        failed += not finding.ok
        print_finding(finding)
    if failed:
        rules = "1 rule is" if failed == 1 else f"{failed} rules are"
        raise ConfigError(f"{file}: {rules} broken; see the lines marked FAIL")
