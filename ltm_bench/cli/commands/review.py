"""Decide doubtful verdicts yourself."""

import asyncio
import getpass
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

from ltm_bench.api import publish
from ltm_bench.cli.console import ask_key, out, print_titled
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import RunName
from ltm_bench.cli.summary import print_run
from ltm_bench.core.messages import Outcome
from ltm_bench.log.recorder import locked
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import find_run
from ltm_bench.report.words import plural
from ltm_bench.score.audits.judgements import Override, append, ratings, reply_hash, settle
from ltm_bench.score.results.examples import Question

KEYS = {
    "c": Outcome.CORRECT,
    "p": Outcome.PARTIAL,
    "w": Outcome.WRONG,
    "o": Outcome.STALE,
    "u": Outcome.OVERDONE,
    "a": Outcome.ABSTAINED,
    "l": Outcome.LEAKED,
}
_HELP = "c correct, p partial, w wrong, o outdated, u over-updated, a abstained, l leaked; s skip, q quit"


app = group()


@command(
    app,
    "review",
    "review standard-32k-gpt-6-luna-seed0 --reviewer Ada",
    "review standard-32k-gpt-6-luna-seed0 --reviewer Ben",
)
def review(
    run: RunName = None,
    reviewer: Annotated[str | None, Option("Who decides; by default, your user name.", "NAME")] = None,
    every: Annotated[bool, Option("Review all verdicts.", flags=("--all",), variable="REVIEW_ALL")] = False,
) -> None:
    """Review undecided and doubtful verdicts; your decisions are kept beside the originals.

    A second reviewer sees the same replies, but not the first one's decisions. If the two differ, the verdict holds
    until a third decides.
    """
    folder = find_run(run)
    results = asyncio.run(publish(folder)).results
    name = reviewer or getpass.getuser()
    said = ratings(folder)
    shown = [
        (example.id, question)
        for example in results.examples
        for question in example.questions
        if question.reply is not None
        and (every or _waits(question, said.get((example.id, question.turn or 0), {}), name))
    ]
    if not shown:
        out().print(f"No doubtful verdict is left for {name} in this run; --all shows all verdicts.")
        return
    out().print(f"{plural(len(shown), 'verdict')} to review, as {name}. {_HELP}.")
    written = 0
    with locked(folder):
        with suppress(EOFError):
            for place, (example, question) in enumerate(shown, start=1):
                _show(place, len(shown), example, question)
                decision = _decide(example, question, name)
                if decision is not None:
                    append(folder, [decision])
                    written += 1
        scored = asyncio.run(publish(folder))
    out().print(f"{plural(written, 'verdict')} by hand written to {folder}")
    print_run(scored)


def _waits(question: Question, said: Mapping[str, Override], name: str) -> bool:
    """Whether a verdict is doubtful, and neither decided by this reviewer nor settled by two others."""
    heard = [each for each in said.values() if each.reply == reply_hash(question.reply or "")]
    if any(each.reviewer == name for each in heard) or (len(heard) > 1 and settle(heard) is not None):
        return False
    sides = {opinion.outcome is Outcome.CORRECT for opinion in question.opinions}
    outcome = question.override.was if question.override else question.outcome
    return outcome in (Outcome.UNDECIDED, Outcome.JUDGE_ERROR) or len(sides) > 1


def _show(place: int, count: int, example: str, question: Question) -> None:
    """Show the verdict of scorer and judges, but not that of other reviewers."""
    verdict = f"{question.outcome.value}: {question.reason}"
    if question.override is not None:
        verdict = question.override.was.value + (f": {question.doubt}" if question.doubt else "")
    out().rule(f"{place} of {count} · {example} · turn {question.turn}", align="left")
    print_titled(
        ("question", question.text),
        ("expected", question.expected),
        ("reply", question.reply or ""),
        ("verdict", verdict),
        *((f"judge {o.judge}", f"{o.outcome.value}: {o.reason}") for o in question.opinions),
    )


def _decide(example: str, question: Question, name: str) -> Override | None:
    """Read a decision; None to skip it. Raises EOFError to quit."""
    key, _ = ask_key("c/p/w/o/a/s/q > ", KEYS.keys() | {"s"}, _HELP)
    if key == "s":
        return None
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
    return Override(
        example=example,
        turn=question.turn or 0,
        reply=reply_hash(question.reply or ""),
        outcome=KEYS[key],
        score=score,
        reviewer=name,
        reason=reason,
        was=question.override.was if question.override else question.outcome,
        was_score=question.override.was_score if question.override else question.score,
    )
