"""Downloads the public files of InfiniteBench (MIT)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ltm_bench.core.download import Fetched, OnProgress, download
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.datasets.infinitebench.scorer import SCORERS

URL = "https://huggingface.co/datasets/xinrongzhang2022/InfiniteBench/resolve/main"

SUMS = "SHA256SUMS"
"""Beside the files: the checksum of each when it was first fetched. Their authors have replaced files silently."""


def fetch_tasks(tasks: Sequence[str], into: Path, *, url: str, on_progress: OnProgress) -> Iterator[Fetched]:
    """Put the public files of tasks into a folder, and yield each.

    There are no published checksums. Those of the first download are kept, and a file that differs later is refused.

    Args:
        tasks: Names of tasks; all twelve if empty.
        into: The folder; it is created.
        url: Where the files are: `URL`, or a mirror.
        on_progress: Is told of every block that arrives.

    Raises:
        ConfigError: For an unknown task, a failed download, and a file that has been replaced.
    """
    for task in tasks:
        if task not in SCORERS:
            raise ConfigError(
                f"{task}: there is no such task{nearest(task, SCORERS)} (known: {', '.join(SCORERS)})"
            )
    into.mkdir(parents=True, exist_ok=True)
    for task in tasks or SCORERS:
        path = into / f"{task}.jsonl"
        new = not path.exists()
        if new:
            _fetch(f"{url.rstrip('/')}/{path.name}", path, on_progress)
        yield Fetched(path, new)


def _fetch(url: str, path: Path, on_progress: OnProgress) -> None:
    sums = path.with_name(SUMS)
    lines = sums.read_text("utf-8").splitlines() if sums.exists() else []
    known = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    part = path.with_name(f"{path.name}.part")
    try:
        found = download(url, part, name=path.stem, on_progress=on_progress)
        if known.setdefault(path.name, found) != found:
            raise ConfigError(
                f"{url}: its SHA-256 is {found}, but {sums} says {known[path.name]}: the file has been replaced; "
                f"remove that line from {sums} to accept the new one"
            )
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)
    sums.write_text("".join(f"{digest}  {each}\n" for each, digest in sorted(known.items())), "utf-8")
