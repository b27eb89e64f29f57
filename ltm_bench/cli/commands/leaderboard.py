"""Build a leaderboard of verified runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.options import examples_of, group

_leaderboard = group("Build a leaderboard of verified runs.")


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    app.add_typer(_leaderboard, name="leaderboard")


@_leaderboard.callback()
def _group() -> None:
    """Build a leaderboard of verified runs."""


@_leaderboard.command("build", epilog=examples_of("leaderboard build bundles -o site"))
def build(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where the bundles are (see bundle): all its .zip files.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER",
            envvar="LTM_BENCH_LEADERBOARD_OUTPUT",
            help="Where the pages go: a new folder, or an earlier leaderboard's, which is replaced.",
        ),
    ] = Path("site"),
) -> None:
    """Verify and score every bundle in a folder, and write the pages. Calls no agent, downloads nothing."""
    from ltm_bench.cli.console import err, out, safe
    from ltm_bench.export.leaderboard.pages import Built, write_site
    from ltm_bench.report.words import plural

    built = Built(folder)
    for refusal in built.refusals:
        err().print(safe(f"refused: {refusal.file}: {refusal.reason}"))
    write_site(built, output)
    for board in built.boards:
        out().print(safe(f"{board.title}: {plural(len(board.entries), 'run')}"))
        for table in board.spans:
            out().print(safe(f"  {table.finding}"))
    out().print(
        f"{plural(len(built.entries), 'run')} verified, {len(built.refusals)} refused; page: {output / 'index.html'}"
    )


@_leaderboard.command("draw", epilog=examples_of("leaderboard draw bundles/mine.zip"))
def draw(
    bundle: Annotated[
        Path, typer.Argument(metavar="BUNDLE", help="Any run of the submitted agent, as a bundle.")
    ],
) -> None:
    """DrawnSeed a seed for a bundle's agent, and record it beside the bundle for `build`."""
    import secrets
    import tempfile
    from datetime import UTC, datetime

    from ltm_bench.cli.console import out, safe
    from ltm_bench.core.errors import ConfigError
    from ltm_bench.export.bundle import unpack
    from ltm_bench.export.leaderboard.seeds import DRAWN, HIGHEST, DrawnSeed, draws, identity
    from ltm_bench.export.verify import verify
    from ltm_bench.log.reader import read_manifest

    if not bundle.is_file():
        raise ConfigError(
            f"{bundle}: there is no such file; make one with `ltm-bench bundle RUN -o FILE.zip`"
        )
    draws(bundle.parent)  # existing draws must be readable
    with tempfile.TemporaryDirectory() as place:
        run = unpack(bundle, Path(place))
        verify(run)
        agent = read_manifest(run).agent
    today = datetime.now(UTC).date()  # noqa: TID251  # a draw is dated by the wall clock
    found = DrawnSeed(
        agent=agent.name, handed_in=identity(agent), seed=secrets.randbelow(HIGHEST), on=today.isoformat()
    )
    with (bundle.parent / DRAWN).open("a", encoding="utf-8", newline="\n") as file:
        file.write(found.toml)
    out().print(safe(f"{agent.name}: seed {found.seed}; the next run: ltm-bench run --seed {found.seed} …"))
