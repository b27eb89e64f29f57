"""Takes secrets out of what servers and libraries say, before any of it becomes an error, a log or a page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ltm_bench.core.errors import bare

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)

_SHORTEST = 8
"""Characters of the shortest value that is taken for a secret because of its variable's name."""


def scrubbed(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without these secrets, without those of the environment, and without passwords in URLs.

    Libraries find keys in the environment by themselves, so every variable whose name tells of a secret counts.
    """
    for secret in filter(None, secrets):
        text = text.replace(secret, "[removed]")
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST:
            text = text.replace(value, "[removed]")
    return bare(text)
