"""How the command line prints: plain off a terminal, and never a control character that somebody else wrote."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


@cache
def out() -> Console:
    """Return the console for results."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, emoji=False, markup=False)


@cache
def err() -> Console:
    """Return the console for progress and complaints."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False, markup=False)


_WIDE = 500
"""Columns where nobody looks at a screen."""


def print_table(table: RenderableType) -> None:
    """Print a table whose rows are lines: off a terminal none of them is folded."""
    from rich.console import Console

    wide = Console(highlight=False, emoji=False, markup=False, width=_WIDE)
    (out() if out().is_terminal else wide).print(table)


def complain(message: str) -> None:
    """Print an error as one line."""
    line = " ".join(safe(message).split())
    sys.stderr.write(f"ltm-bench: {line}\n")


def safe(text: str) -> str:
    """Return a text whose control characters, bidirectional marks and lone surrogates are shown, not obeyed."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in _UNSAFE else _shown(c) for c in text)


_UNSAFE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _shown(char: str) -> str:
    code = ord(char)
    return chr(0x2400 + code) if code < 0x20 else f"\\u{code:04x}"
