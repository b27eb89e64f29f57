"""The command line: the only room that prints, reads arguments, or exits."""

import os
import signal
import sys
from types import FrameType

import typer

from ltm_bench.cli import checking, doctor, fetching, listing, running, showing
from ltm_bench.cli.console import complain
from ltm_bench.errors import LtmBenchError

app = typer.Typer(
    name="ltm-bench",
    help="Measure what a conversational agent still remembers after one long, live, seeded conversation.",
    epilog=(
        "Exit codes: 0 done, 1 usage or configuration, 2 score below --fail-under, 3 run incomplete (resume it), "
        "4 budget reached (resume it)."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("run")(running.run)
app.command("resume")(running.resume)
app.command("rescore")(showing.rescore)
app.command("report")(showing.report)
app.command("show")(showing.show)
app.add_typer(listing.app, name="list")
app.command("check")(checking.check)
app.command("doctor")(doctor.doctor)
app.add_typer(fetching.app, name="filler")


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line; errors of ours print one line and exit with a code of their own."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = app(standalone_mode=False)
    except LtmBenchError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        complain("interrupted; nothing is lost: `ltm-bench resume` goes on with the newest run")
        sys.exit(3)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror or error}")
        sys.exit(1)
    except Exception as error:
        if hasattr(error, "exit_code") and hasattr(error, "format_message"):  # a usage error of the parser
            complain(f"{error.format_message()} (see ltm-bench --help)")
            sys.exit(1)
        raise
    sys.exit(code if isinstance(code, int) else 0)
