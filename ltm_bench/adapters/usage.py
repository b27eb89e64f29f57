"""Turns the token figures of providers into `Usage`, in which the parts of the prompt do not overlap."""

from ltm_bench.core.messages import Usage


def usage_of(
    *,
    prompt: int,
    output: int | None,
    cache_read: int | None = 0,
    cache_write: int | None = 0,
    reasoning: int | None = 0,
    model: str | None,
    provider: str | None,
) -> Usage:
    """Return a `Usage`, from figures of a provider that counts cached tokens in the prompt (OpenAI and most others).

    Args:
        prompt: All tokens of the prompt, cached ones included.
        output: Tokens of the reply, reasoning included; None if it has none, as with embeddings.
        cache_read: Prompt tokens read from the provider's cache; None counts as 0.
        cache_write: Prompt tokens written to it; None counts as 0.
        reasoning: The hidden part of `output`.
        model: The model, as the provider calls it.
        provider: Whose prices apply; None if unknown.
    """
    read, written = cache_read or 0, cache_write or 0
    if read + written > prompt:  # impossible: bill all of it at the full price
        read = written = 0
    return Usage(
        uncached=prompt - read - written,
        cache_read=read,
        cache_write=written,
        output=output or 0,
        reasoning=reasoning or 0,
        model=model,
        provider=provider,
    )
