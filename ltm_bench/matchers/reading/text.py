"""The part of a reply that is read, and its words: without case, accents, typographic signs or American spelling.

Everything here is linear in the length of the text, and long text is read up to a limit: a reply is untrusted.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ltm_bench.core.servers import without_thinking
from ltm_bench.core.words import listed

READ = 100_000
"""Maximum number of characters of a reply that are read; no reasonable answer is longer."""

_STRAIGHT = {
    "’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-",
    "ł": "l", "Ł": "l", "ø": "o", "Ø": "o", "đ": "d", "Đ": "d",  # Unicode does not treat strokes as accents
}  # fmt: skip
_TABLE = str.maketrans(_STRAIGHT)
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+){0,8}")
_PAIRS = [each.split("=") for each in listed("american")]
"""American words and the British ones that mean the same; what has several meanings is left out (`chips`)."""
_SPELLING = {american + ending: british + ending for american, british in _PAIRS for ending in ("", "s")}


@lru_cache(maxsize=32)  # as for words
def answer(reply: str) -> str:
    """Return the part of a reply that is read: nothing that was only thought, and at most `READ` characters."""
    return without_thinking(reply)[:READ]


_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<details\b.*?(?:</details>|\Z)|!\[[^\[\]]{0,1000}\](?=\()|(?<=\]\()[^()]{0,1000}(?=\))",
    re.DOTALL | re.IGNORECASE,
)
"""What a renderer hides: comments, folded details, the text instead of a picture, a link's address and title."""


def shown(reply: str) -> str:
    """Return the part of a reply that its reader sees."""
    text = answer(reply)
    return _HIDDEN.sub(" ", text) if "<" in text or "](" in text else text


def plain(text: str) -> str:
    """Return the answer in a text in lower case, with straight quotes and without accents."""
    if (text := answer(text)).isascii():  # nearly always so, and then there are no accents
        return text.lower()
    text = unicodedata.normalize("NFKD", text.translate(_TABLE))[:READ]  # one sign can become 18
    accents = filter(unicodedata.combining, set(text))  # a long text has few different signs
    return text.translate(dict.fromkeys(map(ord, accents))).casefold()


def flat(text: str) -> str:
    """Return a text as `plain` does, but of the same length, so that offsets in it are offsets in the text.

    A sign that becomes several stays as it is, and a combining accent becomes a blank that joins nothing.
    """
    return text.lower() if text.isascii() else "".join(map(_flat, text))


@lru_cache(maxsize=4096)
def _flat(sign: str) -> str:
    if unicodedata.combining(sign):
        return "\u200b"
    sign = _STRAIGHT.get(sign, sign)
    bare = "".join(c for c in unicodedata.normalize("NFKD", sign) if not unicodedata.combining(c))
    folded = bare.casefold()
    return folded if len(folded) == 1 else sign


def words(text: str) -> list[str]:
    """Return the words of a text, plain and in British spelling; a hyphenated word is one word."""
    return list(_words(text))


@lru_cache(maxsize=32)  # several functions ask for those of one reply, and of its parts
def _words(text: str) -> tuple[str, ...]:
    return tuple(_SPELLING.get(word, word) for word in _WORD.findall(plain(text)))


def spelt(word: str) -> str:
    """Return a plain word in British spelling."""
    return _SPELLING.get(word, word)


def spellings(word: str) -> list[str]:
    """Return a plain word in British spelling, and in all others."""
    return [word, *(american for american, british in _SPELLING.items() if british == word)]


@lru_cache(maxsize=1024)
def known_words(phrase: str) -> tuple[str, ...]:
    """Return the words of a phrase that a matcher looks for in many replies. Not for replies: it is cached."""
    return tuple(words(phrase))


message_words = lru_cache(maxsize=64)(words)  # few, since a message may be long
"""Returns the words of a user's message, with which many replies, and their parts, are compared."""


_END = re.compile(r"[.!?…。！？](?=[\s\"')\]]|$)|[;；。！？]")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each sentence of a flat text; half-sentences at a semicolon are sentences."""
    start = 0
    for end in _END.finditer(text):
        if text[start : end.start()].strip():
            yield start, end.end()
        start = end.end()
    if text[start:].strip():
        yield start, len(text)


LIGHT = frozenset(listed("light"))
"""Words that say nothing beside a value: a sentence of them and one value is that value alone."""

COMMON = LIGHT.union(listed("common"))
"""Words of talk that are never an answer."""
