"""Sends a run's spans to a collector of OpenTelemetry: OTLP over HTTP, in its JSON form."""

import asyncio
import warnings
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from ltm_bench.adapters.http.shared import bounded
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.keys import scrubbed
from ltm_bench.core.limits import json_of
from ltm_bench.export.formats.otel import as_request, spans
from ltm_bench.export.source import Source

HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
"""The standard variable with a collector's headers, such as its key: `name=value,name=value`."""

MOST = 500
"""Spans of one request; collectors refuse large ones."""

_SECONDS = 30.0


def collector(endpoint: str) -> str:
    """Return the address to which spans are sent. Raises ConfigError if the endpoint is no address."""
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"--otel {scrubbed(endpoint)}: write the collector's address, such as http://localhost:4318"
        )
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith("/v1/traces") else f"{path}/v1/traces").geturl()


def send(source: Source, endpoint: str, headers: str = "") -> int:
    """Send a run's spans; return how many were taken, with a warning for any that were not.

    Args:
        source: The run.
        endpoint: The collector's address.
        headers: As in `OTEL_EXPORTER_OTLP_HEADERS`.

    Raises:
        ConfigError: The endpoint is no address, cannot be reached, or does not take them.
    """
    import httpx2

    target, found = collector(endpoint), list(spans(source))
    given = {"content-type": "application/json", **_headers(headers)}
    parts = [as_request(source, found[first : first + MOST]) for first in range(0, len(found), MOST)]

    async def answers() -> list[bytes]:
        async with bounded(httpx2.AsyncClient, headers=given, timeout=_SECONDS) as client:
            return [(await client.post(target, content=each)).raise_for_status().content for each in parts]

    try:
        said = asyncio.run(answers())
    except (httpx2.HTTPError, ValueError) as error:
        told = str(error).partition("\n")[0]
        raise ConfigError(
            f"--otel {scrubbed(endpoint)}: the collector did not take the spans: {scrubbed(told)}; see "
            f"that it listens there for OTLP over HTTP, and set {HEADERS} if it wants a key"
        ) from error
    for rejected, why in filter(any, map(_partial, said)):
        text = f"--otel {scrubbed(endpoint)}: the collector rejected {rejected:,} of {len(found):,} spans"
        warnings.warn(f"{text}, saying: {scrubbed(why)!r:.300}", stacklevel=2)
    return len(found) - sum(rejected for rejected, _ in map(_partial, said))


def _partial(answer: bytes) -> tuple[int, str]:
    """Return how many spans a collector rejected although it took the request, and what it says of them."""
    try:
        said = json_of(answer)["partialSuccess"]
        return int(said.get("rejectedSpans") or 0), str(said.get("errorMessage") or "")
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
        # Most collectors answer nothing, or {}.
        return 0, ""


def _headers(text: str) -> Mapping[str, str]:
    pairs = (each.partition("=") for each in text.split(",") if "=" in each)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}
