"""Finds and loads the files in scenarios/ and agents/: one file, one scenario or adapter; its stem is its name.

The built-ins are looked up first, then the folder of the same kind where the user stands. The same stem in both
is an error. Listing executes nothing; only the file that was asked for is executed.
"""

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Literal, get_args

from ltm_bench.core.errors import DropInError, LtmBenchError, nearest
from ltm_bench.script.scenario import Scenario

Kind = Literal["scenarios", "agents"]

_ENDINGS: Mapping[Kind, tuple[str, ...]] = {"scenarios": (".py", ".toml"), "agents": (".py",)}

_HERE = Path(__file__).resolve().parents[1]

_PREFIX = "ltm_bench._bundled."
"""Of the names under which files are known to Python."""


def bundled(folder: str) -> Path:
    """Return a folder that ships with ltm-bench: from inside the wheel, or from the checkout."""
    in_wheel = _HERE / "_bundled" / folder
    return in_wheel if in_wheel.is_dir() else _HERE.parent / folder


def catalogue(kind: Kind) -> Mapping[str, Path]:
    """Map each name to its file. Raises DropInError where two different files have the same name.

    The same file twice is no clash: somebody may stand in a checkout while the wheel is installed.
    """
    found: dict[str, Path] = {}
    for folder in dict.fromkeys((bundled(kind).resolve(), Path(kind).resolve())):
        for path in sorted(p for p in folder.glob("[!_.]*") if p.suffix in _ENDINGS[kind] and p.is_file()):
            other = found.setdefault(path.stem, path)
            if other == path:
                continue
            if other.suffix != path.suffix or content_hash(other) != content_hash(path):
                raise DropInError(f"two {kind} are called {path.stem!r}: {other} and {path}; rename yours")
    return found


def find(kind: Kind, name: str) -> Path:
    """Return the file of a scenario or an adapter. Raises DropInError, with the nearest name, if there is none."""
    if name.endswith(_ENDINGS[kind]):
        path = Path(name)
        if not path.is_file():
            raise DropInError(f"{name}: there is no such file")
        return path.resolve()
    known = catalogue(kind)
    if name not in known:
        one = kind.removesuffix("s")
        raise DropInError(
            f"no {one} is called {name!r}{nearest(name, known)} "
            f"(known: {', '.join(known)}; yours go into ./{kind}/{name}.py)"
        )
    return known[name]


def summary(path: Path) -> str:
    """Return the first line of a file's docstring without executing the file."""
    if path.suffix == ".toml":
        from ltm_bench.script import toml as recipes

        return recipes.summary(path)
    try:
        return (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n")[0]
    except (SyntaxError, ValueError):
        return "(cannot be parsed)"


def content_hash(path: Path) -> str:
    """Return the first 16 hex digits of the SHA-256 of a file and the data files beside it, line endings unified."""
    beside = [p for p in sorted(path.parent.glob(f"{path.stem}.*")) if p != path and p.is_file()]
    content = b"".join(p.read_bytes().replace(b"\r\n", b"\n") for p in (path, *beside))
    return hashlib.sha256(content).hexdigest()[:16]


def load(path: Path) -> ModuleType:
    """Execute a file as a module of its own. Raises DropInError, with the file's line, if that fails."""
    kind = path.parent.name if path.parent.name in get_args(Kind) else "dropins"
    name = f"{_PREFIX}{kind}.{path.stem}"
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DropInError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their annotations up there
    try:
        spec.loader.exec_module(module)
    except LtmBenchError:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _named(error, str(path)) from error
    return module


def may_read(name: str) -> bool:
    """Whether a scenario that a log names can be looked at without executing a file that the log chose.

    Names of the catalogue can: what lies in ./scenarios is the user's own. A path is followed only where the user has
    named that file in this process. Logs come from others, too.
    """
    if not name.endswith(".py"):
        return True
    path = str(Path(name).resolve())
    return any(key.startswith(_PREFIX) and each.__file__ == path for key, each in sys.modules.items())


def _named(error: BaseException, path: str) -> DropInError:
    """Return the error of a file with its line: where it was raised, or else where that was called."""
    line, what = None, str(error)
    if isinstance(error, SyntaxError) and error.filename == path:
        line, what = error.lineno, error.msg
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return DropInError(f"{path}{f':{line}' if line else ''}: {type(error).__name__}: {what}")


def blame(error: BaseException) -> DropInError | None:
    """Return the error as that of the scenario or the adapter that it came through, or None if it came through none."""
    loaded = {module.__file__ for name, module in sys.modules.items() if name.startswith(_PREFIX)}
    trace, through = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in loaded:
            through = trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    return None if through is None else _named(error, through)


def scenario(name: str) -> Scenario:
    """Return the scenario of that name, or of that file."""
    return scenario_at(find("scenarios", name))


def scenario_at(path: Path) -> Scenario:
    """Return the scenario in a file that was found."""
    if path.suffix == ".toml":
        from ltm_bench.script import toml as recipes

        return recipes.read(path)
    module = load(path)
    found = [value for value in vars(module).values() if isinstance(value, Scenario)]
    for each in found:
        if each.name == path.stem:
            return each
    names = ", ".join(each.name for each in found) or "none"
    raise DropInError(
        f"{path}: the function under @scenario must be called {path.stem!r}, like its file (found: {names})"
    )
