"""Measure how often the scorer errs, by a judge or a person who does not see its verdicts."""

import asyncio
import getpass
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from ltm_bench import api
from ltm_bench.api.auditing import audit as audit_run
from ltm_bench.cli.console import ask_key, err, out, print_table, print_titled, safe, table_of
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import RunName
from ltm_bench.cli.summary import print_raters
from ltm_bench.core.errors import ConfigError, RunIncomplete
from ltm_bench.core.messages import Outcome
from ltm_bench.judge.audit import Drawn, commissioned, drawn_from, unread
from ltm_bench.judge.rubric import shortened
from ltm_bench.log.reader import read_manifest
from ltm_bench.log.recorder import locked
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import find_run
from ltm_bench.plan.request import MaxCost
from ltm_bench.score.audits.records import Audit, Commission, Rate, write_down

SHOWN = 20
"""Number of contradicted verdicts printed; the page shows all."""

KEYS = {"r": Outcome.CORRECT, "o": Outcome.STALE, "w": Outcome.WRONG, "n": Outcome.ABSTAINED}
HELP = (
    "r right, all of it; o outdated; w wrong, vague or only a part; n no answer; s skip, q quit. "
    "Words after the letter are your reason."
)

_CHARACTERS = 2000
"""Maximum characters of a text shown."""


app = group()


@command(
    app,
    "audit standard-32k-gpt-6-luna-seed0 --judge gpt-6-luna --max-cost 2",
    "audit standard-32k-gpt-6-luna-seed0 --person --sample 100",
)
def audit(
    run: RunName = None,
    judge: Annotated[
        str | None,
        Option(
            "A calibrated judge (see judge check): an agent, as for --agent.", "NAME", variable="AUDIT_JUDGE"
        ),
    ] = None,
    person: Annotated[
        bool, Option("Read the replies yourself, instead of a judge.", variable="AUDIT_PERSON")
    ] = False,
    reviewer: Annotated[
        str | None, Option("Name to record for the reader; your user name by default.", "NAME")
    ] = None,
    sample: Annotated[
        int,
        Option(
            "Number of verdicts to draw, across all scenarios and outcomes.",
            "N",
            least=1,
            variable="AUDIT_SAMPLE",
        ),
    ] = 300,
    seed: Annotated[int, Option("The same seed draws the same verdicts.", "N", variable="AUDIT_SEED")] = 0,
    max_cost: MaxCost = None,
) -> None:
    """Measure how often the scorer errs: a judge, or you, read a sample of replies without seeing its verdicts."""
    if (judge is None) is not person:
        raise ConfigError("audit: name a judge (--judge NAME), or read the replies yourself (--person)")
    folder = find_run(run)
    if judge is not None:
        options = api.Options(max_cost=max_cost, notify=lambda line: err().print(safe(line)))
        try:
            scored = asyncio.run(audit_run(folder, judge, options, sample=sample, seed=seed))
        except KeyboardInterrupt:
            raise RunIncomplete(
                "interrupted; nothing is lost: the same command continues from here"
            ) from None
        who = judge
    else:
        who = reviewer or getpass.getuser()
        _read(folder, Commission(auditor=who, key="", sample=sample, seed=seed, measured=None))
        scored = asyncio.run(api.rescore(folder, api.Options()))
    _print([each for each in scored.results.audits if each.auditor == who][-1])
    print_raters(scored.results)
    out().print(f"page: {folder / 'report.html'}")


def _read(folder: Path, by: Commission) -> None:
    """Show the person at the terminal the replies that they have not read yet."""
    with locked(folder):
        drawn = drawn_from(folder, read_manifest(folder), by)
        left = unread(folder, by, drawn)
        out().print(
            f"{len(left)} of {len(drawn)} replies to read, as {by.auditor}; their verdicts are not shown. {HELP}"
        )
        commissioned(folder, by)
        with suppress(EOFError):
            for number, each in enumerate(left, start=1):
                _show(number, len(left), each)
                key, reason = ask_key("r/o/w/n/s/q > ", KEYS.keys() | {"s"}, HELP, words=True)
                if key in KEYS:  # written at once, so that none is asked for again
                    write_down(folder, [each.reading(by, KEYS[key], reason)])


def _show(number: int, count: int, drawn: Drawn) -> None:
    case = drawn.case
    out().rule(f"{number} of {count}", align="left")
    for turn in case.told:
        out().print(f"{turn.at}\n  said      {_short(turn.user)}")
        if turn.agent:
            out().print(f"  answered  {_short(turn.agent)}")
    out().print(case.at)
    shown = {"question": case.question, "right": case.expected, "reply": case.reply}
    print_titled(*((title, _short(text)) for title, text in shown.items()))


def _short(text: str) -> str:
    return shortened(safe(text), _CHARACTERS)


def _print(found: Audit) -> None:
    heads = ("scenario", "verdicts", "read", "contradicted", "agreement", "scorer error", "95 %")
    table = table_of(*heads, footers=_row("all", found.total))
    for name, rate in found.scenarios.items():
        table.add_row(*_row(name, rate))
    table.add_section()
    for name, rate in found.deciders.items():
        table.add_row(*_row(f"by {name}", rate))
    print_table(table)
    for each in found.contradictions[:SHOWN]:
        out().rule(f"{each.example} · turn {each.turn}", align="left")
        print_titled(
            ("question", each.question),
            ("expected", each.expected),
            ("reply", each.reply),
            ("scorer", f"{each.outcome.value}: {each.reason}"),
            ("auditor", f"{each.auditor_outcome.value}: {each.auditor_reason or 'no reason given'}"),
        )
    if len(found.contradictions) > SHOWN:
        out().print(f"… and {len(found.contradictions) - SHOWN} more, on the page")
    out().print(f"auditor: {safe(found.by)}")
    if found.kappa is not None:
        out().print(f"Cohen's kappa: {found.kappa:.3f}")
    out().print(safe(found.headline))
    if found.caution:
        out().print(found.caution)


def _row(name: str, rate: Rate) -> list[str]:
    interval = rate.interval
    return [
        name,
        str(rate.verdicts),
        str(rate.read),
        str(rate.contradicted),
        "–" if rate.agreement is None else f"{100 * rate.agreement:.1f} %",
        "–" if rate.error is None else f"{100 * rate.error:.1f} %",
        "–" if interval is None else f"{100 * interval.low:.1f} – {100 * interval.high:.1f} %",
    ]
