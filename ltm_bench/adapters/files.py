"""Files in an agent's own folder."""

from __future__ import annotations

from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a crash leaves the old content or the new one, never a part."""
    draft = path.with_suffix(".part")
    draft.write_text(text, "utf-8")
    draft.replace(path)
