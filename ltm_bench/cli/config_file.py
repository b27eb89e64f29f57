"""The file of `--config`: values for a command's options, by their names."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.plan.tables import read_toml


def take_values(ctx: typer.Context, path: Path | None) -> Path | None:
    """Use a file's values for options that are not on the command line."""
    if path is not None:
        known = {each.name: each for each in ctx.command.params if each.name not in (None, "config", "help")}
        ctx.default_map = dict(_values(path, known))
    return path


def _values(path: Path, known: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in read_toml(path).items():
        name = key.replace("-", "_")
        if name == "settings" and isinstance(value, dict):
            yield "setting", [f"{each}={json.dumps(item)}" for each, item in value.items()]
        elif name == "parameters" and isinstance(value, dict):
            tables = [(each, table) for each, table in value.items() if isinstance(table, dict)]
            yield (
                "parameter",
                [f"{row}.{each}={json.dumps(item)}" for row, table in tables for each, item in table.items()],
            )
        elif name not in known:
            names = [*known, "settings", "parameters"]
            raise ConfigError(
                f"{path}: unknown key {key!r}{nearest(name, names)} (known: {', '.join(names)})"
            )
        elif isinstance(value, dict):
            raise ConfigError(f"{path}: {key} is a table; write a value, as for --{key}")
        elif isinstance(value, list) and not known[name].multiple:
            raise ConfigError(f"{path}: {key} = {value!r:.60}: write a single value, as for --{key}")
        elif isinstance(value, list):
            yield name, list(map(str, value))
        else:
            yield name, value if isinstance(value, bool) else str(value)
