"""Downloads the public files of InfiniteBench (MIT)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ltm_bench.core.download import Fetched, OnProgress
from ltm_bench.core.errors import check_known
from ltm_bench.datasets.fetching import fetch_file
from ltm_bench.datasets.infinitebench.scorer import SCORERS

URL = "https://huggingface.co/datasets/xinrongzhang2022/InfiniteBench/resolve/main"


def fetch_tasks(tasks: Sequence[str], into: Path, *, url: str, on_progress: OnProgress) -> Iterator[Fetched]:
    """Put the public files of tasks into a folder, and yield each.

    There are no published checksums. Those of the first download are kept, and a different file is refused later.

    Args:
        tasks: Names of tasks; all twelve if empty.
        into: The folder; it is created.
        url: Where the files are: `URL`, or a mirror.
        on_progress: Called with every block.

    Raises:
        ConfigError: A task is unknown, a download failed, or a file has been replaced.
    """
    for task in tasks:
        check_known(f"{task}: there is no such task", task, SCORERS)
    for task in tasks or SCORERS:
        path = into / f"{task}.jsonl"
        yield fetch_file(f"{url.rstrip('/')}/{path.name}", path, on_progress)
