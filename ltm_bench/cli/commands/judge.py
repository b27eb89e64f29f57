"""Calibrate judges."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

from ltm_bench.cli.console import err, out, print_table, safe, table_of
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.judging import percent, print_calibration, print_unread, to_check
from ltm_bench.core.errors import ThresholdMissed
from ltm_bench.judge.banks import VAGUE, AnswerBank, open_bank
from ltm_bench.judge.calibration import calibrate, repeated
from ltm_bench.judge.interview import Interview
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import LEAST, MOST_FLIPS, THRESHOLD, Calibration, OpinionStore
from ltm_bench.judge.rubric import prompt
from ltm_bench.judge.trials import Trial, trials
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import MaxCost
from ltm_bench.score.statistics.intervals import wilson

app = group("Calibrate judges.")


@command(
    app, "judge check --judge gpt-6-luna", "judge check --judge gpt-6-luna --bank locomo-audit:~/locomo-audit"
)
def check(
    judge: Annotated[list[str], Option("An agent, as for --agent.", "NAME")],
    cases: Annotated[int, Option("Maximum number of cases.", "N", least=10)] = 300,
    repeats: Annotated[
        int,
        Option("How often to repeat some of the cases, to check that the judge is consistent.", "N", least=1),
    ] = 3,
    bank: Annotated[
        str | None,
        Option("Published answers with votes, instead of our own cases: locomo-audit:FOLDER.", "KIND:FOLDER"),
    ] = None,
    max_cost: MaxCost = None,
) -> None:
    """Measure a judge on replies known to be right or wrong. Exits with 2 if it falls short."""
    opened = None if bank is None else open_bank(bank)
    short: list[str] = []
    for each, answers, interview in to_check(judge, "judge", max_cost):
        if opened is None:
            short += _calibrate(each, trials(cases), repeats, answers, interview)
        else:
            short += _try(each, opened, cases, interview)
    if short:
        raise ThresholdMissed("; ".join(short))


def _calibrate(
    judge: Judge, composed: Sequence[Trial], repeats: int, answers: OpinionStore, interview: Interview
) -> list[str]:
    """Calibrate a judge, print the result, and return its shortfalls."""
    calibration = _asked(judge, composed, f"{len(composed)} cases", interview, repeats)
    # A judge that could not be reached leaves what was known of it.
    if calibration.measured is not None or answers.calibration(calibration.key) is None:
        answers.keep_calibration(calibration)
    print_calibration(calibration)
    if calibration.repeated:
        rate = f"(flip rate {calibration.flipped / calibration.repeated:.3f})"
        flips = f"{calibration.flipped} got different answers {rate}"
        out().print(f"{calibration.repeated} cases asked {repeats} times: {flips}")
    if calibration.believed:
        out().print(
            f"{judge.name} passed: sensitivity and specificity are at least {THRESHOLD}, every kind is at least {LEAST}"
            + (f", and the flip rate is at most {MOST_FLIPS}." if calibration.repeated else ".")
        )
        return []
    if calibration.unreached:
        return [f"judge {calibration.unreached}"]
    out().print(f"{judge.name} failed calibration. Runs that it judges say so on their page.")
    return [f"judge {judge.name} falls short: {', '.join(calibration.shortfalls)}"]


def _asked(
    judge: Judge, trials: Sequence[Trial], what: str, interview: Interview, repeats: int = 1
) -> Calibration:
    asked = [(prompt(trial.case), 1) for trial in trials]
    asked += [(prompt(trial.case), time) for trial in repeated(trials) for time in range(2, repeats + 1)]
    err().print(f"{what} before {judge.name}: {interview.quote(judge, asked)}")
    return asyncio.run(calibrate(judge, trials, interview, times=repeats))


def _try(judge: Judge, bank: AnswerBank, most: int, interview: Interview) -> list[str]:
    """Measure a judge on published answers, print the result, and return its shortfalls."""
    drawn = bank.sample(most)
    found = _asked(judge, drawn, f"{len(drawn)} of {len(bank.cases)} answers of {bank.name}", interview)
    table = table_of("the reply is", "n", "says correct", "95 %", "unparseable", "stored votes")
    stored = []
    short = []
    for kind, of in found.kinds.items():
        passed, everyone = (
            [each.passed for each in some if each.kind == kind] for some in (drawn, bank.cases)
        )
        interval = wilson(of.accepted / of.n, of.n)
        stored.append(f"{percent(sum(everyone) / len(everyone))} of all {len(everyone)} that are {kind}")
        table.add_row(
            kind,
            str(of.n),
            percent(of.accepted / of.n),
            f"{100 * interval.low:.1f} – {percent(interval.high)}",
            str(of.unreadable),
            percent(sum(passed) / of.n),
        )
        if kind == VAGUE and of.rate < THRESHOLD:
            short.append(f"specificity {of.rate:.3f} on answers that are {kind}, {THRESHOLD} is needed")
    print_table(table)
    out().print(
        "None of these replies is right. The last column shows how many of them a published judge's stored votes "
        f"call right; overall, they call right {' and '.join(stored)}."
    )
    print_unread(found)
    if found.unreached:
        return [f"judge {found.unreached}"]
    if not short:
        out().print(safe(f"{judge.name} passed on {bank.name}."))
        return []
    return [f"judge {judge.name} falls short on {bank.name}: {', '.join(short)}"]
