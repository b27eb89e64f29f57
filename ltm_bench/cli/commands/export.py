"""Export a run's results in a format that other programs read."""

import sys
from pathlib import Path
from typing import Annotated

from ltm_bench.api import load_run
from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.ending import send_spans
from ltm_bench.cli.options import RunName, kinds, output_option
from ltm_bench.cli.outputs import check_output
from ltm_bench.core.errors import ConfigError
from ltm_bench.export.formats import format_named, known
from ltm_bench.export.source import source_of
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import Otel
from ltm_bench.report.publishing import replace_file

app = group()


@command(
    app,
    "export --format csv",
    "export standard-32k-gpt-6-luna-seed0 --format junit -o junit.xml",
    "export --otel http://localhost:4318  # spans for an OpenTelemetry collector",
    "export --format inspect -o logs/2026-11-22T10-00-00_colours_1.json  # `inspect view` lists such names",
)
def export(
    run: RunName = None,
    form: Annotated[str, Option(kinds(known()), "NAME", flags=("--format",))] = "csv",
    output: Annotated[
        Path | None,
        output_option(
            "export", "Where to write it, - for standard output; by default, the run's folder exports/."
        ),
    ] = None,
    otel: Otel = None,
) -> None:
    """Export a run's results in a format that other programs read."""
    chosen = format_named(form)
    if output is not None and output != Path("-"):
        check_output(output)
        if output.suffix == ".eval":  # Inspect's reader goes by the name
            raise ConfigError(
                f"-o {output}: an .eval file is a zip archive, and `--format inspect` writes JSON; name it "
                f"{output.stem}.json, which Inspect reads too, and can turn into the other: `inspect log convert "
                f"{output.stem}.json --to eval --output-dir DIR`"
            )
    loaded = load_run(run)
    if otel is not None:
        send_spans(loaded, otel)
        return
    content = chosen.write(source_of(loaded.folder, loaded.results))
    if output == Path("-"):
        sys.stdout.buffer.write(content)
        return
    target = output or loaded.folder / "exports" / chosen.file
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, content)
    out().print(f"{form}: {target}")
