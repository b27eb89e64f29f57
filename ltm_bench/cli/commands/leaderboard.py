"""Build a leaderboard of verified runs."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import Option

app = group("Build a leaderboard of verified runs.")


@command(app, "leaderboard build bundles -o site", name="build")
def build(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="Where the bundles are (see bundle), also a URL (s3://…): all its .zip files.",
        ),
    ],
    output: Annotated[
        Path,
        Option(
            "Where the pages go: a new folder, or an earlier leaderboard's, which is replaced.",
            "FOLDER",
            flags=("-o", "--output"),
            variable="LEADERBOARD_OUTPUT",
        ),
    ] = Path("site"),
) -> None:
    """Verify and score every bundle in a folder, and write the pages. Calls no agent; downloads bundles at most."""
    from ltm_bench.export.leaderboard.entries import is_of_board
    from ltm_bench.export.leaderboard.pages import Built, write_site
    from ltm_bench.log.remote import copied, is_url
    from ltm_bench.report.words import plural

    place = copied(folder, is_of_board) if is_url(folder) else nullcontext(Path(folder))
    with place as bundles:
        built = Built(bundles)
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


@command(app, "leaderboard draw bundles/mine.zip", name="draw")
def draw(
    bundle: Annotated[
        Path, typer.Argument(metavar="BUNDLE", help="Any run of the submitted agent, as a bundle.")
    ],
) -> None:
    """Draw a seed for a bundle's agent, and record it beside the bundle for `build`."""
    import secrets
    import tempfile
    from datetime import UTC, datetime

    from ltm_bench.export.bundle import unpack
    from ltm_bench.export.leaderboard.entries import DRAWN, HIGHEST, DrawnSeed, draws, identity
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
