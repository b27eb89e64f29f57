"""Checks values from files and from the command line against the annotations of the function that takes them.

They are validated as JSON, in strict mode: a string is not a number, but it is a valid Path, and a list a valid tuple.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from ltm_bench.core.keys import scrubbed


def annotations_of(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the types of a function's arguments; none if one of them cannot be resolved."""
    try:
        arguments = inspect.signature(function, eval_str=True).parameters.values()
    except Exception:  # an annotation may be any expression, or a name that only type checkers know
        return {}
    return {each.name: each.annotation for each in arguments if each.annotation is not each.empty}


def mistyped(option: str, name: str, value: object, kind: Any) -> str:
    """Return what is wrong with a value's type; empty if it fits or cannot be checked.

    Args:
        option: The option by which it can be given.
        name: Its name there.
        value: The value.
        kind: The annotation.
    """
    problems = _problems(value, kind)
    if not problems:
        return ""
    wanted = " or ".join(dict.fromkeys(problems))
    quoted = f"; write {option} '{name}=\"{value}\"'" if not _problems("", kind) else ""
    return scrubbed(f"{name}={value!r:.300}: this setting must be {wanted}{quoted:.300}")


_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "bool_type": "true or false",
}
"""Expected values by pydantic's error type; for other types, pydantic's own message is used."""


def _problems(value: object, kind: Any) -> list[str]:
    """Return the expected values, one per member of a union; empty if the value fits."""
    # Imported here: pydantic takes as long to import as everything else until the first turn.
    from pydantic import PydanticUserError, TypeAdapter, ValidationError

    try:
        content = json.dumps(value, default=str, allow_nan=False)
    except ValueError:
        return ["a finite number"]
    try:
        TypeAdapter(kind).validate_json(content, strict=True)
    except ValidationError as error:
        # `None` is left out: it cannot be written.
        return [
            _EXPECTED.get(each["type"], each["msg"].removeprefix("Input should be "))
            for each in error.errors()
            if each["type"] not in ("none_required", "json_invalid")
        ]
    except (PydanticUserError, NameError):
        # Types without a pydantic schema are left to whoever takes the value.
        return []
    return []
