"""Reads TOML files. Every error names file, key and value."""

from collections.abc import Iterable
from datetime import date, time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ltm_bench.core.errors import ConfigError, unknown
from ltm_bench.core.limits import toml_in
from ltm_bench.plugins.files import bundled

PRESETS = "agents"
"""The stem of the file that holds agent presets; every other file in configs/ is a suite."""

LIKE_THIS = "one value a line, such as seed = 7; texts in quotes; lists in brackets"
"""What to write instead of YAML or JSON."""


def config_folders() -> list[Path]:
    """Return the folders in which suites and presets are looked for."""
    return [bundled("configs"), Path("configs")]


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file. Raises ConfigError with file and line."""
    try:
        return toml_in(path)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        advice = "" if path.suffix.lower() == ".toml" else f"; write it as TOML: {LIKE_THIS}"
        raise ConfigError(f"{path}: not valid TOML: {error}{advice}") from error


def explain(path: Path, error: ValidationError, known: Iterable[str], table: str = "") -> ConfigError:
    """Return an error for one mistake in a file: its key, its value, and what is expected.

    An unknown key comes first: it may be what another key that is missing was meant to be.
    """
    problems = error.errors()
    problem = next((each for each in problems if each["type"] == "extra_forbidden"), problems[0])
    where = ".".join(map(str, (*filter(None, [table]), *problem["loc"])))
    if problem["type"] == "extra_forbidden":
        return ConfigError(unknown(f"{path}: unknown key {where!r}", where, known))
    if problem["type"] == "missing":
        return ConfigError(f"{path}: {where} is missing")
    said = problem["msg"].removeprefix("Value error, ").removeprefix("Input ").lower()
    return ConfigError(
        f"{path}: {where} = {_spelt(problem['input']):.60}: {_EXPECTED.get(problem['type'], said)}"
    )


_EXPECTED = dict.fromkeys(("dict_type", "model_type"), "expected a table") | {
    "datetime_type": "write a time such as 2026-01-05T09:00:00Z"
}


def _spelt(value: object) -> str:
    """Return a value as TOML writes it, as far as that differs from Python."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date | time) else repr(value)


def config_files(folders: Iterable[Path]) -> list[Path]:
    """Return the TOML files in these folders, by name within each."""
    return [
        path for each in dict.fromkeys(f.resolve() for f in folders) for path in sorted(each.glob("*.toml"))
    ]
