"""Finds packs: scenarios and adapters that third parties distribute, declared as entry points.

    [project.entry-points."ltm_bench.scenarios"]
    chess = "chess_memory.scenarios"

An entry point names a module, or a package whose folder holds .py and .toml files. They join the catalogue under their
stems. Finding them imports nothing, not even their package.
"""

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, EntryPoints, distributions, entry_points
from importlib.util import find_spec
from pathlib import Path

from ltm_bench.core.errors import PluginError


def packed(group: str) -> tuple[Path, ...]:
    """Return the files and folders that installed packs declare. Raises PluginError if one is missing."""
    return _places(group, tuple(sys.path))


@lru_cache(maxsize=8)
def _places(group: str, path: tuple[str, ...]) -> tuple[Path, ...]:
    declared = sorted(_declared(path)(group=group), key=lambda each: (each.name, each.value))
    return tuple(dict.fromkeys(place for each in declared for place in _located(group, each)))


@lru_cache(maxsize=1)  # reading what all distributions declare takes longer than all other look-ups together
def _declared(path: tuple[str, ...]) -> Callable[..., EntryPoints]:
    try:
        return entry_points().select
    except (ValueError, TypeError) as error:  # one bad file hides what all others declare
        bad = next((each.name for each in distributions() if not _readable(each)), "an installed package")
        raise PluginError(f"{bad}: its entry_points.txt cannot be read; reinstall or remove {bad}") from error


def _readable(pack: Distribution) -> bool:
    try:
        return bool(pack.entry_points) or True
    except (ValueError, TypeError):
        return False


def _located(group: str, declared: EntryPoint) -> Iterator[Path]:
    """Yield the folders, or the file, of a module; a namespace package can have several folders."""
    try:
        top, *parts = declared.module.split(".")
        # a name without a dot: imports nothing; `__main__` is whatever program this is
        spec = find_spec(top) if top != "__main__" else None
    except (
        AttributeError,
        ValueError,
    ):  # no name of a module, or of one that was not imported, such as __main__
        spec = None
    if spec is None:
        found = []
    elif spec.submodule_search_locations is None:
        found = [] if spec.origin is None or not spec.has_location or parts else [Path(spec.origin)]
    else:
        inner = [Path(folder, *parts) for folder in spec.submodule_search_locations]
        found = [each if each.is_dir() else each.with_suffix(".py") for each in inner]
        found = [each for each in found if each.exists()]
    if not found:
        pack = declared.dist.name if declared.dist is not None else declared.name
        raise PluginError(
            f"the pack {pack} declares {group} = {declared.value!r}, which cannot be found; reinstall or remove {pack}"
        )
    yield from (place.resolve() for place in found)
