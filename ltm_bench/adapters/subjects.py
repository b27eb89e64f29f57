"""Whether a text is about something, by its words: for memories that cannot forget on request, but can be edited."""

from __future__ import annotations

from ltm_bench.adapters.hashing import content_words, weight

_TELLING = 0.5
"""Words of less weight occur in half of all conversations."""


def is_about(text: str, query: str) -> bool:
    """Whether a text has every word of the query that tells passages apart, whatever their endings."""
    words = content_words(query)
    wanted = {word for word in words if weight(word) >= _TELLING} or set(words)
    return bool(wanted) and wanted <= set(content_words(text))
