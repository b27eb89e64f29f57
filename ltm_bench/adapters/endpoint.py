"""A model behind a URL: where to call, with which key, and one clear line for every failure.

No text that leaves this module contains the key: not an error, not a repr.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ltm_bench.adapters.http.endings import BROKEN, telling
from ltm_bench.adapters.overflow import is_rate_limit
from ltm_bench.adapters.routing import route
from ltm_bench.core.errors import AgentError, ConfigError, LtmBenchError
from ltm_bench.core.keys import read_key, scrubbed
from ltm_bench.core.messages import Finish
from ltm_bench.core.servers import Ending, Protocol, advice_on, ending, rows_here, says

EXAMINING = 10.0
"""Seconds that `doctor` waits for a server."""

_DETAIL = 200

_BARE = r"Error code: \d+"
"""An error's message that says only its status."""

_ENDS = ("/chat/completions", "/responses", "/messages")
"""Paths of requests, which are no part of a base URL."""


class Endpoint:
    """A model behind a URL. The key comes from the environment only, and only the vendor's own server requires one."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None,
        url_variable: str,
        vendor_url: str,
        key_variable: str,
        timeout: float,
        max_retries: int,
    ) -> None:
        """Read the environment.

        Args:
            model: The model's name; errors begin with it.
            base_url: The URL; None for the one in `url_variable`, or else `vendor_url`.
            url_variable: The environment variable that can hold the URL.
            vendor_url: The vendor's own server.
            key_variable: The environment variable that holds the key.
            timeout: Seconds to wait for one answer.
            max_retries: Retries of a failed request.

        Raises:
            ConfigError: The URL is invalid, the key is missing or cannot be sent, or a number is out of range.
        """
        rows_here("endings")  # a mistake in the user's own rows is said before anything is sent
        self.model = model
        self.url = base_url or os.environ.get(url_variable) or vendor_url
        self.timeout = timeout
        self.max_retries = max_retries
        self.hint: tuple[re.Pattern[str], str] | None = None
        """Wording of a rejection, and the advice that it deserves instead of the usual one."""
        self._key_variable = key_variable
        self._made: int | None = None
        """Retries that were made before the error that is explained; None if nobody counted them."""
        self._host = host_of(self.url)
        if timeout <= 0 or max_retries < 0:
            raise ConfigError(
                f"timeout={timeout:g}, max_retries={max_retries}: the first must be above 0, the second 0 or more"
            )
        vendor = urlsplit(vendor_url).hostname or ""
        self.is_list_priced = self._host == vendor
        """Whether the vendor's list prices apply; its regional servers cost more."""
        self.is_vendor = self.is_list_priced or self._host.endswith("." + vendor)
        """Whether this is the vendor's own server, which accepts fields that compatible servers reject."""
        self.connections = self._host if self.is_vendor else scrubbed(self.url)
        """What a call connects to (see `Agent.connections`)."""
        self.key = read_key(key_variable)
        through = route()
        if through is not None and (instead := through.instead_of(base_url, url_variable)) is not None:
            self.url, self.key = instead, through.key
        if not self.key:
            if self.is_vendor:
                raise ConfigError(
                    f"{model}: {key_variable} is not set; export it with your key for {self._host} "
                    "(or set base_url to a server that needs none)"
                )
            self.key = "no-key"
        elif not self.key.isascii() or not self.key.isprintable() or " " in self.key:
            raise ConfigError(
                f"{key_variable} holds characters that no key has (its value is not shown here)"
            )

    @classmethod
    def openai(
        cls,
        model: str,
        *,
        base_url: str | None,
        key_variable: str = "OPENAI_API_KEY",
        timeout: float,
        max_retries: int,
    ) -> Endpoint:
        """Return the endpoint of a model at OpenAI or a compatible server.

        Args:
            model: The model's name; errors begin with it.
            base_url: The URL; None for the one in OPENAI_BASE_URL, or else OpenAI's own.
            key_variable: The environment variable that holds the key; OPENAI_API_KEY by default.
            timeout: Seconds to wait for one answer.
            max_retries: Retries of a failed request.

        Raises:
            ConfigError: As for the constructor.
        """
        return cls(
            model=model,
            base_url=base_url,
            url_variable="OPENAI_BASE_URL",
            vendor_url="https://api.openai.com/v1",
            key_variable=key_variable,
            timeout=timeout,
            max_retries=max_retries,
        )

    def __repr__(self) -> str:
        return f"Endpoint({self.model!r}, {scrubbed(self.url)!r})"

    def move(self, url: str) -> None:
        """Set another server, if only the provider's library knows which one it calls."""
        self.url, self.connections = url, scrubbed(url)
        self._host = urlsplit(url).hostname or url

    def rejected(self, status: int, detail: str) -> AgentError:
        """Return the error for an HTTP status that persisted through all retries."""
        if status == 400 and "No connected db" in detail:
            # LiteLLM's proxy, of an unknown key: https://github.com/BerriAI/litellm/issues/12273.
            status = 401
        match status:
            case _ if says("money", detail):
                return self._error(
                    f"HTTP {status}, the account has no credit left{self._quoted(detail)}",
                    "add credit or raise the account's limit, then resume the run",
                )
            case 401 | 403:
                # Providers repeat parts of the key here, so their message is left out.
                own = "" if self.is_vendor else "; behind a gateway, the gateway's own key may be wrong"
                return self._error(
                    f"HTTP {status}, the key in {self._key_variable} was not accepted",
                    f"check that it is valid, and that it may use this model{own}",
                )
            case 407:
                return self._error(
                    "HTTP 407, the proxy did not accept its user and password",
                    "check them in HTTP_PROXY, HTTPS_PROXY and ALL_PROXY",
                )
            case 404:
                return self._error(
                    f"HTTP 404, no such model or address{self._quoted(detail)}",
                    "check model and base_url, and whether the model has been shut down",
                )
            case _ if BROKEN in detail:
                return self._error(
                    f"{detail[detail.index(BROKEN) :][: 2 * _DETAIL]}, {self._retries}",
                    "resume the run later",
                )
            case _ if is_rate_limit(status, detail):
                return self._error(
                    f"HTTP {status}, rate limit or quota{self._quoted(detail)}, {self._retries}",
                    "check the account's limits and credit, then resume the run",
                )
            case _ if status >= 500:
                return self._error(
                    f"HTTP {status}, the provider failed{self._quoted(detail)}, {self._retries}",
                    "resume the run later",
                )
            case _:
                known = self.hint is not None and self.hint[0].search(detail)
                return self._error(
                    f"HTTP {status}, the request was rejected{self._quoted(detail)}",
                    self.hint[1]
                    if self.hint and known
                    else "check the agent's settings against what this model accepts",
                )

    def moved(self, answer: Any) -> AgentError:
        """Return the error for a redirect to another host, which would get the whole conversation."""
        path = str(answer.request.url).removeprefix(self.url.rstrip("/"))
        there = answer.headers.get("location", "").removesuffix(path)
        return self._error(
            f"HTTP {answer.status_code}, redirected, which is followed on the same host only",
            f"if the other may get the conversation, set base_url to {scrubbed(there, [self.key])[:_DETAIL]!r}",
        )

    def timed_out(self) -> AgentError:
        """Return the error for a timeout."""
        return self._error(
            f"no reply within timeout={self.timeout:g} seconds, {self._retries}",
            "raise timeout, or resume the run later",
        )

    def unreachable(self, cause: BaseException) -> AgentError:
        """Return the error for a connection that failed or was cut."""
        while isinstance(cause, ExceptionGroup):  # one for every address of the host that was tried
            cause = cause.exceptions[0]
        if str(cause).startswith("407 "):  # of a proxy, when asked for a tunnel
            return self.rejected(407, "")
        return self._error(
            f"the connection failed{self._quoted(str(cause) or type(cause).__name__)}, {self._retries}",
            "check the network, any proxy, and base_url; then resume the run",
        )

    def unreadable(self, detail: str) -> AgentError:
        """Return the error for an answer that violates the provider's API."""
        return self._error(
            f"the answer could not be read{self._quoted(detail)}", "check base_url, or resume the run later"
        )

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn what goes wrong while an answer is read into an AgentError; Python's own words name no field of it."""
        try:
            yield
        except ValueError as error:
            raise self.unreadable(str(error)) from error
        except AttributeError as error:
            raise self.unreadable(f"it has no {error.name or 'value'} where one belongs") from error
        except (LookupError, TypeError) as error:
            raise self.unreadable("a value is missing, or of another type than it should be") from error

    def explain(self, error: BaseException) -> AgentError:
        """Return the error for an exception of a client library, or of one beneath it.

        The libraries agree on this much: an HTTP status is called `status_code` or `status`, and class names say what
        happened.
        """
        known: set[int] = set()
        cause: BaseException | None = error
        while cause is not None and id(cause) not in known:
            known.add(id(cause))
            kinds = " ".join(kind.__name__ for kind in type(cause).__mro__)
            answered = getattr(cause, "response", None)
            asked = getattr(answered if answered is not None else cause, "request", None)
            made = getattr(asked, "headers", {}).get("x-stainless-retry-count", "")
            self._made = int(made) if made.isdecimal() else None
            status = getattr(cause, "status_code", getattr(answered, "status_code", None))
            if status is None:
                status = getattr(cause, "status", None)
            if isinstance(cause, AgentError):
                return cause
            if isinstance(status, int) and 300 <= status < 400 and answered is not None:
                return self.moved(answered)
            if isinstance(status, int) and status >= 400:
                return self.rejected(status, told_by(cause))
            if isinstance(cause, ExceptionGroup):
                return self.unreachable(cause)
            if "Timeout" in kinds:
                return self.timed_out()
            if "ConnectionError" in kinds or "ConnectError" in kinds or "TransportError" in kinds:
                # the libraries say "connection error"; the deepest cause says which
                while cause.__cause__ is not None:
                    cause = cause.__cause__
                return self.unreachable(cause)
            cause = cause.__cause__ or cause.__context__
        return self.unreadable(f"{type(error).__name__}: {error}")

    @contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn exceptions of client libraries inside the block into AgentErrors (see `explain`)."""
        try:
            yield
        except LtmBenchError:
            raise
        except Exception as error:  # every library has its own
            raise self.explain(error) from error

    def ended(self, protocol: Protocol, word: object, usual: Ending | None = None) -> Finish:
        """Return how a reply ended, by the protocol's word. Raises AgentError if it did not end well.

        Args:
            protocol: The protocol.
            word: The word.
            usual: What a library makes of a word that no row has.
        """
        means = ending(protocol, word) or usual
        if means in (None, "fails"):
            why = advice_on(protocol, word) if means is None else "resume the run to ask again"
            raise self._error(f"{BROKEN}: it ended with {word!r}", why)
        return Finish.STOP if means == "tools" else Finish(means)

    def silent(self, max_output: int) -> AgentError:
        """Return the error for an answer whose limit was used up before any text."""
        return self._error(
            f"max_output={max_output} tokens were used up (by reasoning) before any text was written",
            "raise max_output, or lower effort",
        )

    @property
    def _retries(self) -> str:
        made = self.max_retries if self._made is None else self._made
        return f"after {made} {'retry' if made == 1 else 'retries'}"

    def _quoted(self, detail: str) -> str:
        line = re.sub(r"\s+", " ", scrubbed(detail, [self.key])).strip()
        # The SDKs put it in front; the status has been given already.
        line = re.sub(r"^Error code: \d+( - )?", "", line)
        if len(line) > _DETAIL:
            line = line[:_DETAIL] + "…"
        return f" ({line})" if line else ""

    def _error(self, what: str, advice: str) -> AgentError:
        return AgentError(scrubbed(f"{self.model} at {self._host}: {what}; {advice}", [self.key]))


def declines(status: object, told: str, *codes: object) -> bool:
    """Whether an error says that a filter declined."""
    return status in _DECLINED and says("refused", f"{told} {codes}")


_DECLINED = (400, 403, 422)
"""Statuses of a prompt that a filter declined."""


def told_by(error: BaseException) -> str:
    """Return what a server says went wrong, by the exception of a client library; empty if it says nothing."""
    body = getattr(error, "body", None)
    # OpenAI's SDK quotes an error's message only where it has a field of that name.
    speaks = isinstance(body, str) or (isinstance(body, dict) and not _SAYING.isdisjoint(body))
    said = (getattr(error, name, None) for name in ("api_message", "message"))
    told = (each for each in said if isinstance(each, str) and not re.fullmatch(_BARE, each))
    return (telling(body) if speaks else "") or next(told, "")


_SAYING = {"message", "detail", "error"}
"""The fields of an error's body that say what went wrong."""


def host_of(url: str) -> str:
    """Return a URL's host. Raises ConfigError unless the URL can be called."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:  # it says which part; the URL may hold a password
        raise ConfigError(f"base_url {scrubbed(url)!r}: {scrubbed(str(error))}") from None
    end = next((end for end in _ENDS if parts.path.rstrip("/").endswith(end)), None)
    if parts.query or end is not None:
        what = "a query" if end is None else f"{end}, which every request adds"
        raise ConfigError(
            f"base_url {scrubbed(url)!r} ends with {what}: give the part before it, such as https://host/v1"
        )
    if not host or port == 0 or parts.scheme not in ("http", "https") or re.search(r"\s", url):
        raise ConfigError(f"base_url {scrubbed(url)!r} is not a URL; it looks like https://host/v1")
    return host
