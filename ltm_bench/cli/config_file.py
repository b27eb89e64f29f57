"""Files of options: values for a command's options, by the names of its arguments or of the options."""

import datetime
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

import typer

from ltm_bench.core.errors import ConfigError, unknown
from ltm_bench.plan.declaring import FORMER, Argument
from ltm_bench.plan.tables import read_toml


def take_values(ctx: typer.Context, path: Path | None) -> Path | None:
    """Use a file's values for options that are not on the command line."""
    if path is not None:
        ctx.default_map = values_of(ctx, path)
    return path


def values_of(ctx: typer.Context, path: Path, besides: Collection[str] = ()) -> dict[str, Any]:
    """Return a file's values by the names of parameters, but for some keys. Raises ConfigError."""
    arguments: Mapping[str, Argument] = vars(ctx.command.callback)["arguments"]
    options = [each for each in ctx.command.params if each.param_type_name == "option" and not each.is_eager]
    names = {str(each.name): each for each in options}
    known = {flag.lstrip("-").replace("-", "_"): each for each in options for flag in each.opts} | names
    found: dict[str, Any] = {}
    for key, value in read_toml(path).items():
        if key in besides:
            continue
        option = known.get(FORMER.get(key, key).replace("-", "_"))
        if option is None:
            listed = list(dict.fromkeys([*names, *besides]))
            raise ConfigError(unknown(f"{path}: unknown key {key!r}", key, listed))
        name = str(option.name)
        if name in arguments and Mapping in arguments[name].kinds and not isinstance(value, list):
            found[name] = list(_pairs(path, key, "", value, _values_in(arguments[name].kind)))
        elif isinstance(value, dict):
            raise ConfigError(f"{path}: {key} is a table; write a value, as for {option.opts[0]}")
        elif getattr(option, "is_flag", False):
            if not isinstance(value, bool):
                raise ConfigError(f"{path}: {key} = {value!r:.60}: write true or false")
            found[name] = value
        elif option.multiple != isinstance(value, list):
            wanted = f"write a list, such as {[value]!r:.60}" if option.multiple else "write a single value"
            raise ConfigError(f"{path}: {key} = {value!r:.60}: {wanted}, as for {option.opts[0]}")
        elif value == []:  # which would mean what is usual: all scenarios, seed 0
            raise ConfigError(f"{path}: {key} = []: no {key.removesuffix('s')} is named; leave it out")
        else:
            found[name] = (
                [_plain(path, key, each) for each in value] if option.multiple else _plain(path, key, value)
            )
    return found


def _values_in(kind: Any) -> Any:
    """Return the type of the values of a mapping: `Any` for `Mapping[str, Any] | None`."""
    mapping = next(each for each in (kind, *get_args(kind)) if get_origin(each) is Mapping)
    return get_args(mapping)[1]


def _pairs(path: Path, key: str, before: str, table: object, values: Any) -> Iterator[str]:
    """Yield a table's values as `-A`, `-P` and `--tag` take them. Raises ConfigError."""
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {key} = {table!r:.60}: expected a table")
    for name, value in table.items():
        inner = f"{key}.{name}"
        if get_origin(values) is Mapping:
            yield from _pairs(path, inner, f"{before}{name}.", value, get_args(values)[1])
        else:
            yield f"{before}{name}={(_plain if values is str else _spelled)(path, inner, value)}"


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
