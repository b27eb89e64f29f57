"""Downloads a published file, and checks that it has not changed."""

from pathlib import Path

from ltm_bench.core.download import Fetched, OnProgress, download
from ltm_bench.core.errors import ConfigError

SUMS = "SHA256SUMS"
"""A file beside the downloads, with the checksum of each when it was first fetched: authors have replaced files
silently.
"""


def fetch_file(url: str, path: Path, on_progress: OnProgress, *, sha256: str = "") -> Fetched:
    """Download a file, unless it already exists.

    If no checksum is published, that of the first download is kept, and a different file is refused later.

    Args:
        url: The URL of the file.
        path: The path to write; its folder is created.
        on_progress: Called with every block.
        sha256: Its published checksum, in hex.

    Raises:
        ConfigError: The download failed, or the file has another checksum; nothing is kept.
    """
    if path.exists():
        return Fetched(path, False)
    path.parent.mkdir(parents=True, exist_ok=True)
    sums = path.with_name(SUMS)
    lines = sums.read_text("utf-8").splitlines() if sums.exists() else []
    known = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    part = path.with_name(f"{path.name}.part")
    try:
        found = download(url, part, name=path.stem, on_progress=on_progress)
        if sha256 and found != sha256:
            raise ConfigError(
                f"{url}: its SHA-256 is {found}, but the published one is {sha256}: it is a different file"
            )
        if known.setdefault(path.name, found) != found:
            raise ConfigError(
                f"{url}: its SHA-256 is {found}, but {sums} says {known[path.name]}: the file has been replaced; "
                f"remove that line from {sums} to accept the new one"
            )
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
    sums.write_text("".join(f"{digest}  {each}\n" for each, digest in sorted(known.items())), "utf-8")
    return Fetched(path, True)
