"""Removes secrets from shared text."""

from typing import NamedTuple

from ltm_bench.core.keys import REMOVED, keys_in, scrubbed

__all__ = ["REMOVED", "Scrubbed", "scrub"]


class Scrubbed(NamedTuple):
    """A text without secrets."""

    text: str
    removed: int
    """Number of secrets removed."""


def scrub(text: str) -> Scrubbed:
    """Remove secrets from the content of a file, and parts of them: see `ltm_bench.core.keys`.

    Text that only looks random stays: a run's files are full of ids and hashes.
    """
    removed, at = 0, -1
    for key in sorted(keys_in(text, random=False)):
        removed += key.start > at
        at = max(at, key.end)
    return Scrubbed(scrubbed(text, random=False) if removed else text, removed)
