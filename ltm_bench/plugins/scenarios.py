"""Loads scenarios by their name, or by the path of their file."""

from pathlib import Path

from ltm_bench.core.errors import PluginError
from ltm_bench.plugins.files import find, load
from ltm_bench.script.scenario import Scenario


def scenario(name: str) -> Scenario:
    """Return a scenario. Raises PluginError if there is none, or its file cannot be used."""
    return scenario_at(find("scenarios", name))


def scenario_at(path: Path) -> Scenario:
    """Return the scenario in a file. Raises PluginError if the file cannot be used."""
    if path.suffix == ".toml":
        from ltm_bench.script import toml

        return toml.read(path)
    found = [value for value in vars(load(path)).values() if isinstance(value, Scenario)]
    for each in found:
        if each.name == path.stem:
            return each
    names = ", ".join(each.name for each in found) or "none"
    raise PluginError(
        f"{path}: the function under @scenario must be called {path.stem!r}, like its file (found: {names})"
    )
