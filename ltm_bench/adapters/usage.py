"""Turns the token figures of providers into `Usage`, in which the parts of the prompt do not overlap."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ltm_bench.adapters.http.traffic import last_answer
from ltm_bench.core.clock import wall
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Usage
from ltm_bench.core.servers import Protocol, figure

MOST = 10**9
"""More tokens than any call uses: a figure above is none."""

_SPOKEN: Mapping[str, Protocol] = {"choices": "chat", "stop_reason": "messages", "output": "responses"}
"""Protocols by a field that every answer in them has."""

_FIGURES = (
    "prompt",
    "uncached",
    "cache_read",
    "cache_write",
    "cache_write_1h",
    "output",
    "reasoning",
    "total",
)


def usage_in(
    reported: Any, protocol: Protocol, *, model: str | None, provider: str | None, replies: bool = True
) -> Usage | None:
    """Return the usage that a server reports; None if it reports none, or one that cannot be read or cannot be.

    Args:
        reported: The usage: a mapping, or an SDK's object.
        protocol: The protocol.
        model: The model, as the provider calls it.
        provider: Whose prices apply; None if unknown.
        replies: Whether there is a reply, which must have a figure; embeddings have none.

    Tokens that a total has besides those of prompt and output are reasoning, and belong to the output. The writing of
    a summary on the way is a call of its own, which Anthropic reports beside the figures of the reply.
    """
    if hasattr(reported, "to_dict"):
        reported = reported.to_dict(warnings=False)
    if not isinstance(reported, Mapping):
        return None
    passes = reported.get("iterations") or []
    if not isinstance(passes, list) or not all(isinstance(each, Mapping) for each in passes):
        return None
    calls = [reported, *(each for each in passes if each.get("type") == "compaction")]
    known = [_of_one(each, protocol, model, provider, replies=replies) for each in calls]
    read = [each for each in known if each is not None]
    return Usage.of(read) if len(read) == len(calls) else None


def spoken_usage() -> tuple[Any, Protocol] | None:
    """Return the usage in the words of the server that was heard last, and its protocol; None if it speaks another.

    It is for libraries that read usage themselves. It hears what `client` sends, without streams.
    """
    with suppress(ValueError):
        body = json_of(last_answer.get())
        if isinstance(body, dict) and (found := [each for name, each in _SPOKEN.items() if name in body]):
            return body.get("usage"), found[0]
    return None


def _of_one(
    reported: Mapping[str, Any], protocol: Protocol, model: str | None, provider: str | None, *, replies: bool
) -> Usage | None:
    try:
        found = {name: _count(figure(protocol, name, reported)) for name in _FIGURES}
    except ValueError:
        return None
    prompt, output = found["uncached" if protocol == "messages" else "prompt"], found["output"]
    total = found["total"] or 0
    if prompt is None and not replies:
        prompt = found["total"]
    if prompt is None or (output is None and replies and total <= prompt):  # or the total tells it
        return None
    read, written, reasoning = (found[name] or 0 for name in ("cache_read", "cache_write", "reasoning"))
    output, hour = output or 0, found["cache_write_1h"] or 0
    if total:
        if total < prompt + output:
            return None
        output = total - prompt
    uncached = prompt if protocol == "messages" else prompt - read - written
    if uncached + read + written == 0 and replies:
        return None  # something was sent
    if uncached < 0 or reasoning > output or hour > written:
        return None
    return Usage(
        uncached=uncached,
        cache_read=read,
        cache_write=written,
        output=output,
        reasoning=reasoning,
        model=model,
        provider=provider,
        cache_write_1h=hour,
        at=wall(),
    )


def _count(value: Any) -> int | None:
    """Return a figure as a number of tokens; None if there is none. Raises ValueError if it is none."""
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= MOST
        or value != int(value)
    ):
        raise ValueError(f"{value!r} is no number of tokens")
    return int(value)


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
        at=wall(),
    )
