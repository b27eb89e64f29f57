"""Anchors: where a link into a page points."""

import re


def slug(name: str) -> str:
    """Return a name in a form that an anchor can contain. Different names give different anchors."""
    return re.sub(r"[^\w/-]", lambda match: f".{ord(match[0]):x}.", name, flags=re.ASCII).replace("/", "-")


def anchor(turn: int, example: str, *, isolated: bool) -> str:
    """Return the anchor of a turn in the transcript; in an isolated run every example counts its own turns."""
    return f"{slug(example)}-turn-{turn}" if isolated else f"turn-{turn}"
