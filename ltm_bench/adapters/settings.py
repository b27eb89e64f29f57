"""Checks of settings that several adapters have."""

from __future__ import annotations

from ltm_bench.core.errors import ConfigError


def at_least(adapter: str, **settings: tuple[int, int]) -> None:
    """Raise ConfigError for the first setting below its minimum: `at_least("zep", recent=(recent, 0))`."""
    for name, (value, least) in settings.items():
        if value < least:
            raise ConfigError(f"{adapter}: {name} = {value}, but at least {least} is needed")
