"""Locks of folders, which die with their process."""

import os
from pathlib import Path


def locked_folder(folder: Path) -> int | None:
    """Lock a folder itself for this process, and return its descriptor.

    Return None if the platform or file system cannot lock folders. Raises BlockingIOError if it is locked.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ImportError:  # Windows, where a file in use cannot be deleted
        return None
    opened = os.open(folder, os.O_RDONLY)
    try:
        flock(opened, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        raise
    except OSError:
        os.close(opened)
        return None
    return opened
