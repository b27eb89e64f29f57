"""Export formats. One file is one format: adding the file adds the format.

A module's stem is the name of the format, the first line of its docstring the help, and `FILE` the default file name.
The content of one run is returned by `write`; a table of any number of runs is written by `write_all`, which holds one
of them at a time. Whatever agents said stays text in every format.
"""

import io
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import BinaryIO, NamedTuple

from ltm_bench.export.source import Source
from ltm_bench.plugins.members import member, members


class Format(NamedTuple):
    """A form that other programs read."""

    name: str
    file: str
    """The default file name."""
    write: Callable[[Source], bytes]
    """Returns the content. Raises ConfigError if a package that it needs is not installed."""
    write_all: "WriteAll | None"
    """Writes the table of several runs into a file; None if the format holds only one."""


WriteAll = Callable[[Iterable[Source], BinaryIO], None]


def known() -> Mapping[str, str]:
    """Map the name of every format to one line of help."""
    return members(__name__)


def format_named(name: str) -> Format:
    """Return a format by its name. Raises ConfigError for an unknown one."""
    module = member(__name__, name, "--format")
    write_all = getattr(module, "write_all", None)
    write = module.write if write_all is None else partial(_alone, write_all)
    return Format(name, module.FILE, write, write_all)


def _alone(write_all: WriteAll, source: Source) -> bytes:
    content = io.BytesIO()
    write_all([source], content)
    return content.getvalue()
