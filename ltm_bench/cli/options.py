"""Options that commands share, besides those of a run, and a check of the file that `-o` names."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.config_file import take_values
from ltm_bench.cli.console import err
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import is_ordinary
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import MaxCost


def kinds(known: Mapping[str, str]) -> str:
    """Return the help of an option that takes one of these names, with a line for each."""
    return "; ".join(f"{name}: {line.rstrip('.')}" for name, line in known.items()) + "."


def _hush(quiet: bool) -> bool:
    err().quiet = quiet
    return quiet


_LEVELS = ("debug", "info", "warning", "error")


def _log(level: str | None) -> str | None:
    if level is None:
        return None
    if level.lower() not in _LEVELS:
        raise ConfigError(f"--log-level {level}: must be {', '.join(_LEVELS[:-1])} or {_LEVELS[-1]}")
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True)
    logging.getLogger("ltm_bench").setLevel(level.upper())
    return level


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        envvar="LTM_BENCH_CONFIG",
        is_eager=True,
        callback=take_values,
        help="A TOML file with values for these options, by their names; tables [settings] and [parameters.SCENARIO] "
        "for -A and -P. The command line and environment variables override it.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        envvar="LTM_BENCH_QUIET",
        callback=_hush,
        help="Print only the result: no progress and no notes. Warnings and errors stay.",
    ),
]
LogLevel = Annotated[
    str | None,
    typer.Option(
        "--log-level",
        metavar="LEVEL",
        envvar="LTM_BENCH_LOG_LEVEL",
        callback=_log,
        help="Level of the messages logged to standard error: debug (every request to a provider, tracebacks of "
        "an agent's errors), info, warning or error.",
    ),
]
Json = Annotated[bool, Option("Print JSON.", flags=("--json",))]
Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN",
        help="Names, folders or URLs of runs, or of folders of runs; all in reports/ if left out.",
    ),
]
RunName = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="The run's name or folder; the newest if left out.")
]


def output_option(command: str, about: str, metavar: str = "FILE") -> Option:
    """Return a command's `-o`, with its own environment variable: exporting one does not redirect the others."""
    return Option(about, metavar, flags=("-o", "--output"), variable=f"{command.upper()}_OUTPUT")


def check_output(path: Path | None) -> None:
    """Raise ConfigError, before any work is done, if `-o` names a folder, or a file that must not be replaced."""
    if path is None:
        return
    if not path.name or path.is_dir():
        raise ConfigError(f"-o {path}: it is a folder; name a file")
    own = path.is_symlink() and path.absolute().parts[1] in ("dev", "proc")  # such as /dev/stdout
    if path.exists() and (own or not is_ordinary(path)):
        raise ConfigError(f"-o {path}: it is a device or a pipe, which must not be replaced; name a file")
    from ltm_bench.score.audits.judgements import BLIND, JUDGEMENTS, OVERRIDES, VAGUE

    real = path.resolve()
    kept = ("events.jsonl", BLIND, JUDGEMENTS, OVERRIDES, VAGUE)  # none can be recovered
    in_isolated = real.parent.name == "isolated" and (real.parent.parent / "events.jsonl").exists()
    if real.exists() and (real.name in kept or (in_isolated and real.suffix == ".jsonl")):
        raise ConfigError(
            f"-o {path}: this is a run's own record, which must not be replaced; name another file"
        )


Judge = Annotated[
    str | None,
    Option("An agent that judges answers without a label; its verdicts are kept beside the file.", "NAME"),
]
Wrong = Annotated[
    Path | None,
    Option("Deliberately wrong answers with the same judge's votes, to see how many it passes.", "FILE"),
]


def data_option(what: str) -> Option:
    """Return the option that names a set's own files."""
    return Option(f"The set itself: {what}; see datasets list.", "PATH")


@dataclass(kw_only=True)
class Scoring:
    """How files of a set are scored."""

    data: Annotated[Path | None, data_option("its file, or its folder")] = None
    errors: Annotated[
        Path | None,
        Option(
            "An audit's list of wrong keys; if left out, those that are known: see datasets errata.", "FILE"
        ),
    ] = None
    wrong: Wrong = None
    judge: Judge = None
    max_cost: MaxCost = None
    keep: Annotated[
        bool, Option("Write each file as a run too, for report, compare, judges, audit and export.")
    ] = False
    as_json: Json = False
