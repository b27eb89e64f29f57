"""Finds the modules of packages with one file per thing, such as charts and export formats.

There is no list: adding the file adds the thing, also to help texts and error messages.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from ltm_bench.core.errors import check_known
from ltm_bench.plugins.files import summary


def members(package: str) -> Mapping[str, str]:
    """Map the name of each module in a package to the first line of its docstring. Imports none of them."""
    spec = find_spec(package)
    folders = (spec and spec.submodule_search_locations) or []
    return {
        found.name: summary(Path(folder, f"{found.name}.py"))
        for folder in folders
        for found in iter_modules([folder])
    }


def described(package: str) -> str:
    """Return one line per module of a package, for an option's help."""
    return "; ".join(f"{name}: {line.removesuffix('.')}" for name, line in members(package).items()) + "."


def member(package: str, name: str, option: str) -> ModuleType:
    """Import a module of a package by its name.

    Args:
        package: The dotted name of the package.
        name: What the user typed.
        option: The option to name in the error.

    Raises:
        ConfigError: There is no such module.
    """
    known = members(package)
    check_known(f"{option} {name}: unknown", name, known)
    return import_module(f"{package}.{name}")
