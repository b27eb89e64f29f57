"""The catalogue: every known scenario and adapter, read once and passed around."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ltm_bench.plugins.files import Kind, catalogue, content_hash, find, formerly
from ltm_bench.plugins.scenarios import scenario_at
from ltm_bench.script.scenario import Scenario


@dataclass(frozen=True)
class Catalogue:
    """All scenarios and adapters. The folders are listed once, and each file is read and hashed at most once.

    A catalogue does not notice later changes to files: open one per request.
    """

    scenarios: Mapping[str, Path]
    agents: Mapping[str, Path]
    _hashes: dict[Path, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    _loaded: dict[Path, Scenario] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def open(cls) -> "Catalogue":
        """List the built-in plugins, those of packs, and the user's own. Raises PluginError for a clash of names."""
        return cls(catalogue("scenarios"), catalogue("agents"))

    def find(self, kind: Kind, name: str) -> Path:
        """Return the file of a name or path. Raises PluginError, with the nearest name, if it is unknown."""
        return find(kind, name, known=self.scenarios if kind == "scenarios" else self.agents)

    def scenario(self, name: str) -> Scenario:
        """Return a scenario. Raises PluginError if there is none, or its file cannot be used."""
        path = self.find("scenarios", name)
        if path not in self._loaded:
            self._loaded[path] = scenario_at(path)
        return self._loaded[path]

    def hash(self, name: str, kind: Kind = "scenarios", was: str = "") -> str:
        """Return the hash of a scenario's file, or of an adapter's, as the manifest records it. Raises PluginError.

        That of an earlier version, `was`, is returned as it is if the file goes on with its runs.
        """
        path = self.find(kind, name)
        if was and formerly(path, was) is not None:
            return was
        if path not in self._hashes:
            self._hashes[path] = content_hash(path)
        return self._hashes[path]
