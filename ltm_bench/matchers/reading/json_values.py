"""JSON, however wrapped: the whole reply, a fence, within prose, line by line; strict first, then repaired."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ltm_bench.matchers.reading.text import answer

T = TypeVar("T")

_FENCE = re.compile(r"```[a-zA-Z0-9]{0,12}+[ \t]*+\n?+(.{0,100000}?)```", re.DOTALL)
_BRACKET = re.compile(r"[\[{]")
_DECODER = json.JSONDecoder()
_REGIONS = 40
_DEPTH = 40
"""Maximum nesting of JSON; no answer needs more."""


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

    A value that needed no repair wins over a repaired one; the last wins because drafts come first.
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


def embedded(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield every JSON object and list in a text, without repairs, with its begin and end."""
    start, regions = 0, 0
    while regions < _REGIONS and (bracket := _BRACKET.search(text, start)):
        regions += 1
        try:
            value, stop = _DECODER.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            start = bracket.start() + 1
        else:
            if value and _is_shallow(value):
                yield value, bracket.start(), stop
            start = stop
