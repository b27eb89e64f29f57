"""The JSON form of a matcher in the event log: the name of its class, its version, its fields."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from ltm_bench.core.errors import LogError
from ltm_bench.core.messages import Matcher

Upgrade = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Turns an old JSON form of a matcher into a newer one, `matcher` and `version` included."""


def dump(matcher: Matcher) -> dict[str, Any]:
    """Return the JSON form of a matcher."""
    data = {field.name: getattr(matcher, field.name) for field in fields(matcher)}  # type: ignore[arg-type]  # every matcher is a dataclass, which its base class cannot say
    return {"matcher": type(matcher).__name__, "version": matcher.version, **data}


def build(kind: type[Matcher], data: Mapping[str, Any]) -> Matcher:
    """Return a matcher of this class with the fields of a JSON form. Raises LogError if they do not match."""
    settings = {key: _tuples(value) for key, value in data.items() if key not in ("matcher", "version")}
    try:
        return kind(**settings)
    except TypeError as error:
        raise LogError(f"the log's matcher {kind.__name__!r} cannot be read: {error}") from error


def _tuples(value: Any) -> Any:
    """Turn JSON lists back into the tuples that frozen matchers hold."""
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
