"""List agents, scenarios, suites or runs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ltm_bench.cli.console import out, print_records
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Json
from ltm_bench.core.errors import ConfigError, check_known
from ltm_bench.log.remote import is_url
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import REPORTS, all_runs
from ltm_bench.plan.suites import presets as known_presets
from ltm_bench.plan.suites import read_suite
from ltm_bench.plan.suites import suites as known_suites
from ltm_bench.plan.tables import config_folders
from ltm_bench.plan.values import spell_span
from ltm_bench.plugins.driven import driven
from ltm_bench.plugins.files import bundled, catalogue, summary
from ltm_bench.report.words import cost
from ltm_bench.viewer.states import RunState, state_of, states_at

Row = Mapping[str, Any]


def _agents() -> list[Row]:
    """Return agents: presets first, then adapters, with what `driven` knows about the built-in ones."""
    ours, tried = bundled("agents").resolve(), driven()

    def how(path: Path) -> dict[str, str]:
        found = tried.get(path.stem) if path.resolve().parent == ours else None
        return {"driven": str(found or ""), "users": found.users if found else ""}

    rows: list[Row] = [
        {
            "name": name,
            "adapter": preset.adapter,
            "driven": "",
            "users": "",
            "about": preset.note or preset.end or ", ".join(f"{k}={v}" for k, v in preset.settings.items()),
        }
        for name, preset in known_presets(config_folders()).items()
    ]
    rows += [
        {"name": name, "adapter": name, **how(path), "about": summary(path)}
        for name, path in catalogue("agents").items()
    ]
    return rows


def _scenarios() -> list[Row]:
    """Return scenarios."""
    return [
        {"name": name, "about": summary(path), "file": str(path)}
        for name, path in catalogue("scenarios").items()
    ]


def _suites() -> list[Row]:
    """Return suites."""
    rows: list[Row] = []
    for name, path in known_suites(config_folders()).items():
        suite = read_suite(path)
        count = sum(suite.count(each) for each in suite.scenarios)
        rows.append(
            {"name": name, "scenarios": len(suite.scenarios), "examples": count, "about": suite.about}
        )
    return rows


def _row(run: RunState) -> Row:
    """Return a run's cells."""
    share = "" if run.score is None else f"{run.score:.2f}/{run.out_of}"
    known = run.out_of is not None
    return {
        "name": run.name,
        "agent": run.agent,
        "suite": run.suite,
        "span": spell_span(run.span) if run.span else "",
        "seed": "" if run.seed is None else run.seed,
        "score": share or ("incomplete" if known else ""),
        "95 %": "" if run.interval is None else "{:.2f} – {:.2f}".format(*run.interval),
        "cost": cost(run.dollars, free=run.free) if known else "",
        "state": f"{run.state}; {run.problem}" if run.problem else run.state,
        "started": run.started[:16].replace("T", " "),
    }


_SORTS: Mapping[str, Callable[[RunState], Any]] = {
    "started": lambda run: run.started,
    "name": lambda run: run.name,
    "agent": lambda run: (run.agent, run.span, run.name),
    "score": lambda run: -1.0 if run.score is None else run.score / (run.out_of or 1),
    "cost": lambda run: run.dollars or 0.0,
    "state": lambda run: (run.state, run.name),
}
"""Sort keys of runs."""

_FALLING = ("started", "score", "cost")
"""Those whose largest value comes first."""


app = group("List agents, scenarios, suites or runs.")


@command(app, name="agents")
def list_agents(as_json: Json = False) -> None:
    """List agents: presets and adapters, yours included.

    For the built-in adapters, shows how they were last tried, and whether they keep users apart.
    """
    print_records(_agents(), as_json=as_json)


@command(app, name="scenarios")
def list_scenarios(as_json: Json = False) -> None:
    """List scenarios, yours included."""
    print_records(_scenarios(), as_json=as_json)


@command(app, name="suites")
def list_suites(as_json: Json = False) -> None:
    """List suites, yours included."""
    print_records(_suites(), as_json=as_json)


@command(app, name="runs")
def list_runs(
    place: Annotated[
        str | None, typer.Argument(metavar="[PLACE]", help="Their folder or URL; reports/ if left out.")
    ] = None,
    sort: Annotated[
        str, Option(f"{', '.join(_SORTS)}; newest, best or most expensive first.", "KEY")
    ] = "started",
    as_json: Json = False,
) -> None:
    """List the runs in reports/ or another place, with score, interval, cost, state and date."""
    check_known(f"--sort {sort}: there is no such key", sort, _SORTS)
    if place is not None and is_url(place):
        found = states_at(place)
    elif place is None or Path(place).is_dir():
        found = map(state_of, all_runs(REPORTS if place is None else Path(place)))
    else:
        raise ConfigError(f"{place}: there is no such folder; name a folder of runs, or its URL")
    runs = sorted(found, key=_SORTS[sort], reverse=sort in _FALLING)
    if as_json:
        out().print(json.dumps([asdict(run) for run in runs], indent=1))
        return
    print_records([_row(run) for run in runs], as_json=False)
