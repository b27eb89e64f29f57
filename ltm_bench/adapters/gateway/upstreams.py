"""Where the gateway forwards to: a provider's address, its key, and whose prices apply."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

from ltm_bench.adapters.endpoint import host_of
from ltm_bench.adapters.routing import LOOPBACK, Family
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


def upstreams(given: Sequence[str] = ()) -> dict[Family, Upstream]:
    """Return where requests of each family go.

    Args:
        given: Each a URL, or PROVIDER=URL if the prices of a provider apply at another's address. `anthropic=URL` gets
            what is said in Anthropic's protocol, any other PROVIDER=URL what is said in OpenAI's, and a URL alone both.
            What is not given is the vendor's own server, or that of OPENAI_BASE_URL and ANTHROPIC_BASE_URL.

    Raises:
        ConfigError: One of them is not a URL, or belongs to a provider whose own key is not set.
    """
    families: tuple[Family, ...] = get_args(Family)
    found: dict[Family, Upstream] = {}
    for each in given:
        provider, named, url = each.partition("=")
        if not named or "/" in provider:
            provider, named, url = "", "", each
        anthropic = provider == "anthropic"
        for family in [one for one in families if not named or (one == "anthropic") == anthropic]:
            found[family] = own = _upstream(family, url, provider)
            # A server on this machine needs no key, unless there is one that could have been meant for it.
            here = host_of(own.url) in LOOPBACK and not read_key(_variable(family))
            if own.provider and not own.key and not here:
                raise ConfigError(
                    f"--upstream {scrubbed(each)}: {_variable(own.provider)} is not set; export it with the key for "
                    f"{host_of(url)}, which gets no other provider's"
                )
    for family in families:
        if family not in found:
            url = os.environ.get(f"{family.upper()}_BASE_URL") or _VENDORS[family]
            # the variable of the URL and that of the key belong together
            found[family] = replace(_upstream(family, url, ""), key=read_key(_variable(family)))
    return found


def _variable(provider: str) -> str:
    return f"{provider.upper().replace('-', '_')}_API_KEY"


def _upstream(family: Family, url: str, provider: str) -> Upstream:
    try:
        host_of(url)
    except ConfigError as error:
        raise ConfigError(f"--upstream {scrubbed(url)!r} is not a URL; write URL or PROVIDER=URL") from error
    base = url.rstrip("/")
    if family == "anthropic":  # a server of both families has one address
        base = base.removesuffix("/v1")
    # The price list is also read here, which takes seconds, before calls wait for it.
    owner = provider or provider_at(url)
    return Upstream(base, owner, read_key(_variable(owner or family)))
