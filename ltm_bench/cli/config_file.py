"""The file of `--config`: values for a command's options, by their names."""

import datetime
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
        if name == "settings":
            yield "setting", list(_pairs(path, name, "", value))
        elif name == "parameters":
            tables = _table(path, name, value).items()
            yield (
                "parameter",
                [pair for row, table in tables for pair in _pairs(path, f"{name}.{row}", f"{row}.", table)],
            )
        elif name not in known:
            names = [*known, "settings", "parameters"]
            raise ConfigError(
                f"{path}: unknown key {key!r}{nearest(name, names)} (known: {', '.join(names)})"
            )
        elif isinstance(value, dict):
            raise ConfigError(f"{path}: {key} is a table; write a value, as for --{key}")
        elif getattr(known[name], "is_flag", False):
            if not isinstance(value, bool):
                raise ConfigError(f"{path}: {key} = {value!r:.60}: write true or false")
            yield name, value
        elif not isinstance(value, list):
            yield name, _plain(path, key, value)
        elif known[name].multiple:
            yield name, [_plain(path, key, each) for each in value]
        else:
            raise ConfigError(f"{path}: {key} = {value!r:.60}: write a single value, as for --{key}")


def _table(path: Path, key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: {key} = {value!r:.60}: expected a table")
    return value


def _pairs(path: Path, key: str, before: str, table: object) -> Iterator[str]:
    """Yield a table's values as `-A` and `-P` take them. Raises ConfigError."""
    for name, value in _table(path, key, table).items():
        yield f"{before}{name}={_spelled(path, f'{key}.{name}', value)}"


def _plain(path: Path, key: str, value: object) -> str:
    """Return a value as it would be typed. Raises ConfigError."""
    if isinstance(value, bool | list | dict):
        raise ConfigError(f"{path}: {key} = {value!r:.60}: write a text or a number, as for --{key}")
    return str(value)


def _spelled(path: Path, key: str, value: object) -> str:
    """Return a value as TOML that fits on one line. Raises ConfigError."""
    if isinstance(value, datetime.date | datetime.time):
        raise ConfigError(f"{path}: {key} = {value}: write dates and times in quotes")
    if isinstance(value, dict):
        pairs = (f"{_spelled(path, key, name)} = {_spelled(path, key, each)}" for name, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_spelled(path, key, each) for each in value)}]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
