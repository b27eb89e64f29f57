"""Files in an agent's own folder."""

import hashlib
import re
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: a crash leaves the old content or the new one."""
    draft = path.with_suffix(".part")
    draft.write_text(text, "utf-8")
    draft.replace(path)


def user_folder(home: Path, user: str | None, stem: str = "user") -> Path:
    """Return a user's folder below `home`; None means all users and gets `home` itself.

    No name escapes `home`, and no two users share a folder, even on case-insensitive file systems.
    """
    if user is None:
        return home
    letters = (c if c.isascii() and (c.islower() or c.isdigit()) else f"_{ord(c):x}_" for c in user)
    return home / f"{stem}-{''.join(letters)}"


def users_in(home: Path, stem: str = "user") -> list[str]:
    """Return the users who have a folder below `home`, by name."""
    names = (path.name.removeprefix(f"{stem}-") for path in home.glob(f"{stem}-*") if path.is_dir())
    return sorted(re.sub(r"_([0-9a-f]+)_", lambda code: chr(int(code[1], 16)), name) for name in names)


def user_name(user: str | None) -> str:
    """Return a name for a user's things in a store that allows only letters and digits."""
    return "everybody" if user is None else f"user_{hashlib.sha256(user.encode()).hexdigest()[:24]}"
