"""Reads values of published files where a text, a name or a key is expected, whatever their type."""

import json
from collections.abc import Mapping
from typing import Any


def text_of(value: Any) -> str:
    """Return a value where text is expected: null is empty, the parts of a list are joined, true is `true`.

    A part without text, such as a picture or the call of a tool, says nothing; nor does what a model only thought.
    Raises ValueError for an object that is no such part.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_of, value)))
    if isinstance(value, Mapping):
        kind, said = str(value.get("type") or ""), value.get("text", value.get("content"))
        if not kind and not {"text", "content"} & value.keys():
            raise ValueError(f"{json.dumps(value)[:60]} is an object, where a text is expected")
        return "" if kind.startswith(("think", "reason")) else text_of(said)
    # Not as JSON has it either: a number with too many digits is read as infinite, and is refused.
    return "" if value is None else json.dumps(value, allow_nan=False)


def needed(record: Mapping[str, Any], key: str) -> str:
    """Return a text without which a record is none. Raises LookupError, or ValueError if it is null or empty."""
    if not (text := text_of(record[key])).strip():
        raise ValueError(f"its {key} is {json.dumps(record[key])[:60]}; it must be a text")
    return text


def golds_of(value: Any) -> tuple[str, ...]:
    """Return the accepted answers in a key: one, or all of a list. Raises ValueError if there is none."""
    parts = value if isinstance(value, list) else [value]
    found = (golds_of(each) if isinstance(each, list) else (text_of(each),) for each in parts)
    golds = tuple(text for texts in found for text in texts if text.strip())
    if not golds:
        raise ValueError(f"its answer is {json.dumps(value)[:60]}; there must be one")
    return golds
