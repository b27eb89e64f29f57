"""Makes text safe to show, whoever wrote it.

Text of agents and scenarios is never markup. Characters that are invisible, cannot be encoded, or change the writing
direction are spelled out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def visible(text: str) -> str:
    """Spell out control characters, lone surrogates and characters that override the writing direction.

    Control characters become their pictures (`␀`), everything else its code point (`⟨U+202E⟩`). Line ends and tabs
    stay.
    """
    if text.isprintable():  # nearly every text of a page, and known at once
        return text
    return _UNSEEN.sub(_spell, text.replace("\r\n", "\n"))


def shortened(text: str, limit: int, whole: str = "the transcript") -> str:
    """Cut a text to `limit` characters and say how many are missing and where to find them."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]} … ({left:,} characters more, see {whole})"


def marked(text: str, places: Iterable[tuple[int, int]], limit: int) -> Markup:
    """Cut a text as `shortened` does, and highlight the given ranges as far as they are shown.

    Args:
        text: The text, not yet escaped.
        places: Character offsets of the ranges, start and end, in order and without overlap.
        limit: Characters to show.
    """
    from markupsafe import Markup

    shown, end = "", 0
    for start, stop in places:
        if stop > limit:
            break
        shown += f"{escape(visible(text[end:start]))}<mark>{escape(visible(text[start:stop]))}</mark>"
        end = stop
    return Markup(shown + escape(visible(shortened(text[end:], limit - end))))  # every piece is escaped
