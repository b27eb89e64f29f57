"""What a reply cost in US dollars, from the dated price list of genai-prices: offline, and None where unknown."""

from decimal import Decimal
from importlib.metadata import version

from ltm_bench.messages import Usage


def price_list() -> str:
    """Name the price list, for the record."""
    return f"genai-prices {version('genai-prices')}"


def dollars(usage: Usage) -> Decimal | None:
    """Return the price of one call, or None where the model's price is unknown (which is never the same as 0)."""
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
