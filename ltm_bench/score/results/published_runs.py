"""The replies of runs to questions of public sets, with the published scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.marks import SetQuestion, SetReplies
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.log.events import Event, Sent
from ltm_bench.log.manifest import IMPORTED, Manifest
from ltm_bench.log.reader import read_questions
from ltm_bench.plugins.matchers import load
from ltm_bench.score.audits.judgements import Judgement, Opinion, reply_hash
from ltm_bench.score.results.examples import ExampleResult, Question
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.published import Compared, SetFigures, compare_sets, figures_of

if TYPE_CHECKING:
    from ltm_bench.datasets.predictions import Prediction

BEGINNING = 3
"""Messages with which a history begins; the first is the same for all."""


def set_figures(run: str, examples: Sequence[ExampleResult]) -> list[SetFigures]:
    """Return the published figures of each public set in a run; [] without any."""
    found = []
    for name in dict.fromkeys(example.scenario for example in examples):
        own = [example for example in examples if example.scenario == name]
        if (replies := replies_in(run, own)) is not None:
            found.append(figures_of(replies, name, [of for _, _, of in _asked(own)]))
    return found


def compared_sets(runs: Sequence[Results]) -> list[Compared]:
    """Compare every two runs on their common questions of public sets, by the sets' own scorers.

    The histories are the clusters: questions about one history resemble each other.
    """
    found: list[Compared] = []
    for name in dict.fromkeys(each.scenario for run in runs for each in run.sets):
        own = (replies_in(run.run, [e for e in run.examples if e.scenario == name]) for run in runs)
        found += compare_sets([replies for replies in own if replies is not None])
    return found


def replies_in(run: str, examples: Sequence[ExampleResult]) -> SetReplies | None:
    """Return the replies to a set's questions in some examples of a run; None if none of them has a score."""
    asked = list(_asked(examples))
    columns = tuple(dict.fromkeys(column for _, _, of in asked for column in of.scores))
    if not columns:
        return None
    judges = dict.fromkeys(judge for _, question, _ in asked for judge in _judges(question))
    return SetReplies(
        run,
        columns,
        [(history, of) for history, _, of in asked if of.scores],
        [of.id for _, _, of in asked if not of.scores],
        ", ".join(judges) or None,
    )


def predictions_in(run: Path, results: Results, matcher: type[SetMatcher]) -> Iterator[Prediction]:
    """Yield a run's replies to the questions of one set, with what judges gave them."""
    from ltm_bench.datasets.predictions import Prediction

    told = {(each.id, asked.turn): (each, asked) for each in results.examples for asked in each.questions}
    for sent, reply in read_questions(run):
        name = f"{sent.example}/{sent.turn}"
        example, question = told.get((sent.example or "", sent.turn), (None, None))
        if example is None or question is None:
            continue
        expect = matcher.of_run(load(sent.expect or {}), name, example.span, question.parts)
        if expect is not None and expect.id:
            scores = question.published.scores if question.published else {}
            judged = {column: score for column, score in scores.items() if column in expect.judged}
            judges = ", ".join(_judges(question)) or None
            yield Prediction(_history(example), sent.asked, expect, reply, judged, judges)


def verdicts_in(log: Iterable[Manifest | Event], predictions: Iterable[Prediction]) -> Iterator[Judgement]:
    """Yield what judges gave the replies of an imported run, whose log this is."""
    judged = {each.expect.id: each for each in predictions if each.judged}
    for sent in log:
        if isinstance(sent, Sent) and (each := judged.get((sent.expect or {})["id"])) is not None:
            score = next(each.judged[column] for column in each.expect.columns if column in each.judged)
            opinion = Opinion(
                judge=(each.judge or "its file").encode("utf-8", "replace").decode(),
                key=IMPORTED,
                rubric=IMPORTED,
                prompt="",
                answer="",
                outcome=Outcome.CORRECT if score >= 1 else Outcome.PARTIAL if score > 0 else Outcome.WRONG,
                score=score,
                scores=dict(each.judged),
                reason="judged when it was imported" if each.asked else "stored with the reply",
            )
            said = reply_hash(each.reply or "")
            yield Judgement(example=sent.example or "", turn=sent.turn, reply=said, opinions=(opinion,))


def _asked(examples: Sequence[ExampleResult]) -> Iterator[tuple[str, Question, SetQuestion]]:
    for example in examples:
        for question in example.questions:
            if question.published is not None and question.published.id:
                yield _history(example), question, question.published


def _history(example: ExampleResult) -> str:
    """Return what tells a history from others, even where it is told again for each question: how it begins."""
    return "\n".join(needle.text for needle in example.needles[:BEGINNING]) or example.id


def _judges(question: Question) -> list[str]:
    return [each.judge for each in question.opinions if each.scores]
