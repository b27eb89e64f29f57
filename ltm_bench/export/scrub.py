"""Removes secrets from text that is passed on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

REMOVED = "[removed]"
"""Stands in place of a secret."""

_KEYS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{16,}|(?<=://)[^/\s:@\"]+:[^/\s@\"]+(?=@)"
)
"""What looks like a key of a known provider, a token, or a password in a URL."""


class Scrubbed(NamedTuple):
    """A text without secrets."""

    text: str
    removed: int
    """How many there were."""


def scrub(text: str, secrets: Iterable[str]) -> Scrubbed:
    """Remove secrets from a text.

    Args:
        text: The content of a file.
        secrets: Known secrets; they are found in their JSON form too. Whatever looks like a key is removed anyway.
    """
    removed = 0
    for secret in sorted({form for s in secrets for form in (s, json.dumps(s)[1:-1])}, key=len, reverse=True):
        removed += text.count(secret)
        text = text.replace(secret, REMOVED)
    text, more = _KEYS.subn(REMOVED, text)
    return Scrubbed(text, removed + more)
