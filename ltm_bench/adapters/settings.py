"""Checks of settings that several adapters have."""

from __future__ import annotations

from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.keys import scrubbed
from ltm_bench.core.limits import json_of


def at_least(adapter: str, **settings: tuple[int, int]) -> None:
    """Raise ConfigError for the first setting below its minimum: `at_least("zep", recent=(recent, 0))`."""
    for name, (value, least) in settings.items():
        if value < least:
            raise ConfigError(f"{adapter}: {name} = {value}, but at least {least} is needed")


def object_set(adapter: str, name: str, text: str) -> dict[str, Any]:
    """Parse a setting that holds a JSON object: `object_set("http", "extra", '{"stream": false}')`.

    Raises ConfigError if it does not; the error shows at most 300 characters of the setting, and no known key.
    """
    try:
        found = json_of(text)
    except ValueError as error:
        raise ConfigError(f"{adapter}: {name}={scrubbed(text)!r:.300} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{adapter}: {name}={scrubbed(text)!r:.300} is not a JSON object")
    return found
