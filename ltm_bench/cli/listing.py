"""`list agents|scenarios|suites|runs`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ltm_bench.cli.console import out, safe
from ltm_bench.core.errors import LtmBenchError
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan import config
from ltm_bench.plan.folders import all_runs
from ltm_bench.plan.tables import config_folders
from ltm_bench.plugins import files as dropins

Row = Mapping[str, Any]


def print_rows(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print rows as a table, or as JSON."""
    if as_json:
        out().print(json.dumps(rows, indent=1), markup=False)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for key in rows[0] if rows else ():
        longest = max(len(str(row[key])) for row in rows)
        # A name is there to be typed again, and must not be cut.
        table.add_column(key, overflow="fold", min_width=longest if key == "name" else None)
    for row in rows:
        table.add_row(*(Text(safe(str(value))) for value in row.values()))
    out().print(table if rows else "none")


def agents() -> list[Row]:
    """Return agents: presets first, then adapters."""
    rows: list[Row] = [
        {
            "name": name,
            "adapter": preset.adapter,
            "about": preset.note or ", ".join(f"{k}={v}" for k, v in preset.settings.items()),
        }
        for name, preset in config.presets(config_folders()).items()
    ]
    rows += [
        {"name": name, "adapter": name, "about": dropins.summary(path)}
        for name, path in dropins.catalogue("agents").items()
    ]
    return rows


def scenarios() -> list[Row]:
    """Return scenarios."""
    return [
        {"name": name, "about": dropins.summary(path), "file": str(path)}
        for name, path in dropins.catalogue("scenarios").items()
    ]


def suites() -> list[Row]:
    """Return suites."""
    rows: list[Row] = []
    for name, path in config.suites(config_folders()).items():
        suite = config.read_suite(path)
        count = sum(suite.count(each) for each in suite.scenarios)
        rows.append(
            {"name": name, "scenarios": len(suite.scenarios), "examples": count, "about": suite.about}
        )
    return rows


def runs() -> list[Row]:
    """Return the runs in reports/, also those that cannot be read."""
    rows: list[Row] = []
    for run in all_runs():
        try:
            manifest = read_manifest(run)
            row = {
                "name": run.name,
                "agent": manifest.agent.name,
                "suite": manifest.suite.name,
                "span": config.spell_span(manifest.span),
                "seed": manifest.seed,
                "score": "",
            }
            if (run / "results.json").exists():
                results = json.loads((run / "results.json").read_text("utf-8"))
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
