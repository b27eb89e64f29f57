"""Prices in US dollars, from the dated price list of genai-prices. Works offline; an unknown price is None, never 0."""

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.metadata import version

from ltm_bench.core.messages import Usage


def price_list(*times: datetime) -> str:
    """Name the price list, and the first and last day of the calls whose prices are used, for the record."""
    # In UTC: a server names any zone, and the record of a price would depend on it.
    days = sorted({each.astimezone(UTC).date().isoformat() for each in times})
    span = f", prices of {' to '.join(days[:: max(1, len(days) - 1)])}" if days else ""
    return f"genai-prices {_release()}{span}"


@cache  # it parses a file
def _release() -> str:
    return version("genai-prices")


def dollars(usage: Usage, on: datetime | None = None) -> Decimal | None:
    """Return the price of one or more calls, and of what they used `besides`; None if any of these prices is unknown.

    Args:
        usage: What was used.
        on: The time whose prices apply to calls whose own time is unknown; None for now.
    """
    prices = [_price(each, on) for each in usage.parts or (usage,)]
    return total(prices + [dollars(each, on) for each in usage.besides])


def total(prices: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum of prices; None if any of them is unknown."""
    every = list(prices)
    return None if None in every else sum(filter(None, every), Decimal())


def _price(usage: Usage, on: datetime | None) -> Decimal | None:
    if usage.model is None or usage.provider is None:
        return None
    import genai_prices

    try:
        return genai_prices.calc_price(
            genai_prices.Usage(
                input_tokens=usage.prompt,
                cache_read_tokens=usage.cache_read,
                cache_write_tokens=usage.cache_write,
                cache_write_1h_tokens=usage.cache_write_1h or None,
                output_tokens=usage.output,
            ),
            usage.model,
            provider_id=usage.provider,
            genai_request_timestamp=usage.at or on,
        ).total_price
    except (LookupError, ValueError):
        return None


def provider_at(url: str) -> str | None:
    """Return the provider whose prices apply at a URL, or None if the price list knows none."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider(None, None, url).id
    except LookupError:
        return None


def context_window(model: str, provider: str | None) -> int | None:
    """Return the tokens of a model's window; None if the price list does not know it."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, provider, None)[1].context_window
    except LookupError:
        return None
