"""What a package imports late: as lines of its own file, for type checkers, which are read here as text."""

import re
import sys
from functools import cache
from importlib import import_module
from inspect import getsource

_LINE = re.compile(r"^    from (\S+) import \w+ as (\w+)$", re.MULTILINE)


@cache
def modules_of(package: str) -> dict[str, str]:
    """Map the names that a package gives to the modules that they come from."""
    return {name: module for module, name in _LINE.findall(getsource(sys.modules[package]))}


def given(package: str, name: str) -> object:
    """Import what a package gives by a name, on its first use (PEP 562). Raises AttributeError."""
    if name == "__all__":
        return sorted(modules_of(package))
    if name.startswith("_") or (module := modules_of(package).get(name)) is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    found = import_module(f"{module}.{name}" if module == package else module)
    return found if module == package else getattr(found, name)
