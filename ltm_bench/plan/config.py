"""Suites and agent presets: TOML files in, frozen models out. Every mistake is named with file, key and value."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ltm_bench.core.errors import ConfigError, nearest

PRESETS = "agents"
"""The stem of the file that holds agent presets; every other file in configs/ is a suite."""

_RESERVED = ("examples", "least_span", "scenario")


_ROW = re.compile(r"[\w.-]{1,60}")


class Suite(BaseModel):
    """Which scenarios, how many examples each, with which parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str = ""
    examples: int = Field(default=3, ge=1, strict=True)
    stagger: float = Field(default=0.01, ge=0.0, le=1.0)
    """Least distance between the starts of two examples, as a fraction of the span."""
    start: datetime = Field(default=datetime(2026, 1, 5, 9, tzinfo=UTC), strict=True)
    """The benchmark's time of the first message."""
    isolated: bool = False
    scenarios: dict[str, dict[str, Any]] = Field(min_length=1)
    """Parameters by scenario; `examples` overrides the suite's, and below `least_span` the scenario is left out.

    A row may have a name of its own, with the scenario that it plays under `scenario`.
    """

    def count(self, scenario: str) -> int:
        """Return how many examples of a scenario there are."""
        return int(self.scenarios[scenario].get("examples", self.examples))

    def plays(self, row: str) -> str:
        """Return the scenario that a row plays."""
        return str(self.scenarios.get(row, {}).get("scenario", row))

    def least_span(self, scenario: str) -> int:
        """Return the span in tokens below which a scenario is left out; 0 where it never is."""
        least = self.scenarios[scenario].get("least_span")
        return 0 if least is None else parse_span(str(least))

    def parameters(self, scenario: str) -> dict[str, Any]:
        """Return what the suite sets of a scenario."""
        return {k: v for k, v in self.scenarios[scenario].items() if k not in _RESERVED}


class Preset(BaseModel):
    """An agent's short name: an adapter with settings."""

    model_config = ConfigDict(frozen=True, extra="allow")

    adapter: str
    note: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """Return everything that goes to the adapter."""
        return dict(self.model_extra or {})


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file. Raises ConfigError with file and line."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def _explain(path: Path, error: ValidationError, known: Iterable[str], table: str = "") -> ConfigError:
    problem = error.errors()[0]
    where = ".".join(map(str, (*filter(None, [table]), *problem["loc"])))
    if problem["type"] == "extra_forbidden":
        return ConfigError(
            f"{path}: unknown key {where!r}{nearest(where, known)} (known: {', '.join(known)})"
        )
    shown = "" if problem["type"] == "missing" else f" = {problem['input']!r:.60}"
    what = "it is a table" if problem["type"] in ("dict_type", "model_type") else problem["msg"].lower()
    return ConfigError(f"{path}: {where}{shown}: {what}")


def suites(folders: Iterable[Path]) -> Mapping[str, Path]:
    """Map the name of every suite to its file. Raises ConfigError where two different ones have the same name."""
    found: dict[str, Path] = {}
    for path in _files(folders):
        if path.stem == PRESETS:
            continue
        other = found.setdefault(path.stem, path)
        if other.read_bytes() != path.read_bytes():
            raise ConfigError(f"two suites are called {path.stem!r}: {other} and {path}; rename yours")
    return found


def read_suite(path: Path) -> Suite:
    """Read a suite. Raises ConfigError."""
    content = read_toml(path)
    try:
        suite = Suite.model_validate(content)
    except ValidationError as error:
        raise _explain(path, error, Suite.model_fields) from error
    if suite.start.tzinfo is None:
        raise ConfigError(f"{path}: start = {suite.start.isoformat()} has no timezone; add a Z for UTC")
    for name, table in suite.scenarios.items():
        count = table.get("examples", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ConfigError(f"{path}: scenarios.{name}.examples = {count!r}: it is a whole number from 1")
        played = table.get("scenario", name)
        if not isinstance(played, str) or not played:
            raise ConfigError(f"{path}: scenarios.{name}.scenario = {played!r}: it is the name of a scenario")
        if not _ROW.fullmatch(name):
            raise ConfigError(
                f"{path}: scenarios.{name}: a name is made of letters, digits, '_', '.' and '-'"
            )
        try:
            suite.least_span(name)
        except ConfigError:
            least = table["least_span"]
            raise ConfigError(
                f"{path}: scenarios.{name}.least_span = {least!r}: write a number of tokens such as 8k"
            ) from None
    return suite


def presets(folders: Iterable[Path]) -> Mapping[str, Preset]:
    """Map the short name of every agent to its preset. Raises ConfigError where two different ones share a name."""
    found: dict[str, Preset] = {}
    for path in _files(folders):
        if path.stem != PRESETS:
            continue
        for name, table in read_toml(path).items():
            try:
                preset = Preset.model_validate(table)
            except ValidationError as error:
                raise _explain(path, error, Preset.model_fields, name) from error
            if found.setdefault(name, preset) != preset:
                raise ConfigError(f"{path}: the agent {name!r} is preset already; rename yours")
    return found


def _files(folders: Iterable[Path]) -> list[Path]:
    return [
        path for each in dict.fromkeys(f.resolve() for f in folders) for path in sorted(each.glob("*.toml"))
    ]


_SPAN = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kKmM]?)", re.ASCII)


def parse_span(text: str) -> int:
    """Read a span in tokens: `2k`, `120k`, `1M`, `1.5M` or a plain number. Raises ConfigError."""
    match = _SPAN.fullmatch(text.strip().replace("_", ""))
    if match is None:
        raise ConfigError(f"--span {text}: write a number of tokens such as 2k, 120k, 1M or 32000")
    tokens = float(match.group(1)) * {"": 1, "k": 1000, "m": 1_000_000}[match.group(2).lower()]
    if tokens != int(tokens) or not 1 <= tokens <= 1_000_000_000:
        raise ConfigError(f"--span {text}: it is a whole number of tokens from 1 to 1000M")
    return int(tokens)


def spell_span(tokens: int) -> str:
    """Write a span as people do: `120k`, `1M`, or the plain number."""
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if tokens >= size and tokens % (size // 10) == 0:
            return f"{tokens / size:g}{unit}"
    return str(tokens)


def parse_value(text: str) -> Any:
    """Read the value of `-A key=value`: TOML where that gives what a log can hold (no dates), else the text itself."""
    try:
        content = tomllib.loads(f"value = {text}")
        json.dumps(content, allow_nan=False)
    except (tomllib.TOMLDecodeError, TypeError, ValueError):
        return text
    return content["value"] if len(content) == 1 else text
