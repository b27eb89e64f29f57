"""Export formats. One file is one format: adding the file adds the format.

A module's stem is the name of the format, the first line of its docstring the help, `FILE` the default file name, and
`write` returns the content. Whatever agents said stays text in every format.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ltm_bench.export.source import Source
from ltm_bench.plugins.members import member, members


class Format(NamedTuple):
    """A form that other programs read."""

    name: str
    file: str
    """The default file name."""
    write: Callable[[Source], bytes]
    """Returns the content. Raises ConfigError if a package that it needs is not installed."""


def known() -> Mapping[str, str]:
    """Map the name of every format to one line of help."""
    return members(__name__)


def format_named(name: str) -> Format:
    """Return a format by its name. Raises ConfigError for an unknown one."""
    module = member(__name__, name, "--format")
    return Format(name, module.FILE, module.write)
