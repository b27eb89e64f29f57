"""Print the transcript of a run or an example."""

from typing import Annotated

from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import RunName
from ltm_bench.cli.verdicts import stored_verdicts
from ltm_bench.core.errors import check_known
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import find_run

app = group()


@command(app, "show --example colours/1", "show standard-32k-gpt-6-luna-seed0 --filler")
def show(
    run: RunName = None,
    example: Annotated[str | None, Option("Only this example, e.g. colours/0.", "ID")] = None,
    filler: Annotated[bool, Option("Show filler in full as well.", variable="SHOW_FILLER")] = False,
) -> None:
    """Print the transcript of a run or of one example, with its verdicts."""
    folder = find_run(run)
    manifest = read_manifest(folder)
    known = [f"{entry.name}/{i}" for entry in manifest.suite.scenarios for i in range(entry.examples)]
    if example is not None:
        check_known(f"the run has no example {example!r}", example, known)
    verdicts = stored_verdicts(folder)
    shown = 0
    for path in conversations(folder, manifest):
        for turn in read_turns(path, forks=True):
            if example is not None and turn.example != example:
                continue
            shown += 1
            who = safe(turn.example or "filler")
            out().rule(
                f"turn {turn.message.turn} · {turn.message.at:%Y-%m-%d %H:%M} · {who} · {turn.kind}"
                + (", forked" if turn.forked else ""),
                align="left",
            )
            text, reply = safe(turn.message.text), safe(turn.reply.text)
            if turn.kind == "fill" and not filler:
                text, reply = _first_line(text), _first_line(reply)
            out().file.write(f"> {text}\n{reply}\n")  # what a console would fold, and take long for
            if verdict := verdicts.get(f"{turn.example} turn {turn.message.turn}"):
                out().print(f"= {verdict}")
    if not shown:
        err().print(f"{folder}: {example or 'the run'} has no turns yet")


def _first_line(text: str) -> str:
    line = text.partition("\n")[0]
    return line if line == text and len(line) < 100 else line[:100] + " …"
