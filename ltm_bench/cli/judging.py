"""Has a judge answer a published scorer's prompts about a prediction file, and prints how judges and readers did."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rich.progress import MofNCompleteColumn, Progress

from ltm_bench.cli.console import err, out, safe, table_of
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.judging import Ask
from ltm_bench.datasets.marks import Sheet
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.datasets.public import public_set
from ltm_bench.judge.grading import Grader
from ltm_bench.judge.judges import find_judges
from ltm_bench.judge.opinions import Calibration
from ltm_bench.judge.vague import FalseAccepts, false_accepts
from ltm_bench.score.statistics.intervals import wilson

T = TypeVar("T")


def asked(
    judge: str | None,
    path: Path,
    data: Path | None,
    budget: Budget,
    grade: Callable[[Ask], Coroutine[Any, Any, T]],
    on_bad: Callable[[str], None],
) -> T | None:
    """Return a judge's verdicts; None without a judge.

    Args:
        judge: Its name.
        path: The prediction file; the judge's answers are kept beside it, and not asked for again.
        data: The set itself, which a judge needs.
        budget: What may be spent, on this file and on others.
        grade: Asks the questions, and combines the answers.
        on_bad: Called with each question that the judge fails to answer.

    Raises:
        ConfigError: There is no data, or no such judge.
        BudgetReached: The next question could exceed the budget.
    """
    if judge is None:
        return None
    if data is None:
        raise ConfigError(f"--judge {judge}: a judge needs the gold answers; name the set with --data")
    on_bad(f"{judge} is asked about {path.name}; its answers are kept in {_store(judge, path)}")
    return graded(judge, path, budget, grade, on_bad)


def asked_vaguely(
    judge: str,
    path: Path,
    name: str,
    questions: Mapping[str, HistoryQuestion],
    sheets: Sequence[Sheet],
    budget: Budget,
    on_bad: Callable[[str], None],
) -> FalseAccepts | None:
    """Return a judge's verdicts on vague wrong answers to some questions of prediction files.

    Args:
        judge: Its name.
        path: A prediction file; the judge's answers are kept beside it, and not asked for again.
        name: A public set with these questions.
        questions: The questions of the data.
        sheets: The files' marks.
        budget: What may be spent.
        on_bad: Called with each question that the judge fails to answer.

    Raises BudgetReached when the next question could exceed the budget.
    """
    expect = public_set(name).expect
    answered = {mark.id for sheet in sheets for mark in sheet.marks}
    matchers = [(expect(each, "official"), each.text) for each in questions.values() if each.id in answered]
    asked = [(matcher, text) for matcher, text in matchers if isinstance(matcher, SetMatcher)]
    return graded(judge, path, budget, partial(false_accepts, asked), on_bad)


def _store(judge: str, path: Path) -> Path:
    return path.with_name(f"{path.name}.{re.sub(r'[^A-Za-z0-9._-]+', '-', judge)}.jsonl")


def graded(
    judge: str,
    path: Path,
    budget: Budget,
    grade: Callable[[Ask], Coroutine[Any, Any, T]],
    on_bad: Callable[[str], None],
    *,
    texts: Sequence[str] = (),
) -> T:
    """Return what a judge's answers amount to; they are kept beside the file, and not asked for again.

    Args:
        judge: Its name.
        path: The file.
        budget: What may be spent.
        grade: Asks the questions, and combines the answers.
        on_bad: Called with a line for what it failed to answer.
        texts: All questions, if they are known beforehand; their price is quoted, and said at the end.
    """
    (found,) = find_judges([judge])
    with Progress(
        *Progress.get_default_columns(),
        MofNCompleteColumn(),
        console=err(),
        disable=not err().is_terminal,
        transient=True,
    ) as progress:
        task = progress.add_task(f"{judge} on {path.name}", total=None)
        grader = Grader(found, _store(judge, path), budget, lambda _: progress.advance(task))
        if texts:
            price = grader.quote(texts)
            progress.update(task, total=price.calls)
            on_bad(f"{judge} is asked about {path.name}: {price}; answers are kept in {_store(judge, path)}")

        async def ask_all() -> T:
            return await grade(grader.ask)

        try:
            return asyncio.run(ask_all())
        finally:
            if failed := [each.text for each in grader.heard if each.failed]:
                answers = "1 answer is" if len(failed) == 1 else f"{len(failed)} answers are"
                on_bad(f"{judge} failed: {failed[0]}; {answers} missing; the same command asks again"[:400])
            prices = [each.dollars for each in grader.heard if not each.failed]
            if prices and texts:
                cost = "unknown" if None in prices else f"${sum(filter(None, prices)):.4f}"
                on_bad(f"{judge} gave {len(prices)} answers; cost {cost}")


def print_calibration(calibration: Calibration) -> None:
    """Print what a judge or a reader made of replies of each kind, with intervals, and of all."""
    table = table_of("the reply is", "should be", "n", "becomes right", "95 %", "does not", "unparseable")
    for kind, found in calibration.kinds.items():
        interval = wilson(found.accepted / max(found.n, 1), found.n)
        otherwise = found.n - found.accepted - found.unreadable
        row = (str(found.n), str(found.accepted), f"{100 * interval.low:.1f} – {percent(interval.high)}")
        table.add_row(
            kind, "right" if found.right else "otherwise", *row, str(otherwise), str(found.unreadable)
        )
    out().print(table)
    cost = "unknown" if calibration.dollars is None else f"${calibration.dollars:.4f}"
    out().print(
        safe(
            f"{calibration.judge}: sensitivity {calibration.sensitivity:.3f}, specificity "
            f"{calibration.specificity:.3f}, {calibration.unreadable} unparseable, cost {cost}"
        )
    )


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.1f} %"
