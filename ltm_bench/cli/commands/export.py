"""Export the results of runs in a format that other programs read."""

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from ltm_bench.api import Run, load_run
from ltm_bench.api.loading import at_hand, load_each
from ltm_bench.cli.comparison import places_of
from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.ending import send_spans
from ltm_bench.cli.options import check_output, kinds, output_option
from ltm_bench.core.errors import ConfigError
from ltm_bench.export.formats import Format, format_named, known
from ltm_bench.export.source import source_of
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.request import Otel
from ltm_bench.report.publishing import replacing

app = group()


@command(
    app,
    "export --format csv",
    "export s3://bucket/runs --format parquet -o all.parquet",
    "export standard-32k-gpt-6-luna-seed0 --format junit -o junit.xml",
    "export --otel http://localhost:4318  # spans for an OpenTelemetry collector",
    "export --format inspect -o logs/2026-11-22T10-00-00_colours_1.json  # `inspect view` lists such names",
)
def export(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Names, folders or URLs of runs, or of folders of runs, for one table; the newest run if left out.",
        ),
    ] = None,
    form: Annotated[str, Option(kinds(known()), "NAME", flags=("--format",))] = "csv",
    output: Annotated[
        Path | None,
        output_option(
            "export",
            "Where to write it, - for standard output; by default, the run's folder exports/, or the "
            "folder above several runs.",
        ),
    ] = None,
    otel: Otel = None,
) -> None:
    """Export the results of runs in a format that other programs read."""
    chosen = format_named(form)
    if output is not None and output != Path("-"):
        check_output(output)
        if output.suffix == ".eval":  # Inspect's reader goes by the name
            raise ConfigError(
                f"-o {output}: an .eval file is a zip archive, and `--format inspect` writes JSON; name it "
                f"{output.stem}.json, which Inspect reads too, and can turn into the other: `inspect log convert "
                f"{output.stem}.json --to eval --output-dir DIR`"
            )
    loaded = load_each(places_of(runs), REPORTS) if runs else iter([load_run()])
    if otel is not None:
        for each in loaded:
            with at_hand(each) as folder:
                send_spans(replace(each, folder=folder), otel)
        return
    first = next(loaded)
    second = next(loaded, None)
    target = output or _default(first, chosen, several=second is not None)
    if second is not None and chosen.write_all is None:
        raise ConfigError(f"--format {form}: its files hold one run each; name one, or choose a table")
    everything = chain([first], [] if second is None else [second], loaded)
    with _opened(target) as file:
        if chosen.write_all is not None:
            chosen.write_all((source_of(of.folder, of.results, of.manifest) for of in everything), file)
        else:
            with at_hand(first) as folder:
                file.write(chosen.write(source_of(folder, first.results, first.manifest)))
    if target != Path("-"):
        out().print(f"{form}: {target}")


def _default(run: Run, form: Format, *, several: bool) -> Path:
    """Return where to write unless a file is named: beside one run, above several."""
    if run.url is not None:
        raise ConfigError(f"{run.url}: name the file to write with -o")
    return run.folder.parent / form.file if several else run.folder / "exports" / form.file


def _opened(target: Path) -> AbstractContextManager[BinaryIO]:
    if target == Path("-"):
        return nullcontext(sys.stdout.buffer)
    target.parent.mkdir(parents=True, exist_ok=True)
    return replacing(target)
