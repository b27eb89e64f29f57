"""JSON, however wrapped: the whole reply, a fence, within prose, line by line; strict first, then repaired."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

from ltm_bench.matchers.reading.text import answer

T = TypeVar("T")

_BRACKET = re.compile(r"[\[{]")
_SCALARS = '"-0123456789tfnNI'
"""How JSON begins that is neither an object nor a list."""
_DECODER = json.JSONDecoder()
_REGIONS = 40
_REPAIRABLE = 5_000
"""Maximum characters of JSON that are repaired."""
_BRACKETS = 500
"""Maximum number of its opening brackets."""
_DEPTH = 40
"""Maximum nesting of JSON; no answer needs more."""


def json_values(reply: str) -> Iterator[Any]:
    """Yield every JSON value in a reply: the whole, or else those within prose, then repaired ones."""
    text = answer(reply).strip().lstrip("\ufeff")
    if text[:1] not in _SCALARS and _BRACKET.search(text) is None:
        return  # prose, as most replies are
    yield from (whole := list(_strict(text)))
    if not any(isinstance(value, list | dict) for value in whole):
        yield from (value for value, *_ in embedded(text))
        yield from _repaired(text)


@lru_cache(maxsize=8)  # a reply is read by several functions
def _repaired(text: str) -> Sequence[Any]:
    """Return the repaired JSON in a text, if there is any, and not too much of it: repairs take quadratic time."""
    first = _BRACKET.search(text)
    if first is None:
        return ()
    closing = max(text.rfind("]"), text.rfind("}")) + 1
    region = text[first.start() : closing if closing > first.start() else None]
    if len(region) > _REPAIRABLE or len(_BRACKET.findall(region)) > _BRACKETS:
        return ()
    from json_repair import repair_json

    try:
        repaired = repair_json(region, return_objects=True, skip_json_loads=True)
    except Exception:  # a repair of hostile text may fail in any way, which must not end the run
        return ()
    return [repaired] if isinstance(repaired, list | dict) and repaired and _is_shallow(repaired) else ()


def _strict(text: str) -> Iterator[Any]:
    with suppress(ValueError, RecursionError):
        yield from filter(_is_shallow, [json.loads(text)])


def _is_shallow(value: Any, depth: int = _DEPTH) -> bool:
    """Whether a value is shallow enough to be walked and compared without overflowing the stack."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > 0 and all(_is_shallow(each, depth - 1) for each in inner)


def last_readable(reply: str, read: Callable[[Any], T | None]) -> T | None:
    """Return what `read` makes of the last JSON value in a reply that it can use.

    A reply that is JSON as a whole needs no repair; else the last wins because drafts come first.
    """
    found = [result for value in json_values(reply) if (result := read(value)) is not None]
    return found[-1] if found else None


def unwrapped(value: Any, read: Callable[[Any], T | None]) -> T | None:
    """Return what `read` makes of a JSON value, or else of the one thing within its objects that it can use."""
    found = read(value)
    if found is not None or not isinstance(value, Mapping):
        return found
    inner = (unwrapped(each, read) for each in value.values() if isinstance(each, list | Mapping))
    usable = [each for each in inner if each is not None]
    return usable[0] if len(usable) == 1 else None


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
            if _is_shallow(value):
                yield value, bracket.start(), stop
            start = stop
