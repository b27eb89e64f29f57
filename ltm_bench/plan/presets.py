"""Presets: short names for an adapter with settings."""

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.tables import PRESETS, config_files, explain, read_toml


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
