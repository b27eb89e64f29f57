"""Download the public files of InfiniteBench."""

from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.plan.declaring import Option

app = group("Download the public files of InfiniteBench.")


@command(app, "datasets infinitebench fetch longbook_qa_eng", "run --suite infinitebench-files", name="fetch")
def fetch(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(metavar="TASK...", help="The tasks; by default, all twelve (2.5 GB)."),
    ] = None,
    into: Annotated[Path, Option("Where to put the files.", "FOLDER")] = Path("data/infinitebench"),
    url: Annotated[str | None, Option("A mirror of the files.", "URL")] = None,
) -> None:
    """Download public files of InfiniteBench (MIT), and record their checksums."""
    from ltm_bench.cli.console import downloads
    from ltm_bench.datasets.infinitebench.files import URL, fetch_tasks

    with downloads() as on_progress:
        for found in fetch_tasks(tasks or (), into, url=url or URL, on_progress=on_progress):
            if not found.new:
                out().print(f"{found.path} is there already")
    out().print("use them with: ltm-bench run --suite infinitebench-files")
