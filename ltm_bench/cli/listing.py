"""`list agents|scenarios|suites|runs`."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from ltm_bench import config, dropins
from ltm_bench.cli.console import out, safe
from ltm_bench.cli.planning import all_runs, config_folders
from ltm_bench.errors import LtmBenchError
from ltm_bench.log import read_manifest

app = typer.Typer(help="List what there is.", no_args_is_help=True, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", envvar="LTM_BENCH_JSON", help="Print JSON.")]


def _print(rows: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    if as_json:
        out().print(json.dumps(rows, ensure_ascii=False, indent=1), markup=False)
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for key in rows[0] if rows else ():
        table.add_column(key)
    for row in rows:
        table.add_row(*(safe(str(value)) for value in row.values()))
    out().print(table if rows else "none")


@app.command()
def agents(as_json: Json = False) -> None:
    """List agents: presets and adapters, yours included."""
    rows = [
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
    _print(rows, as_json)


@app.command()
def scenarios(as_json: Json = False) -> None:
    """List scenarios, yours included."""
    rows = [
        {"name": name, "about": dropins.summary(path), "file": str(path)}
        for name, path in dropins.catalogue("scenarios").items()
    ]
    _print(rows, as_json)


@app.command()
def suites(as_json: Json = False) -> None:
    """List suites, yours included."""
    rows = []
    for name, path in config.suites(config_folders()).items():
        suite = config.read_suite(path)
        count = sum(suite.count(each) for each in suite.scenarios)
        rows.append(
            {"name": name, "scenarios": len(suite.scenarios), "examples": count, "about": suite.about}
        )
    _print(rows, as_json)


@app.command()
def runs(as_json: Json = False) -> None:
    """List the runs in reports/."""
    rows = []
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
        except (LtmBenchError, ValueError, KeyError) as error:
            row = {
                "name": run.name,
                "agent": f"unreadable: {error}",
                "suite": "",
                "span": "",
                "seed": "",
                "score": "",
            }
        rows.append(row)
    _print(rows, as_json)
