"""HTTP for adapters: a shared client, its attempts, a cache of answers, retries.

- `client` returns an HTTP client for an SDK; `attempt` sends one request, budgeted and bounded;
  `read` reads a streamed response up to a limit; `bounded` returns a client of httpx or httpx2 that does only this;
  `proxies_from_environment` explains what a client says of them.
- `Attempt`, `Traffic`, `listening`, `begin`, `tell`: what went over the wire for one reply.
- `AnswerCache`, `caching`: a cache of answers.
- `retrying`, `Again`, `passing`: retry what may succeed next time.
"""

from ltm_bench.adapters.http.answers import AnswerCache, caching
from ltm_bench.adapters.http.retries import LONGEST_PAUSE, Again, passing, retrying
from ltm_bench.adapters.http.shared import (
    MOST_BYTES,
    attempt,
    bounded,
    client,
    proxies_from_environment,
    read,
)
from ltm_bench.adapters.http.traffic import Attempt, Traffic, begin, listening, tell

Answers = AnswerCache
"""Its name until 0.2.0."""

__all__ = [
    "LONGEST_PAUSE",
    "MOST_BYTES",
    "Again",
    "AnswerCache",
    "Answers",
    "Attempt",
    "Traffic",
    "attempt",
    "begin",
    "bounded",
    "caching",
    "client",
    "listening",
    "passing",
    "proxies_from_environment",
    "read",
    "retrying",
    "tell",
]
