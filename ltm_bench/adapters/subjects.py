"""Whether a text is about something, by its words: for memories that cannot forget on request, but can be edited."""

from ltm_bench.adapters.hashing import content_words, weight

_TELLING = 0.5
"""Words below this weight occur in half of all conversations."""


def is_about(text: str, query: str) -> bool:
    """Whether a text contains every distinctive word of the query, whatever the endings."""
    words = content_words(query)
    wanted = {word for word in words if weight(word) >= _TELLING} or set(words)
    return bool(wanted) and wanted <= set(content_words(text))
