"""Has a judge answer a published scorer's prompts about a prediction file, and prints how judges and readers did."""

import asyncio
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from rich.progress import MofNCompleteColumn, Progress

from ltm_bench.api import check_price
from ltm_bench.cli.console import err, out, print_table, safe, table_of
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Matcher
from ltm_bench.judge import vague
from ltm_bench.judge.interview import Interview, together
from ltm_bench.judge.judges import Judge, find_judges
from ltm_bench.judge.opinions import FILE, AnswerFile, Calibration, JudgeAnswer, OpinionStore
from ltm_bench.judge.vague import FalseAccepts, false_accepts
from ltm_bench.plan.folders import REPORTS
from ltm_bench.score.statistics.intervals import wilson

K = TypeVar("K")
T = TypeVar("T")

Inquiries = Iterable[tuple[K, Generator[str, str, T | None] | None]]
"""What a judge is asked, each with a key of its own."""


def to_check(
    names: Sequence[str], role: str, max_cost: Decimal | None
) -> Iterator[tuple[Judge, OpinionStore, Interview]]:
    """Yield judges, or readers, each with the store of all answers, and with an interview of its own limit."""
    judges = find_judges(names, role)
    with OpinionStore(REPORTS / FILE) as answers:
        for judge in judges:
            check_price(judge.make(), max_cost, judge.name)
            yield judge, answers, Interview(answers, Budget(max_cost))


class Grading:
    """A judge that is asked about answers in prediction files. What it says is kept beside each, and not asked again.

    Args:
        judge: Its name; None asks nobody.
        max_cost: What may be spent on all files. Methods raise BudgetReached.
        on_bad: Called with each line about what is asked, and about what was not answered.
    """

    def __init__(self, judge: str | None, max_cost: Decimal | None, on_bad: Callable[[str], None]) -> None:
        self._judge, self._budget, self._on_bad = judge, Budget(max_cost), on_bad

    def asked(self, path: Path, data: Path | None, inquiries: Inquiries[K, T]) -> dict[K, T]:
        """Return its verdicts on answers in a file, as `graded`. Raises ConfigError without the data."""
        if self._judge is None:
            return {}
        if data is None:
            raise ConfigError(
                f"--judge {self._judge}: a judge needs the gold answers; name the set with --data"
            )
        self._on_bad(f"{self._judge} is asked about {path.name}; its answers are kept in {self._store(path)}")
        return self.graded(path, inquiries)

    def vaguely(self, path: Path, asked: Iterable[tuple[Matcher, str]]) -> FalseAccepts | None:
        """Return its verdicts on vague wrong answers to questions, given by matcher and words."""
        return false_accepts(self.graded(path, vague.inquiries(asked)).values()) if self._judge else None

    def graded(self, path: Path, inquiries: Inquiries[K, T], texts: Iterable[str] = ()) -> dict[K, T]:
        """Return what its answers come to, but for those that it fails to give, or that cannot be read.

        Args:
            path: The file.
            inquiries: What is asked.
            texts: All prompts, if they are known beforehand; their price is quoted, and said at the end.
        """
        if self._judge is None:
            return {}
        (judge,) = find_judges([self._judge])
        heard, prompts = list[JudgeAnswer](), dict.fromkeys(texts)
        with Progress(
            *Progress.get_default_columns(),
            MofNCompleteColumn(),
            console=err(),
            disable=not err().is_terminal,
            transient=True,
        ) as progress:
            task = progress.add_task(f"{judge.name} on {path.name}", total=None)

            def on_answer(said: JudgeAnswer) -> None:
                heard.append(said)
                progress.advance(task)

            interview = Interview(AnswerFile(self._store(path)), self._budget, on_answer)
            if prompts:
                price = interview.quote(judge, ((text, 1) for text in prompts))
                progress.update(task, total=price.calls)
                kept = f"answers are kept in {self._store(path)}"
                self._on_bad(f"{judge.name} is asked about {path.name}: {price}; {kept}")
            try:
                found = asyncio.run(_held(interview, judge, inquiries))
            finally:
                for line in _failures(judge.name, heard, priced=bool(prompts)):
                    self._on_bad(line)
        if lost := sum(each is None for each in found.values()):
            self._on_bad(f"{path}: {lost} of {len(found)} not judged: the judge failed, or gave no verdict")
        return {name: each for name, each in found.items() if each is not None}

    def _store(self, path: Path) -> Path:
        return path.with_name(f"{path.name}.{re.sub(r'[^A-Za-z0-9._-]+', '-', self._judge or '')}.jsonl")


async def _held(interview: Interview, judge: Judge, inquiries: Inquiries[K, T]) -> dict[K, T | None]:
    asked: dict[K, Generator[str, str, T | None] | None] = {}
    for name, inquiry in inquiries:
        asked.setdefault(name, inquiry)  # of two answers to a question, the first counts
    heard = await together(interview.hold(judge, each) for each in asked.values())
    return {name: each.found for name, each in zip(asked, heard, strict=True)}


def _failures(judge: str, heard: Sequence[JudgeAnswer], *, priced: bool) -> Iterator[str]:
    """Yield what to say of new answers: how many failed and, if asked for, what they have cost."""
    if failed := [each.text for each in heard if each.failed]:
        answers = "1 answer is" if len(failed) == 1 else f"{len(failed)} answers are"
        yield f"{judge} failed: {failed[0]}; {answers} missing; the same command asks again"[:400]
    prices = [each.dollars for each in heard if each.usage or not each.failed]
    if prices and priced:
        cost = "unknown" if None in prices else f"${sum(filter(None, prices)):.4f}"
        yield f"{judge} gave {len(heard) - len(failed)} answers; cost {cost}"


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
        should = "right" if found.right else "otherwise"
        table.add_row(kind, should, *row, str(otherwise), str(found.unreadable))
    print_table(table)
    cost = "unknown" if calibration.dollars is None else f"${calibration.dollars:.4f}"
    print_unread(calibration)
    out().print(
        safe(
            f"{calibration.judge}: sensitivity {calibration.sensitivity:.3f}, specificity "
            f"{calibration.specificity:.3f}, {calibration.unreadable} unparseable, cost {cost}"
        )
    )


def print_unread(calibration: Calibration) -> None:
    """Print how many answers came to nothing, by the reason, and by the kind of question."""
    for why, many in calibration.unread.items():
        out().print(safe(f"{many} of its answers came to nothing: {why}"))
    kinds = "; ".join(f"{about}: {many} of {of}" for about, (many, of) in calibration.unread_about.items())
    if kinds:
        out().print(safe(f"Answers that came to nothing, by the kind of question: {kinds}"))


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100 * share:.1f} %"
