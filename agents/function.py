"""Function: any Python function or object that takes a message and returns a reply, by `--agent python:module:name`."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ltm_bench.adapters import FunctionAgent


class Function(FunctionAgent):
    """Calls `target`, `package.module:name`: a function, sync or async, or a class whose instances can be called.

    It takes `(message: str)` or `(message: str, at: datetime)`, where `at` is the benchmark's time, and returns the
    reply: a string, or a `Reply` with the tokens that it used. The module is imported from the current directory or
    Python's path. Every conversation gets its own instance of a class; what a function keeps in its module is shared by
    all. If it has a method `observe(message, reply)`, which may also take `at`, it observes the turns that it did not
    answer itself (filler, a resumed run); otherwise it is asked everything.

    Args:
        target: The function or class, as `package.module:name`.
    """

    def __init__(self, *, target: str) -> None:
        super().__init__(_load(target), target)


def _load(target: str) -> Callable[[str], Any]:
    name, colon, attribute = target.partition(":")
    if not colon or not name or not attribute:
        raise ValueError(f"target={target!r}: write it as package.module:name")
    here = str(Path(os.curdir).resolve())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(name)
    except ImportError as error:
        raise ValueError(f"target={target!r}: {name} cannot be imported: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"target={target!r}: it has no {part!r}")
        found = getattr(found, part)
    if inspect.isclass(found):
        found = found()
    if not callable(found):
        raise ValueError(f"target={target!r}: {type(found).__name__} cannot be called")
    result: Callable[[str], Any] = found
    return result
