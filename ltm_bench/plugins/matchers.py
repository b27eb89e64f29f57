"""Finds matchers: in `ltm_bench/matchers/`, in the `matcher.py` of each dataset, and in users' scenarios.

No list names them. A module that defines matchers is one file with

- a frozen dataclass for each matcher, and the function that scenarios call for it;
- `EXAMPLES`, at least one matcher of each class, for the tests that guard every matcher;
- `UPGRADES`, if a released form has changed: see `load`.

A matcher in a user's file is known once its scenario has been loaded.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ltm_bench import datasets, matchers
from ltm_bench.core.errors import LogError
from ltm_bench.core.messages import Matcher
from ltm_bench.matchers.forms import Upgrade, build

# Two patterns, each for a line: one for both ran back and forth over whole files.
_MATCHER = re.compile(r"Matcher\):$", re.MULTILINE)
_VERSION = re.compile(r"^    version: ClassVar\[int\] = (\d+)$", re.MULTILINE)


def modules() -> Iterator[ModuleType]:
    """Import and yield every module that can hold built-in matchers, those of datasets last."""
    return map(import_module, _texts())


@cache
def _texts() -> Mapping[str, str]:
    """Return the text of each of these modules: a run uses few of them, and importing all takes a while."""
    own = {f"{matchers.__name__}.{each.stem}": each for each in _in(matchers, "[!_]*.py")}
    theirs = {
        f"{datasets.__name__}.{each.parent.name}.matcher": each for each in _in(datasets, "*/matcher.py")
    }
    return {name: path.read_text("utf-8") for name, path in (own | theirs).items()}


def _in(package: ModuleType, pattern: str) -> list[Path]:
    return sorted(path for folder in package.__path__ for path in Path(folder).glob(pattern))


def versions() -> dict[str, int]:
    """Return the version of every built-in matcher by its name, without importing it."""
    given: dict[str, int] = {}
    for code in (each for text in _texts().values() for each in text.split("\nclass ")[1:]):
        head, said = code.partition("\n")[0], _VERSION.search(code)
        if "(" in head and (said is not None or _MATCHER.search(head)):
            given[head.partition("(")[0]] = int(said[1]) if said is not None else Matcher.version
    return dict(sorted(given.items()))


def built_in() -> Mapping[str, type[Matcher]]:
    """Map the name of every built-in matcher to its class."""
    found = (kind for module in modules() for kind in _classes(module))
    return {kind.__name__: kind for kind in sorted(found, key=lambda kind: kind.__name__)}


def examples() -> Mapping[str, tuple[Matcher, ...]]:
    """Map the name of every built-in matcher to its module's examples; () if it has none."""
    given = [example for module in modules() for example in getattr(module, "EXAMPLES", ())]
    return {name: tuple(each for each in given if type(each) is kind) for name, kind in built_in().items()}


def short_names() -> Mapping[str, Callable[..., Matcher]]:
    """Return, by name, the functions that make built-in matchers; `ltm_bench` exports them."""
    return {name: function for module in modules() for name, function in _functions(module).items()}


@cache
def _functions(module: ModuleType) -> Mapping[str, Callable[..., Matcher]]:
    """Return the functions that are annotated to return a matcher of their own module."""
    kinds = {form for kind in _classes(module) for form in (kind, kind.__name__)}
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
        and value.__annotations__.get("return") in kinds
    }


def load(data: Mapping[str, Any]) -> Matcher:
    """Return the matcher of a JSON form, upgraded to today's version. Raises LogError if it is unknown.

    If a matcher's name or fields have changed since a release, its module's `UPGRADES` maps the old (name, version) to
    a function that converts the data to a newer form. Upgrades are applied until none matches.
    """
    kind = _defined().get(str(data.get("matcher")))
    if kind is not None and kind.version == data.get("version"):
        return build(kind, data)  # nearly every form, and the other modules need not be imported
    data = _upgraded(data)
    name, known = data.get("matcher"), _defined()
    if not isinstance(name, str) or name not in known:
        raise LogError(
            f"the log expects a matcher {name!r}, which is not defined (known: {', '.join(sorted(known))})"
        )
    return build(known[name], data)


def _upgraded(data: Mapping[str, Any]) -> Mapping[str, Any]:
    upgrades, done = _upgrades(), list[str]()
    while (upgrade := upgrades.get(form := _form(data))) is not None:
        if form in done:
            raise LogError(f"the upgrades of the matcher {form} lead back to it; each must give a newer form")
        done.append(form)
        data = upgrade(data)
    return data


def _form(data: Mapping[str, Any]) -> str:
    """Return the name and version of a JSON form as one text; a damaged log may hold anything."""
    return f"{data.get('matcher')} {data.get('version', 1)}"


def _upgrades() -> Mapping[str, Upgrade]:
    users = dict.fromkeys(sys.modules.get(kind.__module__) for kind in _defined().values())
    return {
        f"{name} {version}": upgrade
        for module in dict.fromkeys((*modules(), *users))
        for (name, version), upgrade in getattr(module, "UPGRADES", {}).items()
    }


def _classes(module: ModuleType) -> list[type[Matcher]]:
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__ and issubclass(value, Matcher)
    ]


def _defined() -> dict[str, type[Matcher]]:
    return {kind.__name__: kind for kind in _descendants(Matcher)}


def _descendants(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _descendants(each)
