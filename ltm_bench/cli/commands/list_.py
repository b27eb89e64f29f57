"""List agents, scenarios, suites or runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ltm_bench.cli.console import out, print_table, safe
from ltm_bench.cli.options import Json, group
from ltm_bench.core.errors import ConfigError, LtmBenchError, nearest
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.log.environment import environment_of
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.folders import all_runs
from ltm_bench.plan.presets import presets as known_presets
from ltm_bench.plan.suites import read_suite
from ltm_bench.plan.suites import suites as known_suites
from ltm_bench.plan.tables import config_folders
from ltm_bench.plan.values import spell_span
from ltm_bench.plugins.files import catalogue, summary
from ltm_bench.report.words import cost
from ltm_bench.viewer.states import state_of

Row = Mapping[str, Any]


def print_rows(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print rows as a table, or as JSON."""
    if as_json:
        out().print(json.dumps(rows, indent=1))
        return
    table = Table(box=box.SIMPLE_HEAD)
    for key in rows[0] if rows else ():
        longest = max(len(str(row[key])) for row in rows)
        # A name is there to be typed again, and must not be cut.
        table.add_column(key, overflow="fold", min_width=longest if key == "name" else None)
    for row in rows:
        table.add_row(*(Text(safe(str(value))) for value in row.values()))
    print_table(table if rows else "none")


def _agents() -> list[Row]:
    """Return agents: presets first, then adapters."""
    rows: list[Row] = [
        {
            "name": name,
            "adapter": preset.adapter,
            "about": preset.note or ", ".join(f"{k}={v}" for k, v in preset.settings.items()),
        }
        for name, preset in known_presets(config_folders()).items()
    ]
    rows += [
        {"name": name, "adapter": name, "about": summary(path)} for name, path in catalogue("agents").items()
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


@dataclass(frozen=True)
class _Run:
    """A run as the list shows it. What is not known is empty, or None."""

    name: str
    agent: str = ""
    suite: str = ""
    span: int = 0
    seed: int | None = None
    score: float | None = None
    out_of: int | None = None
    interval: tuple[float, float] | None = None
    verdict: str = ""
    dollars: float | None = None
    free: bool = False
    state: str = "unreadable"
    started: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)

    def row(self) -> Row:
        """Return its cells."""
        known = self.out_of is not None
        share = "" if self.score is None else f"{self.score:.2f}/{self.out_of}"
        low_high = "" if self.interval is None else "{:.2f} – {:.2f}".format(*self.interval)
        return {
            "name": self.name,
            "agent": self.agent,
            "suite": self.suite,
            "span": spell_span(self.span) if self.span else "",
            "seed": "" if self.seed is None else self.seed,
            "score": share or ("incomplete" if known else ""),
            "95 %": low_high,
            "cost": cost(self.dollars, free=self.free) if known else "",
            "state": self.state,
            "started": self.started[:16].replace("T", " "),
        }


def _runs() -> list[_Run]:
    """Return the runs in reports/, also those that cannot be read."""
    return [_run(run) for run in all_runs()]


def _run(run: Path) -> _Run:
    try:
        manifest = read_manifest(run)
        environment = environment_of(run)
        started, tags = environment.get("started"), environment.get("tags")
        found = _Run(
            name=run.name,
            agent=manifest.agent.name,
            suite=manifest.suite.title,
            span=manifest.span,
            seed=manifest.seed,
            free=manifest.agent.free,
            state=state_of(run).state,
            started=str(started[0]) if isinstance(started, list) and started else "",
            tags=tags if isinstance(tags, dict) else {},
        )
        if not (run / "results.json").exists():
            return found
        results = json_of(content_of(run / "results.json"))
        interval, dollars = results["interval"], results["costs"]["dollars"]
        return replace(
            found,
            score=float(results["score"]) if results["complete"] else None,
            out_of=int(results["out_of"]),
            interval=None if interval is None else (float(interval["low"]), float(interval["high"])),
            verdict=str(results.get("verdict", "")),
            dollars=None if dollars is None else float(dollars),
        )
    except (LtmBenchError, ValueError, LookupError, TypeError, OverflowError) as error:
        return _Run(run.name, agent=f"unreadable: {error}")


class _Sort(NamedTuple):
    key: Callable[[_Run], Any]
    falling: bool = False


_SORTS: Mapping[str, _Sort] = {
    "started": _Sort(lambda run: run.started, falling=True),
    "name": _Sort(lambda run: run.name),
    "agent": _Sort(lambda run: (run.agent, run.span, run.name)),
    "score": _Sort(lambda run: -1.0 if run.score is None else run.score / (run.out_of or 1), falling=True),
    "cost": _Sort(lambda run: run.dollars or 0.0, falling=True),
    "state": _Sort(lambda run: (run.state, run.name)),
}
"""By what runs can be sorted."""


def list_agents(as_json: Json = False) -> None:
    """List agents: presets and adapters, yours included."""
    print_rows(_agents(), as_json=as_json)


def list_scenarios(as_json: Json = False) -> None:
    """List scenarios, yours included."""
    print_rows(_scenarios(), as_json=as_json)


def list_suites(as_json: Json = False) -> None:
    """List suites, yours included."""
    print_rows(_suites(), as_json=as_json)


def list_runs(
    sort: Annotated[
        str,
        typer.Option(
            metavar="KEY",
            envvar="LTM_BENCH_SORT",
            help=f"{', '.join(_SORTS)}; the newest, the best or the dearest come first.",
        ),
    ] = "started",
    as_json: Json = False,
) -> None:
    """List the runs in reports/, with score, interval, cost, state and date."""
    if sort not in _SORTS:
        raise ConfigError(f"--sort {sort}: it is one of {', '.join(_SORTS)}{nearest(sort, _SORTS)}")
    by = _SORTS[sort]
    runs = sorted(_runs(), key=by.key, reverse=by.falling)
    if as_json:
        out().print(json.dumps([asdict(run) for run in runs], indent=1))
        return
    print_rows([run.row() for run in runs], as_json=False)


def register(app: typer.Typer) -> None:
    """Add the group."""
    listing = group("List what there is.")
    for name, command in (
        ("agents", list_agents),
        ("scenarios", list_scenarios),
        ("suites", list_suites),
        ("runs", list_runs),
    ):
        listing.command(name)(command)
    app.add_typer(listing, name="list")
