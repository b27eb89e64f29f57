"""Prints a run's scores, and what a reader must know before believing them."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain
from pathlib import Path

from rich import box
from rich.table import Table

from ltm_bench.api import REFERENCES, Run
from ltm_bench.cli.console import out, safe
from ltm_bench.cli.display import money
from ltm_bench.cli.sheets import print_figures
from ltm_bench.log.manifest import IN_LINE
from ltm_bench.plan.folders import REPORTS
from ltm_bench.report.words import cost, plural
from ltm_bench.score.results.controls import Controls
from ltm_bench.score.results.headline import Leaks
from ltm_bench.score.results.ladder import LadderResult
from ltm_bench.score.results.remarks import JudgeNote
from ltm_bench.score.results.run import NOBODY, Results

_NAMED = 3
"""Scenarios that are named, and outcomes; more of the former are counted."""

_WIDE = 0.1
"""Width of an interval, as a share of all points, from which on more examples are advised."""


def print_controls(found: Controls | None, whose: str = "") -> None:
    """Print how much of a score is memory, if its controls were asked."""
    for line in () if found is None else (found.sentence, *found.remarks):
        out().print(safe(f"{whose}: {line}" if whose else line))


def print_run(run: Run) -> None:
    """Print the scores of a run."""
    results = run.results
    out().print(_table(results))
    print_controls(results.controls)
    _print_ladder(results.ladder)
    if results.references:
        baseline, oracle = (results.references.get(name, 0.0) for name in REFERENCES)
        besides = [
            f"{name} {score:.2f}" for name, score in results.references.items() if name not in REFERENCES
        ]
        known = [f"baseline (goldfish) {baseline:.2f}", f"oracle (perfect) {oracle:.2f}", *besides]
        out().print(f"{', '.join(known)}, chance {results.chance:.2f}")
    if results.mode != IN_LINE:
        out().print(f"mode: {results.mode}; compare this score only with scores in the same mode")
    if results.costs.gateway is not None:
        out().print(results.costs.gateway.words)
    if results.overruns and results.overruns <= len(results.examples) / 2:  # a remark covers most of them
        out().print(f"last questions after the end of their span (overrun): {results.overruns}")
    if results.leaks is not None:
        out().print(_leaked(results.leaks))
    for line in _counted_apart(results):
        out().print(safe(line))
    if results.undecided:
        out().print(
            f"undecided: {results.undecided}; text alone cannot tell, so they count 0; "
            f"if all were right, the score would be {results.undecided_worth:.2f} higher ({results.extremes[1]:.2f}): "
            "rescore --reader, rescore --judge, or review"
        )
    if results.decided_by:
        read = ", ".join(f"{who} {count}" for who, count in results.read_by.items())
        out().print(safe("; ".join([f"read {read}", *(each for each in results.readers if each != NOBODY)])))
    for each in results.sets:
        print_figures([each])
    for line in _ingestion(results):
        out().print(line)
    for line in chain.from_iterable(map(_about_judge, results.judges)):
        out().print(safe(line))
    for audit in results.audits:
        out().print(safe(audit.headline))
    print_raters(results)
    _print_in_all(results.in_all, free=run.manifest.agent.free)
    if results.overridden:
        out().print(f"verdicts by hand: {results.overridden}")
    for line in (*(f"note: {remark}" for remark in results.remarks), *_end(run)):
        out().print(safe(line))


def _end(run: Run) -> Iterator[str]:
    """Say in at most six lines how good it was, what it did not know, what it took, and what to do next."""
    results = run.results
    asked = [
        (example.id, each)
        for example in results.examples
        for each in example.questions
        if not each.outcome.infrastructure  # what was not asked, or not judged, was not missed
    ]
    missed = [(name, each) for name, each in asked if each.counted != 1]
    yield _verdict(results)
    if missed:
        outcomes = Counter(each.outcome.value for _, each in missed)
        lowest = min(each.score_so_far or 0.0 for each in results.scenarios)
        where = [each.name for each in results.scenarios if (each.score_so_far or 0.0) == lowest]
        others = f" and {len(where) - _NAMED} others" if len(where) > _NAMED else ""
        said = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.most_common(_NAMED))
        yield (
            f"not right: {len(missed)} of {plural(len(asked), 'question')} ({said}); worst at "
            f"{', '.join(where[:_NAMED])}{others} ({lowest:.2f})"
        )
    spent = Decimal(str(results.costs.dollars or 0))
    paid = money(spent, free=run.manifest.agent.free, known=results.costs.dollars is not None)
    yield f"heard: {results.hearing}; {plural(results.costs.calls, 'call')}, {paid}"
    yield f"page: {run.folder / 'report.html'}"
    if missed and results.complete:
        place = shlex.quote(run.name if run.folder.parent == REPORTS else str(run.folder))
        again = run.manifest.agent.free and results.ladder is None
        yield f"why: ltm-bench {f'control {place} --ladder' if again else f'show {place} --example {missed[0][0]}'}"
    interval = results.interval
    if results.complete and (interval is None or interval.high - interval.low > _WIDE * results.out_of):
        yield "more certain: the same command with more --examples, or with --repeats 3"


def _print_in_all(spent: Mapping[str, float | None], *, free: bool) -> None:
    """Print what a run has cost with all that was asked of it again, if anything was."""
    parts = [f"{name} {cost(each, free=False)}" for name, each in spent.items() if each != 0]
    if spent:
        out().print(f"in all: {cost(spent['all'], free)}" + f" ({', '.join(parts[:-1])})" * bool(parts))


def _leaked(leaks: Leaks) -> str:
    apart = {None: "", True: "; the agent says that it keeps users apart"}.get(
        leaks.keeps_users, "; the agent does not say that it keeps users apart"
    )
    return f"leaked: {leaks.leaked} of {leaks.questions} questions that could leak{apart}"


def print_raters(results: Results) -> None:
    """Print how far raters of the same replies agree, and where they differ."""
    for pair in results.raters:
        out().print(safe(pair.headline))
        if pair.apart:
            places = ", ".join(f"{example} turn {turn}" for example, turn in pair.apart)
            out().print(f"  they differ on {safe(places)}")


def _about_judge(note: JudgeNote) -> Iterator[str]:
    """Say how a judge scores vague wrong answers, and whether it is calibrated."""
    if note.false_accepts is None:
        yield f"judge {note.name}: how many vague wrong answers it passes is unknown"
    else:
        yield f"judge {note.name} passes {note.false_accepts:.2f} of {note.vague} vague wrong answers"
    if note.published:
        yield (
            f"judge {note.name} used the set's own prompts, which judge check does not calibrate: judge it by that rate"
        )
    elif not note.believed:
        checked = "failed calibration" if note.sensitivity is not None else "was never calibrated"
        yield f"judge {note.name} {checked}: ltm-bench judge check --judge {note.name}"


def _counted_apart(results: Results) -> Iterator[str]:
    """Say what is counted apart, and how long a thing takes to become readable."""
    for aspect in results.aspects:
        yield f"{aspect.scenario}: {aspect.name}: {aspect.counted}"
    for curve in results.delays:
        yield f"{curve.scenario}: {curve.sentence}"


def _ingestion(results: Results) -> Iterator[str]:
    """Return the total time of ingesting histories, in words."""
    taken = [
        each.ingestion for each in results.examples if each.ingestion is not None and each.ingestion.sessions
    ]
    if not taken:
        return
    tokens, seconds = sum(each.tokens for each in taken), [each.seconds for each in taken]
    known = [each for each in seconds if each is not None]
    took = "" if len(known) < len(seconds) else f" in {sum(known):,.1f} s"
    histories = f"{len(taken)} histor{'y' if len(taken) == 1 else 'ies'}"
    yield f"taken in: {histories} of {tokens:,} tokens{took}; the page has the time and the cost of each"


def _verdict(results: Results) -> str:
    """Print what the score shows, on its own line."""
    if not results.complete:
        return "incomplete: this is not a result yet"
    interval = results.interval
    between = "" if interval is None else f" ({interval.low:.2f} – {interval.high:.2f})"
    kept = results.controls and results.controls.kept
    first = f"{kept.sentence.removeprefix('it ')}: " if kept and kept.percent else ""
    return f"{first}{results.score_so_far:.2f} of {results.out_of}{between}: {results.verdict}"


def _print_ladder(found: LadderResult | None) -> None:
    """Say where the answers to missed questions were lost."""
    if found is None:
        return
    out().print(found.sentence)
    if (both := found.agreement) is not None:
        out().print(f"ladder and retrieval place {both.same} of {both.n} losses alike")
    for rung, why in found.left_out.items():
        what = "left out of the ladder" if rung == "again" else f"not {rung}"
        names = [f"{name} ({reason})" for name, reason in sorted(why.items())]
        out().print(f"{what}: {', '.join(names)}")


def print_page(path: Path) -> None:
    """Print where a page is."""
    out().print(safe(f"page: {path}"))


def _table(results: Results) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_footer=True)
    head = f"{results.score_so_far:.2f} / {results.out_of}"
    table.add_column("scenario", footer="sum" if results.complete else "sum so far (incomplete)")
    table.add_column("score", justify="right", footer=head)
    interval = results.interval
    table.add_column("95 %", footer=f"{interval.low:.2f} – {interval.high:.2f}" if interval else "")
    table.add_column("n", justify="right", footer=str(len(results.examples)))
    table.add_column("outcomes")
    for each in results.scenarios:
        score = "–" if each.score_so_far is None else f"{each.score_so_far:.2f}"
        span = f"{each.interval.low:.2f} – {each.interval.high:.2f}" if each.interval else ""
        outcomes = ", ".join(f"{n} {outcome.value}" for outcome, n in each.outcomes.items())
        table.add_row(each.name, score, span, str(each.n), outcomes)
    return table
