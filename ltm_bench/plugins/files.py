"""Finds and loads plugins, the files in scenarios/ and agents/: one file, one scenario or adapter, named by its stem.

Plugins come from three places: the built-in folders, packs of third parties, and the folder of that kind in the current
directory. Two different files with the same name are an error. Listing executes nothing; only the requested file is
executed.

Packs are scenarios and adapters that third parties distribute, declared as entry points:

    [project.entry-points."ltm_bench.scenarios"]
    chess = "chess_memory.scenarios"

An entry point names a module, or a package whose folder holds .py and .toml files. They join the catalogue under their
stems. Finding them imports nothing, not even their package.
"""

import ast
import hashlib
import importlib.util
import json
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, EntryPoints, distributions, entry_points
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from traceback import walk_tb
from types import ModuleType
from typing import Any, Literal, get_args

from ltm_bench.core.errors import LtmBenchError, PluginError, described, unknown
from ltm_bench.core.extras import dependency
from ltm_bench.core.limits import PYTHON, python_in

Kind = Literal["scenarios", "agents"]

_ENDINGS: Mapping[Kind, tuple[str, ...]] = {"scenarios": (".py", ".toml"), "agents": (".py",)}

_HERE = Path(__file__).resolve().parents[1]

_PATHS = sysconfig.get_paths()
_NOT_OWN = (
    "<",
    f"{_HERE}{os.sep}",
    *(_PATHS[each] for each in ("stdlib", "platstdlib", "purelib", "platlib")),
)
"""How the files begin that are not a user's own; those that begin with `<` are no files."""

_PREFIX = "ltm_bench._bundled."
"""Prefix of plugins' names in `sys.modules`."""


def bundled(folder: str) -> Path:
    """Return a folder that ships with ltm-bench: from inside the wheel, or from the checkout."""
    in_wheel = _HERE / "_bundled" / folder
    return in_wheel if in_wheel.is_dir() else _HERE.parent / folder


def catalogue(kind: Kind) -> dict[str, Path]:
    """Map each name to its file. Raises PluginError if two different files have the same name.

    The same file in two places is not a clash: the current directory may be a checkout while the wheel is installed.
    """
    found: dict[str, Path] = {}
    for path in _files(kind):
        other = found.setdefault(path.stem, path)
        if other != path and (other.suffix != path.suffix or content_hash(other) != content_hash(path)):
            raise PluginError(f"two {kind} are called {path.stem!r}: {other} and {path}; rename one of them")
    return found


def _files(kind: Kind) -> Iterator[Path]:
    """Yield the built-in files, those of packs, and the user's own."""
    endings = _ENDINGS[kind]
    yield from _listed(bundled(kind).resolve(), endings)
    for place in packed(f"ltm_bench.{kind}"):
        yield from _listed(place, endings) if place.is_dir() else [place]
    yield from _listed(Path(kind).resolve(), endings)


def _listed(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    return sorted(path for path in folder.glob("[!_.]*") if path.suffix in endings and path.is_file())


def find(kind: Kind, name: str, *, known: Mapping[str, Path] | None = None) -> Path:
    """Return the file of a scenario or an adapter.

    Args:
        kind: The folder to look in.
        name: A name in the catalogue, or a file's path.
        known: The catalogue, if the caller has it.

    Raises:
        PluginError: There is no such file; the message gives the nearest name.
    """
    if name.endswith(_ENDINGS[kind]):
        path = Path(name)
        if not path.is_file():
            raise PluginError(f"{name}: there is no such file")
        return path.resolve()
    known = catalogue(kind) if known is None else known
    if name not in known:
        one = kind.removesuffix("s")
        yours = f"; yours go into ./{kind}/{name}.py"
        raise PluginError(unknown(f"no {one} is called {name!r}", name, known, yours))
    return known[name]


def summary(path: Path) -> str:
    """Return the first line of a file's docstring without executing the file."""
    if path.suffix == ".toml":
        from ltm_bench.script import toml

        return toml.summary(path)
    try:
        return (ast.get_docstring(python_in(path)) or "").partition("\n")[0]
    except (SyntaxError, ValueError):
        return "(cannot be parsed)"


def skills(path: Path) -> tuple[str, ...]:
    """Return a scenario's skills without executing its file; none if they are computed."""
    if path.suffix == ".toml":
        from ltm_bench.script import toml

        return toml.read(path).skills
    try:
        for call in ast.walk(python_in(path)):
            for given in call.keywords if isinstance(call, ast.Call) else ():
                if given.arg == "skills":
                    return tuple(sorted(ast.literal_eval(given.value)))
    except (SyntaxError, ValueError, TypeError, RecursionError):
        pass
    return ()


def content_hash(path: Path) -> str:
    """Return the first 16 hex digits of the SHA-256 of a file and the data files beside it.

    Line endings are normalised first, so that a checkout on Windows has the same hash.
    """
    beside = [p for p in sorted(path.parent.glob(f"{path.stem}.*")) if p != path and p.is_file()]
    content = b"".join(p.read_bytes().replace(b"\r\n", b"\n") for p in (path, *beside))
    return hashlib.sha256(content).hexdigest()[:16]


def formerly(path: Path, was: str) -> Mapping[str, Any] | None:
    """Return how a file goes on with runs of its earlier version with the hash `was`; None if it does not.

    `formerly.json` beside it says so, by name and hash: the release, and the `parameters` with which a scenario says
    what it said then. Nothing is executed. Raises PluginError if it cannot be read.
    """
    beside = path.with_name("formerly.json")
    try:
        known = json.loads(beside.read_text("utf-8")) if beside.is_file() else {}
        found = known.get(path.stem, {}).get(was)
        return None if found is None else dict(found)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise PluginError(
            f'{beside}: write {{NAME: {{HASH: {{"release": …}}}}}} ({described(error)})'
        ) from error


def load(path: Path) -> ModuleType:
    """Execute a file as its own module. Raises PluginError, with the line, if it fails."""
    kind = path.parent.name if path.parent.name in get_args(Kind) else "plugins"
    with _loading:  # another thread would find the module half executed
        return _loaded(path, f"{_PREFIX}{kind}.{path.stem}")


_loading = RLock()


def _loaded(path: Path, name: str) -> ModuleType:
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses resolve their annotations there
    try:
        if path.stat().st_size > PYTHON:
            raise PluginError(
                f"{path}: it has more than {PYTHON >> 20} MB, the most of a Python file that is read"
            )
        spec.loader.exec_module(module)
    except (LtmBenchError, KeyboardInterrupt):
        del sys.modules[name]
        raise
    except BaseException as error:  # a user's file may raise anything, or call exit()
        del sys.modules[name]
        raise _named(error, str(path)) from error
    return module


def imported(name: str) -> ModuleType:
    """Import a user's module. Raises PluginError, with its line, if it fails."""
    try:
        return importlib.import_module(name)
    except (LtmBenchError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a user's module may raise anything, or call exit()
        line, said = line_of_user(error), described(error)
        if isinstance(error, SyntaxError):
            line, said = f"{error.filename}:{error.lineno}", f"{type(error).__name__}: {error.msg}"
        raise PluginError(f"{name} cannot be imported: {said}{f' ({line})' if line else ''}") from error


def may_read(name: str) -> bool:
    """Whether a scenario named by a log may be loaded: logs are untrusted, and must not choose what is executed.

    Names in the catalogue may: files in ./scenarios are the user's own. A path may only if the user has named that file
    in this process.
    """
    if not name.endswith(".py"):
        return True
    path = str(Path(name).resolve())
    return any(key.startswith(_PREFIX) and each.__file__ == path for key, each in sys.modules.items())


def _named(error: BaseException, path: str) -> PluginError:
    """Return an error with the last line of the file in its traceback."""
    if isinstance(error, SyntaxError) and error.filename == path and error.lineno is not None:
        return PluginError(f"{path}:{error.lineno}: {type(error).__name__}: {error.msg}")
    lines = [line for file, line in _passed(error) if file == path]
    where = f"{path}:{lines[-1]}" if lines else path
    if isinstance(error, ModuleNotFoundError) and Path(path).parent in map(bundled, get_args(Kind)):
        return PluginError(f"{where}: {dependency(error)}")
    return PluginError(f"{where}: {described(error)}")


def _passed(error: BaseException) -> Iterator[tuple[str, int]]:
    """Yield each file and line of an error's traceback, outermost first."""
    return ((frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__))


def blame(error: BaseException) -> PluginError | None:
    """Return an error as that of the last plugin in its traceback; None if there is no plugin in it."""
    through = _through(error)
    return _named(error, through[-1][0]) if through else None


def line_of_user(error: BaseException) -> str:
    """Return file and line of the last frame of a user's code in an error's traceback, `/home/me/my_bot.py:12`.

    That is whatever belongs neither to Python, nor to an installed package, nor to ltm-bench; without such a frame, the
    last plugin; empty without that.
    """
    own = [each for each in _passed(error) if not each[0].startswith(_NOT_OWN)]
    found = (own or _through(error))[-1:]
    return "".join(f"{file}:{line}" for file, line in found)


def _through(error: BaseException) -> list[tuple[str, int]]:
    plugins = {module.__file__ for name, module in sys.modules.items() if name.startswith(_PREFIX)}
    return [(file, line) for file, line in _passed(error) if file in plugins]


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
    except (AttributeError, ValueError):
        # No name of a module, or of one that was not imported, such as __main__.
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
