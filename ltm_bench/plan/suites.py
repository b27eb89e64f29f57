"""What `configs/` holds: suites (which scenarios, how many examples, which parameters), and presets of agents."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from filecmp import cmp
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ltm_bench.core.errors import ConfigError
from ltm_bench.log.controls import parse_controls
from ltm_bench.log.manifest import Start
from ltm_bench.plan.tables import PRESETS, config_files, explain, read_toml
from ltm_bench.plan.values import parse_span

SPAN = "32k"
"""The default span, for suites that set none."""

_RESERVED = ("examples", "least_span", "pace", "scenario")


_ROW = re.compile(r"[\w.-]{1,60}")


class Suite(BaseModel):
    """Which scenarios, how many examples each, with which parameters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str = ""
    examples: int = Field(default=3, ge=1, strict=True)
    stagger: float = Field(default=0.01, ge=0.0, le=1.0)
    """Minimum distance between the starts of two examples, as a fraction of the span."""
    start: Start = Field(default=datetime(2026, 1, 5, 9, tzinfo=UTC), strict=True)
    """Benchmark time of the first message."""
    opening: str | None = None
    """What the agent hears first of all, such as what is going to happen."""
    isolated: bool = False
    decoys: bool = False
    """Whether filler holds decoys, and longer messages hold needles; only in one conversation, of 8k and more."""
    public: bool = False
    """Whether its examples are histories of a public set: `--examples` counts their questions, and agents that observe
    are not asked to answer needles.
    """
    span: str = SPAN
    """Default span of its runs."""
    controls: tuple[str, ...] = ()
    """Asked once a run has ended, unless --control names others."""
    scenarios: dict[str, dict[str, Any]] = Field(min_length=1)
    """Parameters by scenario; `examples` overrides the suite's, and below `least_span` the scenario is left out.

    A row may have its own name, and name the scenario that it plays under `scenario`. With `pace = true` it is asked
    only if a run may wait in real time.
    """

    def count(self, scenario: str) -> int:
        """Return the number of examples of a scenario."""
        return int(self.scenarios.get(scenario, {}).get("examples", self.examples))

    def plays(self, row: str) -> str:
        """Return the scenario that a row plays."""
        return str(self.scenarios.get(row, {}).get("scenario", row))

    def least_span(self, scenario: str) -> int:
        """Return the span in tokens below which a scenario is left out; 0 if it never is."""
        least = self.scenarios[scenario].get("least_span")
        return 0 if least is None else parse_span(str(least))

    def fitting(self, span: int, *, pace: bool = False) -> list[str]:
        """Return the scenarios asked at a span, by a run that may wait in real time or may not."""
        fits = [name for name in self.scenarios if self.isolated or span >= self.least_span(name)]
        return [name for name in fits if pace or not self.scenarios[name].get("pace")]

    def parameters(self, scenario: str) -> dict[str, Any]:
        """Return the parameters that the suite sets for a scenario."""
        return {k: v for k, v in self.scenarios.get(scenario, {}).items() if k not in _RESERVED}

    def usual(self, scenario: str) -> tuple[int, dict[str, Any]]:
        """Return how many examples a scenario has, and with which parameters, if no option says otherwise."""
        return self.count(scenario), self.parameters(scenario)

    def alone(self) -> "Suite":
        """Return the suite with an example for each question; only public sets can tell a history again."""
        return self


def suites(folders: Iterable[Path]) -> Mapping[str, Path]:
    """Map each suite's name to its file. Raises ConfigError if two different suites share a name."""
    found: dict[str, Path] = {}
    for path in config_files(folders):
        if path.stem == PRESETS:
            continue
        other = found.setdefault(path.stem, path)
        # Not read, and not with itself: a file of 3 GB in ./configs took 6 GB of memory.
        if other != path and not cmp(other, path, shallow=False):
            raise ConfigError(f"two suites are called {path.stem!r}: {other} and {path}; rename yours")
    return found


def read_suite(path: Path) -> Suite:
    """Read a suite. Raises ConfigError."""
    content = read_toml(path)
    try:
        suite = Suite.model_validate(content)
    except ValidationError as error:
        raise explain(path, error, Suite.model_fields) from error
    if suite.start.tzinfo is None:
        raise ConfigError(f"{path}: start = {suite.start.isoformat()} has no timezone; add a Z for UTC")
    try:
        parse_span(suite.span)
    except ConfigError:
        raise ConfigError(f"{path}: span = {suite.span!r}: write a number of tokens such as 32k") from None
    try:
        parse_controls(suite.controls)
    except ConfigError as error:
        raise ConfigError(f"{path}: controls = {[*suite.controls]}: {error}") from None
    for name, table in suite.scenarios.items():
        count = table.get("examples", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ConfigError(
                f"{path}: scenarios.{name}.examples = {count!r}: must be a whole number of at least 1"
            )
        played = table.get("scenario", name)
        if not isinstance(played, str) or not played:
            raise ConfigError(
                f"{path}: scenarios.{name}.scenario = {played!r}: must be the name of a scenario"
            )
        if not _ROW.fullmatch(name):
            raise ConfigError(
                f"{path}: scenarios.{name}: a name consists of letters, digits, '_', '.' and '-'"
            )
        if not isinstance(pace := table.get("pace", False), bool):
            raise ConfigError(f"{path}: scenarios.{name}.pace = {pace!r}: write true or false")
        try:
            suite.least_span(name)
        except ConfigError:
            least = table["least_span"]
            raise ConfigError(
                f"{path}: scenarios.{name}.least_span = {least!r}: write a number of tokens such as 8k"
            ) from None
    return suite


class Preset(BaseModel):
    """An agent's short name: an adapter with settings."""

    model_config = ConfigDict(frozen=True, extra="allow")

    adapter: str
    note: str = ""
    retires: date | None = None
    """The day on which its provider shuts the model down."""
    successor: str = ""
    """The preset that the provider recommends then."""

    @property
    def end(self) -> str:
        """Return when the model is shut down, and its successor, in words; empty if unknown."""
        if self.retires is None:
            return ""
        instead = f"; its replacement is {self.successor}" if self.successor else ""
        return f"shut down by its provider on {self.retires.day} {self.retires:%B %Y}{instead}"

    @property
    def settings(self) -> dict[str, Any]:
        """Return all settings for the adapter."""
        return dict(self.model_extra or {})


def presets(folders: Iterable[Path]) -> Mapping[str, Preset]:
    """Map each short name to its preset. Raises ConfigError if two different presets share a name."""
    found: dict[str, Preset] = {}
    for path in config_files(folders):
        if path.stem != PRESETS:
            continue
        for name, table in read_toml(path).items():
            try:
                preset = Preset.model_validate(table)
            except ValidationError as error:
                raise explain(path, error, Preset.model_fields, name) from error
            if found.setdefault(name, preset) != preset:
                raise ConfigError(f"{path}: there already is a preset {name!r}; rename yours")
    return found
