"""Function: any Python function or object that takes a message and returns a reply, by `--agent python:module:name`."""

import os
import sys
from pathlib import Path
from typing import Any

from ltm_bench.adapters import ConfigError, FunctionAgent, agent_of, imported


class Function(FunctionAgent):
    """Calls `target`, `package.module:name`: a function, a class whose instances can be called, or such an object.

    It takes `(message: str)` or `(message: str, at: datetime)`, where `at` is the benchmark's time, and returns the
    reply: a string, or a `Reply` with the tokens that it used. The module is imported from the current directory or
    Python's path. If it has a method `observe(message, reply)`, which may also take `at`, it observes the turns that it
    did not answer itself (filler, a resumed run); otherwise it is asked everything.

    Every conversation gets its own instance of a class. What is synchronous runs in threads: several conversations call
    a function at once, and an object one after the other; what these keep, all share. A call that does not end is left
    to itself, and its object is not called again. The class of an `Agent`, or a function without parameters that makes
    an agent, will do as well.

    Args:
        target: The function or class, as `package.module:name`.
        timeout: Seconds for one call.
    """

    def __new__(cls, *, target: str, timeout: float = 300.0) -> Any:
        """Return the agent that the target is or makes."""
        return agent_of(_load(target), target, timeout)


def _load(target: str) -> Any:
    name, colon, attribute = target.partition(":")
    # A file as one would run it, too.
    name = ".".join(Path(name.removesuffix(".py")).parts) if name.endswith(".py") else name
    if not colon or not name or not attribute:
        raise ConfigError(
            f"python:{target}: write it as python:package.module:name; if it was an object, pass it to run() again"
        )
    here = str(Path(os.curdir).resolve())
    if here not in sys.path:
        sys.path.insert(0, here)
    found: Any = imported(name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ConfigError(f"python:{target}: it has no {part!r}")
        found = getattr(found, part)
    return found
