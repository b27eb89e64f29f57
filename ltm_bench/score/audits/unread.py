"""Which replies a blind reader is asked about: those that the matchers may have misread. Pure."""

import re
from itertools import chain

from ltm_bench.core.messages import Matcher, Outcome, ReplyForm, Verdict
from ltm_bench.matchers.lists import read_strings
from ltm_bench.matchers.reading import last_readable, number
from ltm_bench.score.audits.forms import FOR_JUDGES

_NEVER = (Outcome.CORRECT, Outcome.LEAKED, Outcome.OVERFLOW)
"""Outcomes about which a reader is never asked."""

_RECITES = ("the reply recites", "recites")
"""How the reasons for a recital begin, in which every answer stands."""

_FORGED = re.compile(r"[\"']span[\"']\s*:")
"""How a reply imitates a reader's answer."""

_WORDS = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ENTRY = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+(\S.{0,200})", re.MULTILINE)
_BETWEEN = re.compile(r"[,;\n]|\band\b")

_MOST = 200
"""Maximum number of a list's entries that are looked at."""

_MOST_JSON = 4_000
"""Maximum characters of a reply whose JSON is looked at."""

_SHORT = 300
"""Maximum characters of a list in prose."""


def is_for_reader(
    expect: Matcher, form: ReplyForm, question: str, reply: str, verdict: Verdict, *, quoted: bool = False
) -> bool:
    """Whether a blind reader is asked about a reply.

    Args:
        expect: The matcher.
        form: In which form replies answer.
        question: The question.
        reply: The reply.
        verdict: What the matcher says of it.
        quoted: Whether also about quotations and free statements, which a judge will compare.
    """
    if verdict.outcome in _NEVER or verdict.outcome.infrastructure:
        return False
    if verdict.reason.startswith(_RECITES) or _FORGED.search(reply) is not None:
        return False
    doubtful = verdict.outcome is Outcome.UNDECIDED
    if form.kind in FOR_JUDGES:
        return doubtful and quoted
    return doubtful or is_unread(expect, form, question, reply, verdict.outcome)


def is_unread(expect: Matcher, form: ReplyForm, question: str, reply: str, outcome: Outcome) -> bool:
    """Whether a matcher may have overlooked something in a reply that it does not call right.

    That is so if all parts of the right answer are named; if JSON was asked for and prose came; or if a list has an
    item that is no candidate.

    Args:
        expect: The matcher.
        form: In which form replies answer.
        question: The question.
        reply: The reply.
        outcome: What the matcher says of it.
    """
    pool = [_words(each) for each in (*form.pool, *chain.from_iterable(of for _, of in form.fields))]
    right, said = _words(expect.right()[0]), _words(reply)
    parts = [value for value in pool if value <= right]
    if not parts:  # a number, which may be in words, or a code
        parts = [frozenset(word for word in right if any(map(str.isdigit, word)))]
        said |= {str(found) for word in said if (found := number(word)) is not None}
    if any(parts) and all(part <= said for part in parts):
        return True
    if outcome is Outcome.ABSTAINED:
        return False
    if "json" in question.casefold() and not set("{[") & set(reply):
        return True
    if form.kind not in ("list", "order", "quantities"):
        return False
    entries = map(_words, _entries(reply, form))
    return any(entry and not any(value <= entry for value in pool) for entry in entries)


def _entries(reply: str, form: ReplyForm) -> list[str]:
    """Return the entries of a list: of JSON, or with marks, or of a short enumeration."""
    is_json = form.kind != "quantities" and len(reply) <= _MOST_JSON and "[" in reply
    listed = last_readable(reply, read_strings) if is_json else None
    if listed is not None:
        return list(listed[:_MOST])
    if marked := _ENTRY.findall(reply)[:_MOST]:
        return marked
    several = _BETWEEN.split(reply) if len(reply) <= _SHORT and not set("{[") & set(reply) else []
    return several if len(several) > 1 else []


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORDS.findall(text))
