"""The app: finds the commands, and imports each only when called, so that `--help` is fast."""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ltm_bench.cli import commands

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EPILOG = (
    "\b\nStart here:\n  ltm-bench run                            an agent that needs no key\n"
    "  ltm-bench doctor --agent gpt-6-luna      would that one work?\n"
    "  ltm-bench run --span 120k --agent gpt-6-luna\n\n"
    "Exit codes: 0 done, 1 usage or configuration, 2 score below --fail-under or --baseline, 3 run incomplete "
    "(resume it), 4 budget reached (resume it), 130 interrupted, with nothing to resume.\n\n"
    "Every option can be set by an environment variable; each command's --help names it. Options that can be repeated "
    "take their values from the variable separated by spaces."
)


PANELS: Mapping[str, Sequence[str]] = {
    "Run and compare": ("run", "resume", "sweep", "view", "show", "compare"),
    "Prepare": ("new", "check", "doctor", "estimate", "list"),
}
"""The commands that most people need, as `--help` groups them."""

MOVED = ("filler", "import", "infinitebench", "swim")
"""Commands of `datasets`; their old names, without that word, still work, and are not shown."""


@cache
def known() -> Mapping[str, str]:
    """Map the name of every command to the name of its module."""
    return {found.name.rstrip("_").replace("_", "-"): found.name for found in iter_modules(commands.__path__)}


def panels() -> Mapping[str, Sequence[str]]:
    """Return all commands that `--help` shows, by their group."""
    first = {name for names in PANELS.values() for name in names}
    return {**PANELS, "More": [name for name in sorted(known()) if name not in first and name not in MOVED]}


def line_of(name: str) -> str:
    """Return a command's line in `--help`, without importing it."""
    path = Path(commands.__path__[0], f"{known()[name]}.py")
    return (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n")[0]


class Commands(TyperGroup):
    """A group whose commands are files."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands that are shown."""
        return [name for names in panels().values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command, and return it; None if there is no such command."""
        if cmd_name not in known():
            return None
        found = typer.main.get_group(import_module(f"{commands.__name__}.{known()[cmd_name]}").app)
        if cmd_name == "datasets":
            found.commands.update((name, self.get_command(ctx, name)) for name in MOVED)
        return found if found.help else found.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for every command, group by group."""
        width = max(map(len, self.list_commands(ctx)))
        for panel, names in panels().items():
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(width), line_of(name)) for name in names])


app = typer.Typer(
    cls=Commands,
    name="ltm-bench",
    help="Measure what a conversational agent still remembers after one long, live, seeded conversation.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ltm-bench {version('ltm-bench')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Handle options that belong to no command."""
