"""How the command line prints and asks: plain text off a terminal, and never an untrusted control character."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
import unicodedata
from contextlib import contextmanager, suppress
from functools import cache
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from rich.console import Console
    from rich.table import Table

    from ltm_bench.core.agent import Finding
    from ltm_bench.core.download import OnProgress


NARROWEST = 80
"""Minimum width of results, in columns."""


@cache
def out() -> Console:
    """Return the console for results."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True, emoji=False, markup=False)
    # a terminal wraps lines; a table would drop what does not fit
    console.width = max(console.width, NARROWEST)
    return console


@cache
def err() -> Console:
    """Return the console for progress and complaints. A run continues if they cannot be written any more."""
    from rich.console import Console

    class Forgiving(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            try:
                super().print(*objects, **options)
            except OSError:  # a full disk, say
                self.quiet = True

        def on_broken_pipe(self) -> None:
            self.quiet = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())

    return Forgiving(stderr=True, highlight=False, soft_wrap=True, emoji=False, markup=False)


def show_everything() -> None:
    """Replace what the terminal cannot encode: an error there would come after a complete run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def table_of(
    *heads: str,
    words: Collection[str] | None = None,
    footers: Sequence[str] = (),
    title: str | None = None,
    pad_edge: bool = True,
) -> Table:
    """Return an empty table whose words wrap and whose figures stay whole.

    Args:
        heads: The heads of its columns.
        words: Those of columns of words; all others hold figures. By default, the first.
        footers: The feet of its columns.
        title: Its title.
        pad_edge: Whether it stands a little off the left edge.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_footer=bool(footers), title=title, pad_edge=pad_edge)
    table.title_justify = "left"
    for head, foot in zip(heads, footers or [""] * len(heads), strict=True):
        wraps = head in (heads[:1] if words is None else words)
        table.add_column(head, foot, justify="left" if wraps else "right", no_wrap=not wraps, overflow="fold")
    return table


_WIDE = 500
"""Columns off a terminal."""


def print_table(table: Table) -> None:
    """Print a table: off a terminal, without folding; where it would break words, each row as a sentence."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text

    for column in table.columns:
        cells = (str(column.header), *map(str, column.cells), str(column.footer))
        # Names are typed again, so none is broken, like figures.
        column.no_wrap = column.no_wrap or not any(" " in str(cell) for cell in column.cells)
        parts = "\n".join(cells).split("\n" if column.no_wrap else None)
        column.min_width = max(map(cell_len, parts), default=0)
    if not out().is_terminal:
        Console(highlight=False, emoji=False, markup=False, width=_WIDE).print(table)
        return
    with out().capture() as seen:
        out().print(table)
    if max(map(cell_len, Text.from_ansi(seen.get()).plain.splitlines())) <= out().width:
        out().print(table)
    else:
        out().print(table.title or "")
        whole = textwrap.TextWrapper(out().width, subsequent_indent="  ")
        whole.break_long_words = whole.break_on_hyphens = False
        for row in zip(*([*column.cells, column.footer] for column in table.columns), strict=True):
            known = [(column.header, str(cell)) for column, cell in zip(table.columns, row, strict=True)]
            out().print(whole.fill(" · ".join(f"{head} {cell}".strip() for head, cell in known if cell)))


def print_records(rows: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """Print things that have the same fields, as a table or as JSON."""
    from rich.text import Text

    if as_json or not rows:
        out().print(json.dumps(rows, indent=1) if as_json else "none")
        return

    table = table_of(*rows[0], words=rows[0].keys() - {"95 %", "started"})
    for row in rows:
        cells = (("no", "yes")[each] if isinstance(each, bool) else each for each in row.values())
        table.add_row(*(Text(safe(str(each))) for each in cells))
    print_table(table)


def complain(message: str) -> None:
    """Print an error as one line, without any keys in it."""
    from ltm_bench.core.keys import scrubbed  # imported here, to keep --help fast

    line = " ".join(safe(scrubbed(message, random=False)).split())
    if sys.stderr is not None:  # closed by the caller
        with suppress(OSError, ValueError):  # nobody reads it; the exit code still counts
            sys.stderr.write(f"ltm-bench: {line}\n")
            sys.stderr.flush()


def safe(text: str) -> str:
    """Return a text with control characters, bidirectional marks and lone surrogates made visible."""
    return _ODD.sub(_shown, text)


_ODD = re.compile(r"[^\n\t -~]")
"""Whatever needs a closer look: a reply can have millions of characters."""

_UNSAFE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _shown(found: re.Match[str]) -> str:
    char, code = found[0], ord(found[0])
    if unicodedata.category(char) not in _UNSAFE:
        return char
    return chr(0x2400 + code) if code < 0x20 else f"\\u{code:04x}"


def ask_key(prompt: str, keys: AbstractSet[str], help_: str, *, words: bool = False) -> tuple[str, str]:
    """Ask until one of these keys is given; return it, and the words that followed it.

    Args:
        prompt: What is asked.
        keys: The keys besides `q`, in lower case.
        help_: Printed after anything else.
        words: Whether words may follow the key.

    Raises:
        EOFError: The key was `q`, which quits as the end of input does.
    """
    while True:
        said = input(prompt).strip()
        key, _, rest = said.partition(" ") if words else (said, "", "")
        key = key.lower()
        if key == "q":
            raise EOFError
        if key in keys:
            return key, rest.strip()
        out().print(help_)


def print_titled(*lines: tuple[str, str]) -> None:
    """Print texts with their titles before them."""
    for title, text in lines:
        out().print(f"{safe(title):<9} {safe(text)}")


def print_finding(finding: Finding) -> None:
    """Print one finding on a line of its own: `ok`, `no` (optional) or `FAIL`, and a sentence."""
    from ltm_bench.core.keys import scrubbed  # as above

    line = " ".join(safe(scrubbed(finding.text)).split())
    out().print(f"{'FAIL' if not finding.ok else 'no  ' if finding.lacks else 'ok  '}  {line}")


@contextmanager
def downloads() -> Iterator[OnProgress]:
    """Show a bar for each file that is downloaded; nothing if standard error is not a terminal."""
    from rich.progress import Progress, TaskID

    bars: dict[str, TaskID] = {}
    with Progress(console=err(), disable=not err().is_terminal) as progress:

        def on_progress(name: str, done: int, size: int | None) -> None:
            if name not in bars:
                bars[name] = progress.add_task(name, total=size)
            progress.update(bars[name], completed=done)

        yield on_progress
