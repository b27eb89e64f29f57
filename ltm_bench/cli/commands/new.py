"""Create a commented scenario or adapter to start from."""

import keyword
import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated, Literal

import typer

from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import Option
from ltm_bench.plugins.files import catalogue


def create(kind: Literal["scenarios", "agents"], name: str, template: str) -> None:
    """Create a new scenario or adapter in the current directory from `cli/templates/`. Raises ConfigError."""
    one = kind.removesuffix("s")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,50}", name) or keyword.iskeyword(name):
        raise ConfigError(
            f"new {one} {name}: a name consists of lower-case letters, digits and _, and begins with a letter"
        )
    if name in catalogue(kind):
        raise ConfigError(f"new {one} {name}: this name is taken by {catalogue(kind)[name]}")
    path = Path(kind) / f"{name}.py"
    words = name.split("_")
    text = files("ltm_bench.cli").joinpath("templates", f"{template}.py.txt").read_text("utf-8")
    title, kind_of = " ".join(words).capitalize(), "".join(map(str.capitalize, words))
    content = Template(text).substitute(name=name, title=title, kind=kind_of)
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        path.unlink(missing_ok=True)  # an empty file would take the name
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error
    ask = f"run --span 2k --scenario {name}" if kind == "scenarios" else f"run --span 2k --agent {name}"
    out().print(f"{path} is written. Next:\n  ltm-bench check {path}\n  ltm-bench {ask}")


NewName = Annotated[str, typer.Argument(metavar="NAME", help="Its name, which also names the file.")]


app = group("Create a scenario or an adapter.")


@command(app, "new agent notebook", "new agent my_product --memory", name="agent")
def new_agent(
    name: NewName,
    memory: Annotated[
        bool,
        Option("For a memory product: with every hook (recall, settle, memories, forget, fork, reserve, …)."),
    ] = False,
) -> None:
    """Create agents/NAME.py, a commented adapter that passes `check` as it is."""
    create("agents", name, "memory" if memory else "agent")


@command(app, "new scenario ladder", name="scenario")
def new_scenario(name: NewName) -> None:
    """Create scenarios/NAME.py, a commented scenario that passes `check` as it is."""
    create("scenarios", name, "scenario")
