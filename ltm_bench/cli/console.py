"""How the command line prints: plain off a terminal, and never a control character that somebody else wrote."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from ltm_bench.core.keys import scrubbed

if TYPE_CHECKING:
    from rich.console import Console


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


def complain(message: str) -> None:
    """Print an error as one line."""
    line = " ".join(safe(scrubbed(message, random=False)).split())
    sys.stderr.write(f"ltm-bench: {line}\n")


def safe(text: str) -> str:
    """Return a text whose control characters, bidirectional marks and lone surrogates are shown, not obeyed."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in _UNSAFE else _shown(c) for c in text)


_UNSAFE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _shown(char: str) -> str:
    code = ord(char)
    return chr(0x2400 + code) if code < 0x20 else f"\\u{code:04x}"
