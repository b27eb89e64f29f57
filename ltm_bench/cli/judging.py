"""Has a judge answer a published scorer's prompts about a prediction file, and prints how judges and readers did."""

import asyncio
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from rich.progress import MofNCompleteColumn, Progress

from ltm_bench.cli.console import err, out, safe, table_of
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.marks import Sheet
from ltm_bench.datasets.public import public_set
from ltm_bench.judge import vague
from ltm_bench.judge.interview import Interview, together
from ltm_bench.judge.judges import Judge, find_judges
from ltm_bench.judge.opinions import AnswerFile, Calibration
from ltm_bench.judge.saying import JudgeAnswer
from ltm_bench.judge.vague import FalseAccepts, false_accepts
from ltm_bench.score.statistics.intervals import wilson

K = TypeVar("K")
T = TypeVar("T")

Inquiries = Iterable[tuple[K, Generator[str, str, T | None] | None]]
"""What a judge is asked, each with a key of its own."""


def asked(
    judge: str | None,
    path: Path,
    data: Path | None,
    budget: Budget,
    inquiries: Inquiries[K, T],
    on_bad: Callable[[str], None],
) -> dict[K, T]:
    """Return a judge's verdicts about answers in a file, as `graded`; none without a judge.

    Args:
        judge: Its name.
        path: The prediction file.
        data: The set itself, which a judge needs. Raises ConfigError if there is none.
        budget: What may be spent, on this file and on others.
        inquiries: What is asked.
        on_bad: Called with each line about what was not answered.
    """
    if judge is None:
        return {}
    if data is None:
        raise ConfigError(f"--judge {judge}: a judge needs the gold answers; name the set with --data")
    on_bad(f"{judge} is asked about {path.name}; its answers are kept in {_store(judge, path)}")
    return graded(judge, path, budget, inquiries, on_bad)


def asked_vaguely(
    judge: str,
    path: Path,
    name: str,
    questions: Mapping[str, HistoryQuestion],
    sheets: Sequence[Sheet],
    budget: Budget,
    on_bad: Callable[[str], None],
) -> FalseAccepts | None:
    """Return a judge's verdicts on vague wrong answers to some questions of prediction files, as `graded`.

    Args:
        judge: Its name.
        path: A prediction file.
        name: A public set with these questions.
        questions: The questions of the data.
        sheets: The files' marks.
        budget: What may be spent.
        on_bad: Called with each line about what was not answered.
    """
    expect = public_set(name).expect
    answered = {mark.id for sheet in sheets for mark in sheet.marks}
    asked = [(expect(each, "official"), each.text) for each in questions.values() if each.id in answered]
    return false_accepts(graded(judge, path, budget, vague.inquiries(asked), on_bad).values())


def _store(judge: str, path: Path) -> Path:
    return path.with_name(f"{path.name}.{re.sub(r'[^A-Za-z0-9._-]+', '-', judge)}.jsonl")


def graded(
    judge: str,
    path: Path,
    budget: Budget,
    inquiries: Inquiries[K, T],
    on_bad: Callable[[str], None],
    *,
    texts: Sequence[str] = (),
) -> dict[K, T]:
    """Return what a judge's answers come to, but for those that it fails to give or that cannot be read.

    Args:
        judge: Its name. Raises ConfigError if there is no such agent.
        path: The file; the answers are kept beside it, and not asked for again.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        inquiries: What is asked.
        on_bad: Called with each line about what was not answered.
        texts: All prompts, if they are known beforehand; their price is quoted, and said at the end.
    """
    (found,) = find_judges([judge])
    heard: list[JudgeAnswer] = []
    with Progress(
        *Progress.get_default_columns(),
        MofNCompleteColumn(),
        console=err(),
        disable=not err().is_terminal,
        transient=True,
    ) as progress:
        task = progress.add_task(f"{judge} on {path.name}", total=None)

        def on_answer(said: JudgeAnswer) -> None:
            heard.append(said)
            progress.advance(task)

        interview = Interview(AnswerFile(_store(judge, path)), budget, on_answer)
        if texts:
            price = interview.quote(found, ((text, 1) for text in dict.fromkeys(texts)))
            progress.update(task, total=price.calls)
            on_bad(f"{judge} is asked about {path.name}: {price}; answers are kept in {_store(judge, path)}")

        async def ask_all() -> dict[K, T]:
            named = dict(inquiries)
            results = await together(interview.hold(found, each) for each in named.values())
            if lost := [name for name, each in zip(named, results, strict=True) if each.found is None]:
                on_bad(f"{path}: {len(lost)} of {len(named)} are not judged, such as {lost[0]}"[:400])
            return {
                name: each.found for name, each in zip(named, results, strict=True) if each.found is not None
            }

        try:
            return asyncio.run(ask_all())
        finally:
            if failed := [each.text for each in heard if each.failed]:
                answers = "1 answer is" if len(failed) == 1 else f"{len(failed)} answers are"
                on_bad(f"{judge} failed: {failed[0]}; {answers} missing; the same command asks again"[:400])
            prices = [each.dollars for each in heard if not each.failed]
            if prices and texts:
                cost = "unknown" if None in prices else f"${sum(filter(None, prices)):.4f}"
                on_bad(f"{judge} gave {len(prices)} answers; cost {cost}")


def in_turn(judge: Judge, inquiries: Inquiries[K, T], budget: Budget) -> Iterator[tuple[K, T | None, str]]:
    """Put inquiries to a judge one by one, and yield what each comes to, or why to nothing; the caller keeps it.

    Args:
        judge: The judge.
        inquiries: What is asked; one that cannot read an answer may raise ValueError.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
    """
    for name, inquiry in inquiries:
        try:
            heard = asyncio.run(Interview(None, budget).hold(judge, inquiry))
        except ValueError as error:
            yield name, None, str(error)
        else:
            yield name, heard.found, heard.said[-1][1].text if heard.said else ""


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
