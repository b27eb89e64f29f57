"""Times every attempt to reach a provider, and reports it to the run that waits for the reply.

A listener gets everything called inside its block: in the same task, its threads, and tasks that it starts.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ltm_bench.core.budget import payment
from ltm_bench.core.keys import cleaned

_SHOWN = 40
"""Characters recorded of a header."""

_log = logging.getLogger("ltm_bench")


class Attempt(NamedTuple):
    """One request, sent or answered from the cache."""

    seconds: float
    status: int | None = None
    """The HTTP status; None if no answer came."""
    error: str = ""
    """The type of error that prevented an answer."""
    retry_after: str = ""
    """When the provider said to retry, in its words."""
    cached: bool = False
    unsent: bool = False
    """Whether nothing was sent, because no connection was made."""

    def record(self) -> dict[str, Any]:
        """Return its JSON form."""
        found: dict[str, Any] = {"seconds": round(self.seconds, 6)}
        for name in ("status", "error", "retry_after", "cached", "unsent"):
            if value := getattr(self, name):
                found[name] = value
        return found


@dataclass(slots=True)
class Traffic:
    """What went over the wire for one reply."""

    attempts: list[Attempt] = field(default_factory=list)
    sent: int | None = None
    """Tokens that were sent, if the server counted far fewer in the prompt."""
    answers: dict[str, bytes] = field(default_factory=dict)
    """Answer bodies by the request's identity, to be cached if the reply is usable."""

    @property
    def cached(self) -> bool:
        """Whether all of it came from the cache."""
        return bool(self.attempts) and all(attempt.cached for attempt in self.attempts)


_listening: ContextVar[Traffic | None] = ContextVar("listening", default=None)
last_answer: ContextVar[bytes] = ContextVar("last answer", default=b"")
"""The body of the last answer that was not streamed."""


@contextmanager
def listening() -> Iterator[Traffic]:
    """Collect the attempts made inside the block; their answers are cached if it ends without an error.

    So a resumed run asks again for an answer that the adapter could not use.
    """
    heard = Traffic()
    token = _listening.set(heard)
    try:
        yield heard
        if heard.answers:
            from ltm_bench.adapters.http.answers import keep  # imports SQLite

            keep(heard.answers)
    finally:
        _listening.reset(token)


def heard() -> Traffic | None:
    """Return the traffic being collected here, if any."""
    return _listening.get()


def begin() -> None:
    """Reserve money for an attempt of another HTTP client, which `tell` must report. Raises Halted."""
    if (paying := payment()) is not None:
        paying.begin()
        paying.sending()


def tell(attempt: Attempt) -> None:
    """Report an attempt to the listener and its payment, if any, and to the log."""
    attempt = cleaned(attempt)
    attempt = attempt._replace(retry_after=attempt.retry_after[:_SHOWN])  # only now: half a key would stay
    said = "no answer" if attempt.status is None else f"HTTP {attempt.status}"
    what = "answered from the cache" if attempt.cached else f"{said} {attempt.error}".strip()
    _log.debug("request: %s after %.3f s", what, attempt.seconds)
    if (traffic := heard()) is not None:
        traffic.attempts.append(attempt)
    if (paying := payment()) is not None and not attempt.cached:
        status = attempt.status
        refused = attempt.unsent or (status is not None and status >= 400)
        paying.end(refused=refused, answered=status is not None, heard=(status or 0) >= 500)
