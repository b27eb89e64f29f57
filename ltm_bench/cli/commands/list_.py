"""List agents, scenarios, suites or runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ltm_bench.cli.console import out, safe
from ltm_bench.cli.options import Json, group
from ltm_bench.core.errors import LtmBenchError
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.folders import all_runs
from ltm_bench.plan.presets import presets as known_presets
from ltm_bench.plan.suites import read_suite
from ltm_bench.plan.suites import suites as known_suites
from ltm_bench.plan.tables import config_folders
from ltm_bench.plan.values import spell_span
from ltm_bench.plugins.files import catalogue, summary

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
    out().print(table if rows else "none")


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


def _runs() -> list[Row]:
    """Return the runs in reports/, also those that cannot be read."""
    rows: list[Row] = []
    for run in all_runs():
        try:
            manifest = read_manifest(run)
            row = {
                "name": run.name,
                "agent": manifest.agent.name,
                "suite": manifest.suite.name,
                "span": spell_span(manifest.span),
                "seed": manifest.seed,
                "score": "",
            }
            if (run / "results.json").exists():
                results = json_of(content_of(run / "results.json"))
                row["score"] = (
                    f"{results['score']:.2f}/{results['out_of']}" if results["complete"] else "incomplete"
                )
        except (LtmBenchError, ValueError, LookupError, TypeError) as error:
            row = {
                "name": run.name,
                "agent": f"unreadable: {error}",
                "suite": "",
                "span": "",
                "seed": "",
                "score": "",
            }
        rows.append(row)
    return rows


def list_agents(as_json: Json = False) -> None:
    """List agents: presets and adapters, yours included."""
    print_rows(_agents(), as_json=as_json)


def list_scenarios(as_json: Json = False) -> None:
    """List scenarios, yours included."""
    print_rows(_scenarios(), as_json=as_json)


def list_suites(as_json: Json = False) -> None:
    """List suites, yours included."""
    print_rows(_suites(), as_json=as_json)


def list_runs(as_json: Json = False) -> None:
    """List the runs in reports/."""
    print_rows(_runs(), as_json=as_json)


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
