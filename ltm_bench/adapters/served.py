"""Memory products behind a server: their vendor's cloud, or the user's own."""

import asyncio
import time
from typing import Any, ClassVar

from ltm_bench.adapters.endpoint import Endpoint
from ltm_bench.adapters.extractive import question_in
from ltm_bench.adapters.product import MemoryProduct
from ltm_bench.adapters.settings import Inheriting
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message


class Patience:
    """Pauses between polls, each twice as long as the one before, until patience runs out."""

    def __init__(self, seconds: float, *, first: float, longest: float) -> None:
        self._until, self._pause, self._longest = time.monotonic() + seconds, first, longest

    async def lasts(self) -> bool:
        """Pause, and return True; return False, without a pause, once the seconds are over."""
        if time.monotonic() > self._until:
            return False
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, self._longest)
        return True


class ServedProduct(Inheriting, MemoryProduct):
    """Base of the adapters of products behind a server, which works in the background and says no price.

    The environment has the key and the address, under the adapter's name: `zep.py` reads ZEP_API_KEY and ZEP_BASE_URL.

    Args:
        core_url: The core's API, if not the provider's.
        base_url: The product's API; default: the variable that ends with _BASE_URL, else the vendor's cloud.
        patience: Seconds to wait until the product has processed what it has heard.
        timeout: Seconds to wait for one answer.
        max_retries: Retries of a failed request.
        settings: Those of every `MemoryProduct`.
    """

    charges_extra = True
    vendor_url: ClassVar[str]
    """The vendor's cloud."""
    core_waits_alike: ClassVar[bool] = False
    """Whether `timeout` and `max_retries` are the core's, too."""

    def __init__(
        self,
        *,
        core_url: str | None = None,
        base_url: str | None = None,
        patience: float = 1800.0,
        timeout: float = 60.0,
        max_retries: int = 4,
        **settings: Any,
    ) -> None:
        name = self.adapter_name()
        endpoint = Endpoint(
            model=name,
            base_url=base_url,
            url_variable=f"{name.upper()}_BASE_URL",
            vendor_url=self.vendor_url,
            key_variable=f"{name.upper()}_API_KEY",
            timeout=timeout,
            max_retries=max_retries,
        )
        alike = {"timeout": timeout, "max_retries": max_retries} if self.core_waits_alike else {}
        super().__init__(endpoint, {"base_url": core_url, **alike}, **settings)
        self._patience = patience

    def impatient(self, what: str, why: str = "") -> AgentError:
        """Return the error for a product that did not do something in time, such as `"Zep did not finish"`."""
        return AgentError(
            f"{what} within patience={self._patience:g} seconds{why}; resume the run later, or raise patience"
        )

    def query(self, message: Message) -> str:
        """Search for what a message asks, if it asks anything."""
        return question_in(message.query) or message.query
