"""How matchers read text: words, abstentions, numbers, and JSON in whatever it was wrapped.

Everything here is linear in the length of the text, and long text is read up to a limit: a reply is untrusted.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")

READ = 100_000
"""Maximum number of characters of a reply that are read; no reasonable answer is longer."""

_STRAIGHT = {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-"}
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+){0,8}")
_SPELLING = {"gray": "grey", "favorite": "favourite", "color": "colour", "colors": "colours"}


_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)


def answer(reply: str) -> str:
    """Return the part of a reply that is read: nothing of the thinking before it, and at most `READ` characters."""
    if "</" in reply:
        *_, last = _THOUGHT.split(reply)
        reply = last if last.strip() else reply
    return reply[:READ]


def plain(text: str) -> str:
    """Return the answer in a text in lower case, with straight quotes and without accents."""
    text = answer(text)
    if not text.isascii():
        for curly, straight in _STRAIGHT.items():
            text = text.replace(curly, straight)
        text = unicodedata.normalize("NFKD", text)[:READ]  # one sign can become 18
    if text.isascii():  # nearly always, and then there are no accents
        return text.lower()
    return "".join(c for c in text if not unicodedata.combining(c)).casefold()


def words(text: str) -> list[str]:
    """Return the words of a text, plain and in British spelling; a hyphenated word is one word."""
    return [_SPELLING.get(word, word) for word in _WORD.findall(plain(text))]


@lru_cache(maxsize=1024)
def known_words(phrase: str) -> tuple[str, ...]:
    """Return the words of a phrase that a matcher looks for in many replies. Not for replies: it is cached."""
    return tuple(words(phrase))


DENIAL = re.compile(
    r"\b(?:not(?! only\b| just\b| forget\b| to forget\b)|isn't|wasn't|aren't|never(?! forget\b)|no longer|"
    r"instead of|rather than|other than|anything but|anything except|neither|nor)\b"
)
"""Denies whatever follows it in a clause."""


_ABSTAINS = re.compile(
    r"\b(?:do(?:es)? not|don't|doesn't|did not|didn't|can ?not|can't|could not|couldn't|unable to|not able to)"
    r"(?: \w+){0,3} (?:know|remember|recall|have|see|find|tell|determine|answer|access|say|mention|told|recollect)\b"
    r"|\b(?:have|has|had)(?:n't| not| never)(?: \w+){0,3} "
    r"(?:told|shared|mentioned|said|provided|given|stated|specified|discussed|been)\b"
    r"|\b(?:no|any) (?:\w+ )?(?:information|record|memory|recollection|idea|mention|knowledge|context|clue)\b"
    r"|\b(?:not|n't) (?:\w+ )?(?:sure|certain|mentioned|provided|told|given|shared|specified|aware)\b"
    r"|\b(?:unknown|forgotten|i forgot|forgot|as an ai)\b"
)


def abstains(reply: str) -> bool:
    """Whether a reply says anywhere that the answer is not known."""
    return _ABSTAINS.search(plain(reply)) is not None


_EXAMPLE = re.compile(
    r"\b(?:example|for instance|e\.g|sample|hypothetical|illustrat\w+|template|placeholder)\b"
)


def gives_example(reply: str) -> bool:
    """Whether a reply offers its content as an example, not as an answer."""
    return _EXAMPLE.search(plain(reply)) is not None


_NUMBER_WORDS = {
    word: n
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * n
    for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_OTHER_NUMBERS = {
    "a": 1,
    "an": 1,
    "single": 1,
    "once": 1,
    "twice": 2,
    "pair": 2,
    "couple": 2,
    "dozen": 12,
    "no": 0,
}


_DIGITS = re.compile(r"(?<![\w.,-])[x×]?(-?\d{1,3}(?:,\d{3})+|-?\d{1,12})(?:\.0+)?(?![\d]|[.,]\d)")
_LETTERS = re.compile(r"[a-z]+")


def number(value: Any) -> int | None:
    """Read a whole number from JSON or text: `3`, `3.0`, `"3"`, `"x3"`, `"three packs"`, `"twenty-one"`."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None  # inf and nan are not integers
    if not isinstance(value, str):
        return None
    text = plain(value[:200]).strip()
    if digits := _DIGITS.search(text):
        return int(digits.group(1).replace(",", ""))
    total: int | None = None
    for word in _LETTERS.findall(text):
        if word in _TENS:
            total = (total or 0) + _TENS[word]
        elif word in _NUMBER_WORDS:
            total = (total or 0) + _NUMBER_WORDS[word]
        elif word == "hundred" and total is not None:
            total *= 100
        elif total is None and word in _OTHER_NUMBERS:
            return _OTHER_NUMBERS[word]
    return total


_FENCE = re.compile(r"```[a-zA-Z0-9]{0,12}+[ \t]*+\n?+(.{0,100000}?)```", re.DOTALL)
_BRACKET = re.compile(r"[\[{]")
_DECODER = json.JSONDecoder()
_REGIONS = 40
_DEPTH = 40
"""Maximum nesting of JSON that is read; no answer needs more."""


def json_values(reply: str) -> Iterator[Any]:
    """Yield every JSON value in a reply: the whole, those in fences, those within prose, then repaired ones."""
    text = answer(reply).strip().lstrip("\ufeff")
    yield from _strict(text)
    for fenced in _FENCE.findall(text):
        yield from _strict(fenced.strip())
    start, regions = 0, 0
    while regions < _REGIONS and (bracket := _BRACKET.search(text, start)):
        regions += 1
        try:
            value, start = _DECODER.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            start = bracket.start() + 1
        else:
            if _is_shallow(value):
                yield value
    first = _BRACKET.search(text)
    if first:
        from json_repair import repair_json

        closing = max(text.rfind("]"), text.rfind("}")) + 1
        region = text[first.start() : closing if closing > first.start() else None][:20_000]
        try:
            repaired = repair_json(region, return_objects=True, skip_json_loads=True)
        except Exception:  # a repair of hostile text may fail in any way, which must not end the run
            return
        if isinstance(repaired, list | dict) and repaired and _is_shallow(repaired):
            yield repaired


def _strict(text: str) -> Iterator[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    if _is_shallow(value):
        yield value


def _is_shallow(value: Any) -> bool:
    """Whether a value is shallow enough to be walked and compared without overflowing the stack."""
    level = [value]
    for _ in range(_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, list | dict)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return True
    return False


def last_readable(reply: str, read: Callable[[Any], T | None]) -> T | None:
    """Return what `read` makes of the last JSON value in a reply that it can use.

    A value that was readable as it stands wins over a repaired one; the last wins because drafts come first.
    """
    found: T | None = None
    for value in json_values(reply):
        result = read(value)
        if result is not None:
            found = result
            if value == _whole(reply):
                break
    return found


def _whole(reply: str) -> Any:
    return next(_strict(answer(reply).strip()), object())
