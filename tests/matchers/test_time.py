"""A matcher takes time in proportion to the reply, and survives JSON of any shape."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from ltm_bench import Message, Outcome, Reply, Turn
from ltm_bench.core.messages import Matcher
from ltm_bench.plugins.matchers import examples

if TYPE_CHECKING:
    from tests.pace import BOMBS, cpu, grows
else:
    from pace import BOMBS, cpu, grows

pytestmark = [pytest.mark.slow, pytest.mark.proof(scenarios=(), together=False)]

LONG = 20_000
"""Characters of a reply."""
MATCHERS = [each for found in examples().values() for each in found]
EACH = pytest.mark.parametrize("matcher", MATCHERS, ids=lambda each: type(each).__name__)
AT = datetime(2026, 1, 5, tzinfo=UTC)


@EACH
def test_a_matcher_takes_time_in_proportion_to_the_reply(matcher: Matcher) -> None:
    for head in ("", "```", "1", "not "):
        for bait in ("a ", "1 ", "1,", "[1,", " ", "\t", "a, ", "red ", "ﷺ", "- a\n", "1. "):
            texts = [head + bait * (length // len(bait)) + "z" for length in (LONG // 10, LONG * 4 // 10)]
            assert grows(lambda text: matcher.verdict(text, ()), *texts) == ""


@pytest.mark.parametrize("bomb", BOMBS)
def test_no_json_crashes_a_matcher(bomb: str) -> None:
    for matcher in MATCHERS:
        taken = cpu(lambda each=matcher: _judged(each, BOMBS[bomb]))  # type: ignore[misc]  # bound at once
        assert taken < 10, type(matcher).__name__


def _judged(matcher: Matcher, text: str) -> None:
    assert matcher.verdict(text, ()).outcome is not Outcome.JUDGE_ERROR


def long_replies() -> Iterator[str]:
    for piece in (
        "(",
        "[",
        "{",
        '{"a":[',
        "a ",
        "red ",
        "not ",
        "1,1,",
        "```",
        "apple, ",
        "- 2 apples\n",
        "x" * 99,
        "\n",
        '"',
    ):
        yield piece * (20_000 // len(piece))


@EACH
def test_a_huge_reply_is_judged_quickly(matcher: Matcher) -> None:
    for reply in long_replies():
        before = time.process_time()
        matcher.verdict(reply, [Turn(Message("Well, what was it?", AT, 0), Reply(reply))])
        assert time.process_time() - before < 3, reply[:10]
