"""Where the gateway forwards to: a provider's address, its key, and whose prices apply."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from ltm_bench.adapters.endpoint import host_of
from ltm_bench.adapters.routing import Family
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.keys import read_key, scrubbed
from ltm_bench.core.pricing import provider_at

_VENDORS: Mapping[Family, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}


@dataclass(frozen=True, slots=True)
class Upstream:
    """A provider."""

    url: str
    provider: str | None
    """Whose prices apply; None if unknown."""
    key: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """Its URL, without a password."""
        return scrubbed(self.url)


def upstreams(given: Sequence[str] = ()) -> dict[Family, Upstream]:
    """Return where requests of each family go.

    Args:
        given: Each a URL, or PROVIDER=URL if the prices of a provider apply at another's address. `anthropic=URL` gets
            what is said in Anthropic's protocol, any other PROVIDER=URL what is said in OpenAI's, and a URL alone both.
            What is not given is the vendor's own server, or that of OPENAI_BASE_URL and ANTHROPIC_BASE_URL.

    Raises:
        ConfigError: One of them is not a URL.
    """
    families: tuple[Family, ...] = get_args(Family)
    found: dict[Family, Upstream] = {}
    for each in given:
        provider, named, url = each.partition("=")
        if not named or "/" in provider:
            provider, named, url = "", "", each
        served = (
            families
            if not named
            else [one for one in families if (one == "anthropic") == (provider == "anthropic")]
        )
        for family in served:
            found[family] = _upstream(family, url, provider)
    for family in families:
        url = os.environ.get(f"{family.upper()}_BASE_URL") or _VENDORS[family]
        found.setdefault(family, _upstream(family, url, ""))
    return found


def _upstream(family: Family, url: str, provider: str) -> Upstream:
    try:
        host_of(url)
    except ConfigError as error:
        raise ConfigError(f"--upstream {scrubbed(url)!r} is not a URL; write URL or PROVIDER=URL") from error
    variable = f"{(provider or family).upper().replace('-', '_')}_API_KEY"
    key = read_key(variable) or read_key(f"{family.upper()}_API_KEY")
    base = url.rstrip("/")
    if family == "anthropic":  # a server of both families has one address
        base = base.removesuffix("/v1")
    listed = provider_at(url)  # it also reads the price list, which takes seconds, before calls wait for it
    return Upstream(base, provider or listed, key)
