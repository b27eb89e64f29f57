"""Download filler other than the built-in one."""

from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.options import examples_of, group

_filler = group("Download filler other than the built-in one.")


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    app.add_typer(_filler, name="filler")


@_filler.callback()
def _group() -> None:
    """Download filler other than the built-in one."""


@_filler.command(
    "fetch", epilog=examples_of("filler fetch", "run --filler triviaqa:triviaqa/unfiltered-web-dev.json")
)
def fetch(
    into: Annotated[
        Path, typer.Option(metavar="FOLDER", envvar="LTM_BENCH_INTO", help="Where to put the file.")
    ] = Path("triviaqa"),
    url: Annotated[
        str | None, typer.Option(metavar="URL", envvar="LTM_BENCH_URL", help="A mirror of the archive.")
    ] = None,
    sha256: Annotated[
        str | None,
        typer.Option(metavar="HEX", envvar="LTM_BENCH_SHA256", help="The checksum of another archive."),
    ] = None,
) -> None:
    """Download TriviaQA (Apache-2.0, 0.6 GB) and unpack its questions for --filler triviaqa:FILE."""
    from ltm_bench.cli.console import out
    from ltm_bench.cli.downloading import downloads
    from ltm_bench.filler.fetching import SHA256, URL, fetch_trivia

    with downloads() as on_progress:
        found = fetch_trivia(into, url=url or URL, sha256=sha256 or SHA256, on_progress=on_progress)
    if not found.new:
        out().print(f"{found.path} is there already")
    out().print(f"use it with: ltm-bench run --filler triviaqa:{found.path}")
