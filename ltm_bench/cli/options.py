"""Options shared by several commands, and the layout of help texts."""

import logging
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.config_file import take_values
from ltm_bench.cli.console import err
from ltm_bench.cli.parsing import dollars, number, seconds, whole
from ltm_bench.core.errors import ConfigError


def group(about: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(help=about, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def examples_of(*lines: str) -> str:
    """Return the examples at the end of a command's help."""
    return "\n".join(["\b", "Examples:", *(f"  ltm-bench {line}" for line in lines)])


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
        metavar="LEVEL",
        envvar="LTM_BENCH_LOG_LEVEL",
        callback=_log,
        help="Level of the messages logged to standard error: debug (every request to a provider), info, warning "
        "or error.",
    ),
]
Tags = Annotated[
    list[str] | None,
    typer.Option(
        "--tag",
        metavar="KEY=VALUE",
        envvar="LTM_BENCH_TAG",
        help="A note of your own about the run, kept beside its log; can be repeated.",
    ),
]
Suite = Annotated[
    str,
    typer.Option(
        metavar="NAME", envvar="LTM_BENCH_SUITE", help="The suite (see list suites), or goodai:FOLDER."
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        envvar="LTM_BENCH_DATA",
        help="The file or folder of the suite's public set (see datasets list).",
    ),
]
Scenario = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        metavar="NAME",
        envvar="LTM_BENCH_SCENARIO",
        help="Only this scenario (see list scenarios); can be repeated.",
    ),
]
Examples = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=whole("--examples", 1),
        envvar="LTM_BENCH_EXAMPLES",
        help="Examples per scenario, instead of the suite's; for a public set, the total number of questions.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N",
        parser=whole("--seed"),
        envvar="LTM_BENCH_SEED",
        help="The same seed gives the same conversation.",
    ),
]
FillerKind = Annotated[
    str,
    typer.Option(
        "--filler",
        metavar="KIND",
        envvar="LTM_BENCH_FILLER",
        help="scripted (the agent observes filler; if it cannot, it is asked) or live (it is asked); triviaqa:FILE "
        "takes the trivia from a file, and live,triviaqa:FILE does both.",
    ),
]
Questions = Annotated[
    str,
    typer.Option(
        metavar="WHERE",
        envvar="LTM_BENCH_QUESTIONS",
        help="in-line (questions are part of the conversation) or forked (each is asked beside it, all at once).",
    ),
]
Acknowledge = Annotated[
    str,
    typer.Option(
        metavar="WHO",
        envvar="LTM_BENCH_ACKNOWLEDGE",
        help="Who replies to needles: live (the agent) or scripted (a script; the agent observes them).",
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        envvar="LTM_BENCH_QUICK",
        help="Forked questions, scripted acknowledgements, scripted filler: minutes instead of hours.",
    ),
]
Span = Annotated[
    str | None,
    typer.Option(
        metavar="TOKENS",
        envvar="LTM_BENCH_SPAN",
        help="Tokens between what is told and what is asked: 2k 32k 120k 200k 500k 1M 10M, or a number; the suite's "
        "own if left out, usually 32k.",
    ),
]
AgentName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="LTM_BENCH_AGENT",
        help="The agent: a preset or an adapter (see list agents), or PROVIDER:MODEL, such as openai:gpt-6-luna.",
    ),
]
Tokenizer = Annotated[
    str,
    typer.Option(metavar="ENCODING", envvar="LTM_BENCH_TOKENIZER", help="The encoding that measures spans."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "-A",
        "--agent-arg",
        "--setting",
        metavar="KEY=VALUE",
        envvar="LTM_BENCH_SETTING",
        help="A setting of the agent; can be repeated.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "-P",
        "--scenario-arg",
        "--parameter",
        metavar="SCENARIO.KEY=VALUE",
        envvar="LTM_BENCH_PARAMETER",
        help="A parameter of a scenario, instead of the suite's; can be repeated.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL", envvar="LTM_BENCH_BASE_URL", help="A compatible server for the agent's adapter."
    ),
]
MaxCost = Annotated[
    Decimal | None,
    typer.Option(
        metavar="USD",
        parser=dollars,
        envvar="LTM_BENCH_MAX_COST",
        help="Stop before spending more than this in total; the run can be resumed.",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        parser=seconds("--timeout"),
        envvar="LTM_BENCH_TIMEOUT",
        help="How long to wait for one reply, instead of the agent's own setting.",
    ),
]
MaxRetries = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=whole("--max-retries", 0),
        envvar="LTM_BENCH_MAX_RETRIES",
        help="Number of retries of a failed request, instead of the agent's own setting.",
    ),
]
Connections = Annotated[
    int,
    typer.Option(
        "--max-connections",
        metavar="N",
        parser=whole("--max-connections", 1),
        envvar="LTM_BENCH_MAX_CONNECTIONS",
        help="Maximum concurrent calls to one provider: of runs, isolated examples and forked questions.",
    ),
]
Cache = Annotated[
    bool,
    typer.Option(
        "--cache",
        envvar="LTM_BENCH_CACHE",
        help="Keep the provider's answers in reports/answers.sqlite, and answer the same requests from there.",
    ),
]
Isolated = Annotated[
    bool,
    typer.Option(
        "--isolated",
        envvar="LTM_BENCH_ISOLATED",
        help="No filler: every example alone, with a fresh agent.",
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        envvar="LTM_BENCH_NAME",
        help="Name of the folder in reports/; by default, made from the settings. For several runs, a prefix of "
        "their names.",
    ),
]
Repeats = Annotated[
    int,
    typer.Option(
        metavar="R",
        parser=whole("--repeats", 1),
        envvar="LTM_BENCH_REPEATS",
        help="Number of runs, with this seed and the ones after it; --max-cost covers them all.",
    ),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", envvar="LTM_BENCH_FRESH", help="Start a new run beside one of the same name."),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        metavar="SCORE",
        parser=number("--fail-under", "a score such as 3.5; every scenario adds at most 1"),
        envvar="LTM_BENCH_FAIL_UNDER",
        help="Exit with code 2 if the score is lower. Every scenario adds at most 1.",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        envvar="LTM_BENCH_JUDGE",
        help="An agent that decides when text alone cannot tell; can be repeated: the majority counts.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="RUN",
        envvar="LTM_BENCH_BASELINE",
        help="Exit with code 2 if the score is further below this run's than --max-drop allows.",
    ),
]
MaxDrop = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        parser=number("--max-drop", "a share from 0 to 1, such as 0.05", lambda share: 0 <= share <= 1),
        envvar="LTM_BENCH_MAX_DROP",
        help="Largest drop below the baseline, as a share of the highest possible score.",
    ),
]
Runs = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUN", help="Names or folders of runs; all in reports/ if left out."),
]
RunName = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="The run's name or folder; the newest if left out.")
]


def output_option(command: str, about: str) -> typer.models.OptionInfo:
    """Return a command's `-o`, with its own environment variable: exporting one does not redirect the others."""
    variable = f"LTM_BENCH_{command.upper()}_OUTPUT"
    option: typer.models.OptionInfo = typer.Option(
        "-o", "--output", metavar="FILE", envvar=variable, help=about
    )
    return option


Json = Annotated[bool, typer.Option("--json", envvar="LTM_BENCH_JSON", help="Print JSON.")]
