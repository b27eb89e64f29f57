"""Finds and loads plugins, the files in scenarios/ and agents/: one file, one scenario or adapter, named by its stem.

Plugins come from three places: the built-in folders, packs of third parties, and the folder of the same kind in the
current folder. Two different files with the same name are an error. Listing executes nothing; only the file that was
asked for is executed.
"""

import ast
import hashlib
import importlib.util
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError, LtmBenchError, PluginError, bare, nearest
from ltm_bench.core.messages import Message, Reply
from ltm_bench.plugins.packs import packed

Kind = Literal["scenarios", "agents"]

_ENDINGS: Mapping[Kind, tuple[str, ...]] = {"scenarios": (".py", ".toml"), "agents": (".py",)}

_HERE = Path(__file__).resolve().parents[1]

_PREFIX = "ltm_bench._bundled."
"""Prefix of the names under which plugins stand in `sys.modules`."""


def bundled(folder: str) -> Path:
    """Return a folder that ships with ltm-bench: from inside the wheel, or from the checkout."""
    in_wheel = _HERE / "_bundled" / folder
    return in_wheel if in_wheel.is_dir() else _HERE.parent / folder


def catalogue(kind: Kind) -> dict[str, Path]:
    """Map each name to its file. Raises PluginError if two different files have the same name.

    The same file in two places is no clash: the current folder may be a checkout while the wheel is installed.
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
        kind: Where to look.
        name: A name of the catalogue, or the path of a file.
        known: The catalogue, if the caller has it already.

    Raises:
        PluginError: If there is no such file; the message gives the nearest name.
    """
    if name.endswith(_ENDINGS[kind]):
        path = Path(name)
        if not path.is_file():
            raise PluginError(f"{name}: there is no such file")
        return path.resolve()
    known = catalogue(kind) if known is None else known
    if name not in known:
        one = kind.removesuffix("s")
        raise PluginError(
            f"no {one} is called {name!r}{nearest(name, known)} "
            f"(known: {', '.join(known)}; yours go into ./{kind}/{name}.py)"
        )
    return known[name]


def summary(path: Path) -> str:
    """Return the first line of a file's docstring without executing the file."""
    if path.suffix == ".toml":
        from ltm_bench.script import toml

        return toml.summary(path)
    try:
        return (ast.get_docstring(ast.parse(path.read_bytes())) or "").partition("\n")[0]
    except (SyntaxError, ValueError):
        return "(cannot be parsed)"


def content_hash(path: Path) -> str:
    """Return the first 16 hex digits of the SHA-256 of a file and the data files beside it.

    Line endings are unified first, so that a checkout on Windows has the same hash.
    """
    beside = [p for p in sorted(path.parent.glob(f"{path.stem}.*")) if p != path and p.is_file()]
    content = b"".join(p.read_bytes().replace(b"\r\n", b"\n") for p in (path, *beside))
    return hashlib.sha256(content).hexdigest()[:16]


def load(path: Path) -> ModuleType:
    """Execute a file as a module of its own. Raises PluginError, with the line, if the file fails."""
    kind = path.parent.name if path.parent.name in get_args(Kind) else "plugins"
    name = f"{_PREFIX}{kind}.{path.stem}"
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their annotations up there
    try:
        spec.loader.exec_module(module)
    except LtmBenchError:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:  # a user's file may raise anything, and may call exit()
        del sys.modules[name]
        raise _named(error, str(path)) from error
    return module


def may_read(name: str) -> bool:
    """Whether a scenario named by a log may be loaded; logs come from others, who must not choose what is executed.

    Names of the catalogue may: files in ./scenarios are the user's own. A path may only if the user has named that
    file in this process.
    """
    if not name.endswith(".py"):
        return True
    path = str(Path(name).resolve())
    return any(key.startswith(_PREFIX) and each.__file__ == path for key, each in sys.modules.items())


def _named(error: BaseException, path: str) -> PluginError:
    """Return an error with the last line of the file that it passed through."""
    line, what = None, str(error)
    if isinstance(error, SyntaxError) and error.filename == path:
        line, what = error.lineno, error.msg
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return PluginError(f"{path}{f':{line}' if line else ''}: {type(error).__name__}: {what}")


def blame(error: BaseException) -> PluginError | None:
    """Return an error as that of the plugin that it passed through, or None if it passed through none."""
    loaded = {module.__file__ for name, module in sys.modules.items() if name.startswith(_PREFIX)}
    trace, through = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in loaded:
            through = trace.tb_frame.f_code.co_filename
        trace = trace.tb_next
    return None if through is None else _named(error, through)


def agent_class(name: str) -> Callable[..., Agent]:
    """Return what makes an agent of that name, or of that file: its Agent subclass, or its function `agent`."""
    path = find("agents", name)
    module = load(path)
    classes = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Agent) and value.__module__ == module.__name__
    ]
    if len(classes) > 1:
        names = ", ".join(each.__name__ for each in classes)
        raise PluginError(f"{path}: one file holds one adapter, this one holds {len(classes)}: {names}")
    if classes:
        return classes[0]
    function = getattr(module, "agent", None)
    if callable(function):
        return lambda: FunctionAgent(function)
    raise PluginError(f"{path}: there is no subclass of ltm_bench.Agent in it, and no function `agent`")


class FunctionAgent(Agent):
    """A plain function `agent(message: str) -> str` (or async) as an agent. It sees nothing that it did not answer."""

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function

    async def reply(self, message: Message) -> Reply:
        """Call the function with the message's text."""
        answer = self._function(message.text)
        if inspect.isawaitable(answer):
            answer = await answer
        if not isinstance(answer, str):
            raise TypeError(f"the function returned {type(answer).__name__}, not a string")
        return Reply(answer)


_SECRET = re.compile(r"(^|_)(key|token|secret|password|credential)s?$", re.IGNORECASE)


def looks_secret(name: str) -> bool:
    """Whether a setting or a variable of this name holds what must not be written down."""
    return _SECRET.search(name) is not None


def _holds_password(value: object) -> bool:
    """Say whether a setting has a URL in it with a name or a password in front of its host."""
    if isinstance(value, dict):
        return any(map(_holds_password, value.values()))
    if isinstance(value, list):
        return any(map(_holds_password, value))
    return isinstance(value, str) and bare(value) != value


def _annotations(make: Callable[..., Agent]) -> dict[str, Any]:
    """Return the types of the settings, as far as they can be found out."""
    try:
        return get_type_hints(make.__init__ if inspect.isclass(make) else make)
    except Exception:  # an annotation may be any expression, or a name that only type checkers know
        return {}


def _fits(value: object, kind: Any) -> bool:
    """Say whether a setting can have this type; types that cannot be written in TOML are not judged."""
    if get_origin(kind) in (Union, UnionType):
        return any(_fits(value, each) for each in get_args(kind))
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (str, bool, NoneType):
        return isinstance(value, kind)
    return True


def _spelt(kind: Any) -> str:
    words = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_spelt(each) for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(repr, get_args(kind)))}"
    return words.get(kind, str(kind))


def make_agent(adapter: str, settings: Mapping[str, Any]) -> Agent:
    """Construct an agent. Raises ConfigError for a setting that it lacks, misses, or cannot use."""
    make = agent_class(adapter)
    parameters = inspect.signature(make).parameters
    known = [name for name, p in parameters.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    annotations = _annotations(make)
    for name in settings:
        if looks_secret(name):
            raise ConfigError(
                f"agent {adapter}: {name} looks like a secret; give it through the environment, "
                "settings are written into the log"
            )
        if _holds_password(settings[name]):
            raise ConfigError(
                f"agent {adapter}: {name} has a URL with a name or a password in it (not shown here); give it through "
                "the environment, settings are written into the log"
            )
        if name not in known:
            raise ConfigError(
                f"agent {adapter}: no setting {name!r}{nearest(name, known)} (it has: {', '.join(known) or 'none'})"
            )
    for name, value in settings.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"agent {adapter}: {name}={value}: this setting is a number that is finite")
        if not _fits(value, annotations.get(name)):
            raise ConfigError(
                f"agent {adapter}: {name}={value!r}: this setting is {_spelt(annotations[name])}"
                + (f"; write -A '{name}=\"{value}\"'" if _fits("", annotations[name]) else "")
            )
    missing = [n for n in known if parameters[n].default is inspect.Parameter.empty and n not in settings]
    if missing:
        raise ConfigError(f"agent {adapter}: the setting {missing[0]!r} is needed; add -A {missing[0]}=…")
    try:
        return make(**settings)
    except LtmBenchError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(f"agent {adapter}: {error}") from error
