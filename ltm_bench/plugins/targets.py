"""What an agent's replies depend on besides its adapter's file and its settings, as far as that can be known."""

import ast
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from ltm_bench.core.limits import python_in
from ltm_bench.plugins.files import bundled

UNKNOWN = "unknown"
"""The target is a service, a command or an address: what is behind it may have changed."""

_OUTSIDE = ("url", "base_url", "command")
"""Settings that lead out of this process."""


def target_of(adapter: Path, settings: Mapping[str, Any]) -> str | None:
    """Return the hash of the user's own code behind an agent.

    It covers the module that the setting `target` names, or an adapter's file, and what these import from their own
    folder. Data that the code reads is not covered.

    Returns:
        16 hex digits; `UNKNOWN` if the code is out of reach; None for an adapter that ships.
    """
    if any(settings.get(name) for name in _OUTSIDE):
        return UNKNOWN
    path, root = adapter, adapter.parent
    if isinstance(target := settings.get("target"), str):
        name = target.partition(":")[0]
        found = _found(name)
        if found is None or not found.endswith(".py"):
            return UNKNOWN
        path = Path(found)
        root = path.parents[name.count(".") + (path.name == "__init__.py")]
    elif adapter.is_relative_to(bundled("agents").resolve()):
        return None
    digest = hashlib.sha256()
    for file in sorted(_own(path, root)):
        digest.update(f"{file.relative_to(root).as_posix()}\n".encode())
        digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:16]


def _found(module: str) -> str | None:
    """Return the file of a module, looked for in the current folder first, as `python:` does; nothing is executed."""
    places, name, origin = [os.getcwd(), *sys.path], "", None
    for part in module.split("."):
        name = f"{name}.{part}".lstrip(".")
        if (spec := PathFinder.find_spec(name, places)) is None:
            return None
        places, origin = list(spec.submodule_search_locations or ()), spec.origin
    return origin


def _own(path: Path, root: Path) -> set[Path]:
    """Return a file, and all that it imports from below a folder."""
    found, left = set[Path](), [path]
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left += _files(file, root)
    return found


def _files(file: Path, root: Path) -> Iterator[Path]:
    """Yield the files below a folder that a file's imports may mean, packages' own files included."""
    try:
        tree = python_in(file)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        places = list[Path]()
        if isinstance(node, ast.Import):
            places = [root / alias.name.replace(".", os.sep) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = file.parents[node.level - 1] if node.level else root
            module = start / (node.module or "").replace(".", os.sep)
            places = [module, *(module / alias.name for alias in node.names)]
        for place in places:
            packages = [each / "__init__.py" for each in place.parents if each.is_relative_to(root)]
            for candidate in (place.with_name(f"{place.name}.py"), place / "__init__.py", *packages):
                if candidate.is_file() and candidate.is_relative_to(root):
                    yield candidate
