"""Requests to unknown tools, and their answers: JSON with placeholders to fill in, JSON to read."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Item = tuple[str, Mapping[str, Any]]
"""A text, and the fields of the object it came from."""

_WORD = re.compile(r"\{(\w+)\}")


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return JSON with every {word} in its texts replaced; a text that is only one {word} becomes the value itself."""
    match template:
        case dict():
            return {name: filled(each, values) for name, each in template.items()}
        case list():
            return [filled(each, values) for each in template]
        case str():
            whole = _WORD.fullmatch(template)
            if whole and whole[1] in values:
                return values[whole[1]]
            return _WORD.sub(lambda found: str(values.get(found[1], found[0])), template)
    return template


def items_in(data: Any) -> list[Item]:
    """Return the items of an answer, each as one text: the joined values of an object.

    A list of texts inside an object gives one item each, preceded by the object's other values.
    """
    return [(text, fields) for text, fields in _items(data) if text]


def _items(data: Any) -> Iterator[Item]:
    match data:
        case str():
            yield from ((line.strip(), {"item": line.strip()}) for line in data.splitlines())
        case list():
            for each in data:
                yield from _items(each)
        case dict():
            yield from _things(data)


def _things(data: Mapping[str, Any]) -> Iterator[Item]:
    scalars = {name: each for name, each in data.items() if isinstance(each, str | int | float)}
    lists = [each for each in data.values() if isinstance(each, list) and each and isinstance(each[0], str)]
    own = " ".join(each for each in scalars.values() if isinstance(each, str))
    for each in (item for some in lists for item in some if isinstance(item, str)):
        yield (f"{own}: {each}" if own else each), {**scalars, "item": each}
    nested = [each for each in data.values() if isinstance(each, dict | list) and each not in lists]
    for deeper in nested:
        yield from _items(deeper)
    if own and not lists and not any(map(items_in, nested)):
        yield own, scalars
