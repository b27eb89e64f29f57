"""`--judge`, `judge check` and `review`: who has the last word where text alone cannot tell."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.showing import publish, summarise
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Ask, Matcher, Outcome
from ltm_bench.core.tokens import counter
from ltm_bench.judge.asking import THRESHOLD, Judge, Memory, Trial, calibrate, doubtful, judge_run
from ltm_bench.judge.rubric import Case
from ltm_bench.log.recorder import locked
from ltm_bench.matchers.lists import ListsAll
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.matchers.phrases import Says
from ltm_bench.matchers.quotes import Retells
from ltm_bench.plan.planning import REPORTS, agent_entry, agent_maker, find_run, find_suite
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.score.judgements import Override, append, reply_hash
from ltm_bench.score.results import Question, Results
from ltm_bench.script.scenario import Example, rehearse

MEMORY = REPORTS / "judgements.sqlite"
"""What judges have said before, shared by all runs."""


def make_judges(names: Sequence[str]) -> list[Judge]:
    """Return the judges of these names: presets or adapters, as for --agent. Raises ConfigError."""
    judges = []
    for name in dict.fromkeys(names):
        try:
            entry = agent_entry(name, [], None)
        except ConfigError as error:
            raise ConfigError(str(error).replace("--agent", "--judge", 1)) from error
        description = {"adapter": entry.adapter, "hash": entry.hash, "settings": entry.settings}
        judges.append(Judge(name, description, agent_maker(entry)))
    return judges


def have_judged(run: Path, results: Results, judges: Sequence[Judge], budget: Budget) -> bool:
    """Put a run's doubtful replies before judges, and keep what they say; returns whether there were any."""
    questions = doubtful(results)
    if not questions or not judges:
        return False
    names = ", ".join(judge.name for judge in judges)
    err().print(f"{_count(questions, 'reply', 'replies')} before {names} …", markup=False)
    memory = Memory(MEMORY)
    try:
        said = asyncio.run(judge_run(results, judges, memory, budget))
    finally:
        memory.close()
    append(run, said)
    failed = sum(opinion.outcome is Outcome.JUDGE_ERROR for each in said for opinion in each.opinions)
    if failed:
        err().print(f"{failed} answers of judges could not be had or read; rescore asks for them again")
    return True


def _count(things: Sequence[object], one: str, more: str) -> str:
    return f"{len(things)} {one if len(things) == 1 else more}"


PARAPHRASES = (
    "If I remember rightly: {right}",
    "{right} At least that is what you told me last.",
    "Let me think … yes, I have it. {right} Is there anything else?",
)
HEDGES = (
    "It could be one of two. Either: {right} Or else: {wrong} I cannot choose between them.",
    "Perhaps this: {wrong} Or perhaps that: {right} It might also be neither.",
)
ABSTENTIONS = (
    "I am sorry, but I have nothing about that in my memory.",
    "Could you remind me? We have talked about so much that this one is gone.",
)
_TEXTUAL = (NamesOnly, Retells, Says, ListsAll)
"""Matchers of which the question and a right reply say all that a judge has to know."""


def trials(most: int) -> list[Trial]:
    """Compose replies of which it is known what they are, from the scenarios of the standard suite."""
    count = counter()
    found: list[Trial] = []
    examples = [
        Example(scenario(name), index, 4711, {})
        for index in range(4)
        for name in find_suite("standard").scenarios
    ]
    for example in examples:
        for step in rehearse(example, count):
            if isinstance(step.line, Ask) and isinstance(step.line.expect, _TEXTUAL):
                found += _trials_of(step.text, step.line.expect, len(found))
                break
    return found[:most]


def _trials_of(question: str, expect: Matcher, place: int) -> Iterator[Trial]:
    right, wrong = expect.right()[0], expect.wrong()[0]
    doubt = "the program cannot read the reply"
    replies = {
        "right": expect.right()[-1],
        "paraphrased": PARAPHRASES[place % len(PARAPHRASES)].format(right=right),
        "wrong": wrong,
        "hedging": HEDGES[place % len(HEDGES)].format(right=right, wrong=wrong),
        "abstaining": ABSTENTIONS[place % len(ABSTENTIONS)],
    }
    if isinstance(expect, NamesOnly) and expect.stale:
        replies["stale"] = f"It is {expect.stale[-1]}."
    for kind, reply in replies.items():
        yield Trial(kind, Case(question, right, doubt, reply))


def check_judge(names: Sequence[str], cases: int, limit: Decimal | None) -> None:
    """Put replies before judges of which it is known what they are, and print how they did. Raises ConfigError."""
    from rich import box
    from rich.table import Table

    judges = make_judges(names)
    composed = trials(cases)
    memory = Memory(MEMORY)
    try:
        for judge in judges:
            err().print(f"{len(composed)} cases before {judge.name} …", markup=False)
            calibration, said = asyncio.run(calibrate(judge, composed, memory, Budget(limit)))
            table = Table(box=box.SIMPLE_HEAD)
            for column in ("the reply is", "n", "judged right", "judged otherwise", "not readable"):
                table.add_column(column, justify="left" if column == "the reply is" else "right")
            for kind in dict.fromkeys(trial.kind for trial in composed):
                of = [outcome for trial, outcome in zip(composed, said, strict=True) if trial.kind == kind]
                right, lost = of.count(Outcome.CORRECT), of.count(Outcome.JUDGE_ERROR)
                table.add_row(kind, str(len(of)), str(right), str(len(of) - right - lost), str(lost))
            out().print(table)
            cost = "unknown" if calibration.dollars is None else f"${calibration.dollars:.4f}"
            out().print(
                f"{judge.name}: sensitivity {calibration.sensitivity:.3f}, specificity {calibration.specificity:.3f}, "
                f"{calibration.unreadable} not readable, cost {cost}",
                markup=False,
            )
            if calibration.believed:
                out().print(f"{judge.name} may be believed: both are at least {THRESHOLD}.", markup=False)
            else:
                out().print(
                    f"{judge.name} is not to be believed: both have to be at least {THRESHOLD}. "
                    "Runs that it judges say so on their page.",
                    markup=False,
                )
    finally:
        memory.close()


KEYS = {
    "c": Outcome.CORRECT,
    "p": Outcome.PARTIAL,
    "w": Outcome.WRONG,
    "o": Outcome.STALE,
    "a": Outcome.ABSTAINED,
}
_HELP = "c correct, p partial, w wrong, o outdated, a abstained; s skip, q quit"


def review(run: str | None, reviewer: str | None, *, every: bool) -> None:
    """Walk through doubtful verdicts and write down what the reviewer decides."""
    folder = find_run(run)
    results = publish(folder)
    shown = [
        (example.id, question)
        for example in results.examples
        for question in example.questions
        if question.reply is not None and (every or _doubtful(question))
    ]
    if not shown:
        out().print("There is no doubtful verdict in this run; --all walks through all of them.")
        return
    name = reviewer or getpass.getuser()
    out().print(f"{_count(shown, 'verdict', 'verdicts')} to look at, as {name}. {_HELP}.", markup=False)
    written = 0
    with locked(folder):
        for place, (example, question) in enumerate(shown, start=1):
            _show(place, len(shown), example, question)
            decision = _decide()
            if decision is None:
                break
            if decision[0] is None:
                continue
            outcome, score, reason = decision
            append(
                folder,
                [
                    Override(
                        example=example,
                        turn=question.turn or 0,
                        reply=reply_hash(question.reply or ""),
                        outcome=outcome,
                        score=score,
                        reviewer=name,
                        reason=reason,
                        was=question.outcome,
                        was_score=question.score,
                    )
                ],
            )
            written += 1
        results = publish(folder)
    out().print(f"{_count(range(written), 'verdict', 'verdicts')} by hand written to {folder}", markup=False)
    summarise(results, folder)


def _doubtful(question: Question) -> bool:
    if question.override is not None:
        return False
    sides = {opinion.outcome is Outcome.CORRECT for opinion in question.opinions}
    return question.outcome in (Outcome.UNDECIDED, Outcome.JUDGE_ERROR) or len(sides) > 1


def _show(place: int, count: int, example: str, question: Question) -> None:
    out().rule(f"{place} of {count} · {example} · turn {question.turn}", align="left")
    for title, text in (
        ("question", question.text),
        ("expected", question.expected),
        ("reply", question.reply or ""),
        ("verdict", f"{question.outcome.value}: {question.reason}"),
        *((f"judge {o.judge}", f"{o.outcome.value}: {o.reason}") for o in question.opinions),
    ):
        out().print(f"{title:<9} {safe(text)}", markup=False)


Decision = tuple[Outcome, float, str] | tuple[None]


def _decide() -> Decision | None:
    """Read a decision; None to quit, (None,) to skip. The end of the input is a quit."""
    try:
        while True:
            key = input("c/p/w/o/a/s/q > ").strip().lower()
            if key in ("q", "s"):
                return None if key == "q" else (None,)
            if key in KEYS:
                score = 1.0 if key == "c" else 0.0
                while key == "p":
                    try:
                        score = float(input("score between 0 and 1 > "))
                    except ValueError:
                        continue
                    if 0.0 < score < 1.0:
                        break
                reason = ""
                while not reason:
                    reason = input("reason > ").strip()
                return KEYS[key], score, reason
            out().print(_HELP)
    except EOFError:
        return None
