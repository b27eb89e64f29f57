"""What a reply cost in US dollars, from the dated price list of genai-prices: offline, and None where unknown."""

from datetime import datetime
from decimal import Decimal
from importlib.metadata import version

from ltm_bench.core.messages import Usage


def price_list(on: datetime | None = None) -> str:
    """Name the price list, for the record, and the day whose prices are taken from it."""
    day = "" if on is None else f", prices of {on.date().isoformat()}"
    return f"genai-prices {version('genai-prices')}{day}"


def dollars(usage: Usage, on: datetime | None = None) -> Decimal | None:
    """Return the price of one call and of all that was used besides, or None where a price is unknown.

    Unknown is never the same as 0. Prices change: those of the moment `on` are taken, of today's if it is None.
    """
    own = _price(usage, on)
    others = [dollars(each, on) for each in usage.besides]
    known = [price for price in others if price is not None]
    return None if own is None or len(known) < len(others) else sum(known, own)


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
                output_tokens=usage.output,
            ),
            usage.model,
            provider_id=usage.provider,
            genai_request_timestamp=on,
        ).total_price
    except (LookupError, ValueError):
        return None


def provider_at(url: str) -> str | None:
    """Return whose prices hold at an address, or None where the price list knows nobody there."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider(None, None, url).id
    except LookupError:
        return None
