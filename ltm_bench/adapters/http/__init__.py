"""HTTP for adapters: a shared client, its attempts, a cache of answers, retries.

- `client` returns an HTTP client for an SDK; `attempt` sends one request, budgeted and bounded;
  `read` reads a streamed response up to a limit; `bounded` returns a client of httpx or httpx2 that does only this;
  `proxies_from_environment` explains what a client says of them.
- `Attempt`, `Traffic`, `listening`, `begin`, `tell`: what went over the wire for one reply.
- `AnswerCache`, `caching`: a cache of answers.
- `retrying`, `Again`, `passing`: retry what may succeed next time.
"""

from importlib import import_module


def __getattr__(name: str) -> object:
    """Find a name in its module once it is asked for (PEP 562): most runs need to count traffic, and nothing else."""
    name = "AnswerCache" if name == "Answers" else name  # its name until 0.2.0
    for place in () if name.startswith("_") else ("traffic", "answers", "retries", "shared"):
        if name in (found := vars(import_module(f"{__name__}.{place}"))):
            return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
