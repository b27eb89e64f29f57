"""The verdict on what a blind reader read: that, as a terse reply, goes through the same matcher. Pure."""

from dataclasses import replace
from datetime import UTC, datetime

from ltm_bench.core.messages import Matcher, Message, Outcome, Reply, Turn, Verdict
from ltm_bench.score.audits.judgements import BlindReading
from ltm_bench.score.audits.verdicts import verdict_on

_AT = datetime(2026, 1, 1, tzinfo=UTC)

_SHOWN = 160
"""Maximum characters of a span in a reason."""


def verdict_by_reading(
    matched: Verdict, expect: Matcher, question: str, reply: str, reading: BlindReading
) -> Verdict | None:
    """Return the verdict on what a reader read, if that decides; the matcher's own verdict stands otherwise.

    Args:
        matched: The matcher's verdict on the whole reply.
        expect: The matcher.
        question: The question.
        reply: The reply.
        reading: What was read of this reply.
    """
    if not reading.said or reading.span not in reply or matched.outcome is Outcome.LEAKED:
        return None
    terse = Reply(reading.said)
    verdict = verdict_on(expect, terse, [Turn(Message(question, _AT, reading.turn), terse, "ask")])
    if verdict.outcome is Outcome.UNDECIDED or verdict.score is None:
        return None
    # Of a verdict that the matcher was sure of, a reader is asked only whether it was too strict.
    if matched.outcome is not Outcome.UNDECIDED and verdict.score <= (matched.score or 0.0):
        return None
    span = reading.span if len(reading.span) <= _SHOWN else f"{reading.span[:_SHOWN]} …"
    return replace(verdict, reason=f"{reading.reader} reads “{span}”: {verdict.reason}")
