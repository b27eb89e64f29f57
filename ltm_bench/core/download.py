"""Downloads one file over HTTP, and returns its checksum."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import ConfigError

OnProgress = Callable[[str, int, int | None], None]
"""Called for every block with the name, the bytes so far, and the total if the server gives one."""

_BLOCK = 1 << 20
"""Bytes read at a time."""


class Fetched(NamedTuple):
    """A requested file, and whether it had to be downloaded."""

    path: Path
    new: bool


def download(url: str, path: Path, *, name: str, on_progress: OnProgress) -> str:
    """Download a file and return its SHA-256 in hex. Raises ConfigError if the server cannot be reached or refuses."""
    import httpx2

    digest, done = hashlib.sha256(), 0
    try:
        with (
            httpx2.stream("GET", url, follow_redirects=True, timeout=30.0) as response,
            path.open("wb") as file,
        ):
            response.raise_for_status()
            size = response.headers.get("content-length")
            for block in response.iter_bytes(_BLOCK):
                digest.update(block)
                file.write(block)
                done += len(block)
                on_progress(name, done, int(size) if size else None)
    except httpx2.HTTPError as error:
        raise ConfigError(
            f"{url} could not be downloaded ({type(error).__name__}: {error}); "
            "check the network, or give a mirror with --url"
        ) from error
    return digest.hexdigest()
