"""Download filler other than the built-in one."""

from pathlib import Path
from typing import Annotated

from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.plan.declaring import Option

app = group("Download filler other than the built-in one.")


@command(app, "datasets filler fetch", "run --filler triviaqa:triviaqa/unfiltered-web-dev.json", name="fetch")
def fetch(
    into: Annotated[Path, Option("Where to put the file.", "FOLDER")] = Path("triviaqa"),
    url: Annotated[str | None, Option("A mirror of the archive.", "URL")] = None,
    sha256: Annotated[str | None, Option("The checksum of another archive.", "HEX")] = None,
) -> None:
    """Download TriviaQA (Apache-2.0, 0.6 GB) and unpack its questions for --filler triviaqa:FILE."""
    from ltm_bench.cli.console import downloads
    from ltm_bench.filler.fetching import SHA256, URL, fetch_trivia

    with downloads() as on_progress:
        found = fetch_trivia(into, url=url or URL, sha256=sha256 or SHA256, on_progress=on_progress)
    if not found.new:
        out().print(f"{found.path} is there already")
    out().print(f"use it with: ltm-bench run --filler triviaqa:{found.path}")
