"""Finds matchers: those in `ltm_bench/matchers/`, one in the `matcher.py` of each dataset, and users' own.

Nothing lists them. A user's own matcher is known once the scenario that defines it has been loaded.
"""

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from ltm_bench import datasets, matchers
from ltm_bench.core.errors import LogError
from ltm_bench.core.messages import Matcher
from ltm_bench.matchers.forms import build


@cache
def modules() -> tuple[ModuleType, ...]:
    """Import and return every module that can hold built-in matchers."""
    names = [f"{matchers.__name__}.{found.name}" for found in iter_modules(matchers.__path__)]
    for dataset in iter_modules(datasets.__path__):
        package = import_module(f"{datasets.__name__}.{dataset.name}")
        names += [
            f"{package.__name__}.{found.name}"
            for found in iter_modules(package.__path__)
            if found.name == "matcher"
        ]
    return tuple(map(import_module, names))


def built_in() -> Mapping[str, type[Matcher]]:
    """Map the name of every built-in matcher to its class."""
    found = (
        value
        for module in modules()
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__ and issubclass(value, Matcher)
    )
    return {kind.__name__: kind for kind in sorted(found, key=lambda kind: kind.__name__)}


def load(data: Mapping[str, Any]) -> Matcher:
    """Return the matcher of a JSON form, in the version of today. Raises LogError for an unknown one."""
    name = data.get("matcher")
    known = _defined()
    if name not in known:
        modules()
        known = _defined()
    if not isinstance(name, str) or name not in known:
        raise LogError(
            f"the log expects a matcher {name!r}, which is not defined (known: {', '.join(sorted(known))})"
        )
    return build(known[name], data)


def _defined() -> dict[str, type[Matcher]]:
    return {kind.__name__: kind for kind in _descendants(Matcher)}


def _descendants(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _descendants(each)
