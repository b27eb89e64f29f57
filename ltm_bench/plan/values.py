"""Parses and formats the values of options. Each error says what to write."""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import toml_of

_SPAN = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kKmM]?)", re.ASCII)


def parse_span(text: str | int) -> int:
    """Parse a span in tokens: `2k`, `120k`, `1M`, `1.5M` or a plain number. Raises ConfigError."""
    match = _SPAN.fullmatch(str(text).strip().replace("_", ""))
    if match is None:
        raise ConfigError(f"--span {text}: write a number of tokens such as 2k, 120k, 1M or 32000")
    # Exactly: no binary fraction times a thousand is the whole number of 2088.3k, which was refused.
    tokens = Decimal(match.group(1)) * {"": 1, "k": 1000, "m": 1_000_000}[match.group(2).lower()]
    if tokens != int(tokens) or not 1 <= tokens <= 1_000_000_000:
        raise ConfigError(f"--span {text}: must be a whole number of tokens from 1 to 1000M")
    return int(tokens)


def spell_span(tokens: int) -> str:
    """Format a span as people write it: `120k`, `1M`, or the plain number."""
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if tokens >= size and tokens % (size // 10) == 0:
            return f"{Decimal(tokens) / size:f}{unit}"
    return str(tokens)


def parse_value(text: str) -> Any:
    """Parse the value of `-A key=value`: as TOML if a log can hold the result (no dates), else as text."""
    try:
        content = toml_of(f"value = {text}")
        json.dumps(content, allow_nan=False)
    except (TypeError, ValueError):
        return text
    return content["value"] if len(content) == 1 else text


def parse_settings(given: Sequence[str]) -> dict[str, Any]:
    """Parse agent settings, `KEY=VALUE` each. Raises ConfigError."""
    return {key: parse_value(value) for key, value in parse_pairs("-A", "key=value", given).items()}


def parse_tags(given: Sequence[str]) -> dict[str, str]:
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


def parse_parameters(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parse scenario parameters, `SCENARIO.KEY=VALUE` each. Raises ConfigError."""
    found: dict[str, dict[str, Any]] = {}
    for each in given:
        place, equals, value = each.partition("=")
        name, dot, key = place.strip().rpartition(".")
        if not (equals and dot and name and key):
            raise ConfigError(f"-P {each}: write it as SCENARIO.KEY=VALUE, such as counting_stars.stars=32")
        found.setdefault(name, {})[key] = parse_value(value.strip())
    return found


def whole(text: str | int, least: int | None = None, most: int | None = None) -> int:
    """Parse a whole number. Raises ValueError."""
    try:
        value = int(text)
    except ValueError:
        raise ValueError("write a whole number") from None
    if least is not None and value < least:
        raise ValueError(f"write a whole number, {least} or more")
    if most is not None and value > most:
        raise ValueError(f"write a whole number, at most {most:,}")
    return value


def number(wanted: str, fits: Callable[[float], bool] = math.isfinite) -> Callable[[str | float], float]:
    """Return a parser of the numbers that fit. It raises ValueError, saying what to write."""

    def read(text: str | float) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not fits(value):
            raise ValueError(f"write {wanted}")
        return value

    return read


def positive(value: float) -> bool:
    """Whether a number is finite and above 0."""
    return math.isfinite(value) and value > 0


seconds = number("a number of seconds, such as 30", positive)
"""Parse seconds. Raises ValueError."""


def dollars(text: str) -> Decimal:
    """Parse an amount of US dollars. Raises ValueError."""
    try:
        limit = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        limit = Decimal("NaN")
    if not limit.is_finite() or limit < 0:
        raise ValueError("write US dollars, such as 2.50")
    return limit
