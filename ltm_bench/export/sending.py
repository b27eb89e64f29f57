"""Sends a run's spans to a collector of OpenTelemetry: OTLP over HTTP, in its JSON form."""

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.keys import scrubbed
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
    """Send a run's spans; return how many.

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
    for first in range(0, len(found), MOST):
        content = as_request(source, found[first : first + MOST])
        try:
            httpx2.post(target, content=content, headers=given, timeout=_SECONDS).raise_for_status()
        except (httpx2.HTTPError, ValueError) as error:
            told = str(error).partition("\n")[0]
            raise ConfigError(
                f"--otel {scrubbed(endpoint)}: the collector did not take the spans: {scrubbed(told)}; see "
                f"that it listens there for OTLP over HTTP, and set {HEADERS} if it wants a key"
            ) from error
    return len(found)


def _headers(text: str) -> Mapping[str, str]:
    pairs = (each.partition("=") for each in text.split(",") if "=" in each)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}
