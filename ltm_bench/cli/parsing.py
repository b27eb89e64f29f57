"""Parses the values of options. Every error names the option, and says what to write."""

import math
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation

from ltm_bench.core.errors import ConfigError


def whole(option: str, least: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers; its ConfigErrors name the option."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ConfigError(f"{option} {text}: write a whole number") from None
        if least is not None and value < least:
            raise ConfigError(f"{option} {text}: write a whole number, {least} or more")
        return value

    return read


def number(option: str, wanted: str, fits: Callable[[float], bool] = math.isfinite) -> Callable[[str], float]:
    """Return a parser of the numbers that fit; its ConfigErrors name the option, and what to write."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not fits(value):
            raise ConfigError(f"{option} {text}: write {wanted}")
        return value

    return read


def positive(value: float) -> bool:
    """Whether a number is finite and above 0."""
    return math.isfinite(value) and value > 0


def seconds(option: str) -> Callable[[str], float]:
    """Return a parser of seconds; its ConfigErrors name the option."""
    return number(option, "a number of seconds, such as 30", positive)


def dollars(text: str) -> Decimal:
    """Parse the limit of `--max-cost`. Raises ConfigError."""
    try:
        limit = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        limit = Decimal("NaN")
    if not limit.is_finite() or limit < 0:
        raise ConfigError(f"--max-cost {text}: write US dollars, such as 2.50")
    return limit


def parse_tags(given: list[str]) -> dict[str, str]:
    """Parse tags, `KEY=VALUE` each. Raises ConfigError."""
    return parse_pairs("--tag", "key=value", given)


def parse_pairs(option: str, form: str, given: Iterable[str]) -> dict[str, str]:
    """Parse an option's pairs, such as `KEY=VALUE`. Raises ConfigError."""
    found = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"{option} {each}: write it as {form}")
        found[key.strip()] = value.strip()
    return found
