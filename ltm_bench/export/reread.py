"""Reads again what blind readers answered: equal answers have to give equal spans, and these equal verdicts."""

from collections.abc import Iterator

from ltm_bench.core.errors import LogError
from ltm_bench.core.keys import REMOVED
from ltm_bench.core.messages import Matcher, Outcome, Verdict
from ltm_bench.export.stored import Logged, Place
from ltm_bench.judge import blind
from ltm_bench.judge.reading import BlindCase, settled, with_pools
from ltm_bench.plugins.matchers import load
from ltm_bench.score.audits.blind import verdict_by_reading
from ltm_bench.score.audits.forms import form_of
from ltm_bench.score.audits.judgements import BlindReading
from ltm_bench.score.results.examples import BLIND, Question
from ltm_bench.score.results.run import Results


def reread(results: Results, logged: Logged) -> Iterator[str]:
    """Yield what differs, of readings that today's code would have asked for in the same words."""
    if not any(question.reading for example in results.examples for question in example.questions):
        return
    asked: list[tuple[BlindCase, Matcher, Question]] = []
    places = logged.questions
    for example in results.examples:
        for question in example.questions:
            message = places.get(Place(example.id, question.turn))
            expect = None if message is None else _matcher(message.sent.expect or {})
            form = None if expect is None else form_of(expect)
            if expect is not None and form is not None and question.reply is not None:
                case = BlindCase(example.id, question.turn or 0, question.text, question.reply, form)
                asked.append((case, expect, question))
    cases = with_pools([case for case, _, _ in asked])
    for case, (_, expect, question) in zip(cases, asked, strict=True):
        reading = question.reading
        if reading is None or REMOVED in case.reply:
            continue
        if all(each.rubric == blind.digest() for each in reading.opinions):
            for problem in _differing(case, expect, question, reading):
                yield f"{Place(case.example, case.turn)}: {problem}"


def _matcher(data: dict[str, object]) -> Matcher | None:
    try:
        return load(data)
    except LogError:  # of a user's own, which is not imported here
        return None


def _differing(case: BlindCase, expect: Matcher, question: Question, reading: BlindReading) -> Iterator[str]:
    if any(each.prompt != text for each, text in zip(reading.opinions, case.prompts, strict=False)):
        yield "what the blind reader was asked in blind.jsonl is not what it had to be asked"
    found = settled(case, reading.opinions)
    if found != (reading.span, reading.said, reading.why):
        yield "what was read in blind.jsonl does not follow from the reader's answer there"
    if question.scorer != f"{type(expect).__name__}@{expect.version}" or question.opinions:
        return
    undecided = Verdict(Outcome.UNDECIDED, 0.0, "")
    verdict = verdict_by_reading(undecided, expect, case.question, case.reply, reading)
    outcome = question.outcome if question.override is None else question.override.was
    if BLIND in (question.decided_by, question.overruled):
        if verdict is None or verdict.outcome is not outcome:
            yield f"results.json says {outcome}, its matcher does not say so of what was read in blind.jsonl"
    elif outcome is Outcome.UNDECIDED and verdict is not None:
        yield f"results.json says {outcome}, its matcher says {verdict.outcome} of what was read in blind.jsonl"
