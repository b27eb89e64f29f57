"""Finds the modules of a package in which one file is one thing, such as charts and export formats.

Nothing lists them: adding the file adds the thing, to help texts and error messages too.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.plugins.files import summary


def members(package: ModuleType) -> Mapping[str, str]:
    """Map the name of each module in a package to the first line of its docstring. Imports none of them."""
    return {
        found.name: summary(Path(folder, f"{found.name}.py"))
        for folder in package.__path__
        for found in iter_modules([folder])
    }


def member(package: ModuleType, name: str, option: str) -> ModuleType:
    """Import a module of a package by its name.

    Args:
        package: Where it is.
        name: What the user typed.
        option: The option it was typed for, named in the error.

    Raises:
        ConfigError: There is no such module.
    """
    known = [found.name for found in iter_modules(package.__path__)]
    if name not in known:
        raise ConfigError(f"{option} {name}: unknown{nearest(name, known)} (known: {', '.join(known)})")
    return import_module(f"{package.__name__}.{name}")
