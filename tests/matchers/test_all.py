"""What holds for every matcher, whatever the reply."""

import json
import time
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ltm_bench import (
    decodes,
    displaced,
    follows_route,
    item_counts,
    lists_all,
    names_only,
    notices,
    orders,
    picks,
    retells,
    says,
    star_counts,
)
from ltm_bench.core.messages import Matcher, Outcome
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins.matchers import load

MATCHERS: list[Matcher] = [
    names_only("red", among=("red", "blue", "light blue"), stale=("blue",)),
    item_counts({"apple": 3, "light bulb": 1}, among=("apple", "light bulb", "battery")),
    retells("Two antennas got married on the roof.", among=("Two antennas got married on the roof.", "A snail was mugged.")),
    decodes({"when": "noon", "what": "rope"}, {"when": {"noon": ("noon",), "dusk": ("dusk",)}, "what": {"rope": ("rope",), "lamp": ("lamp",)}}),
    star_counts([15, 4, 29]),
    follows_route("Opera", [("north", 2, "Town Hall"), ("east", 1, "Cinema")], among=("Opera", "Town Hall", "Cinema")),
    lists_all(["Ada Lovelace", "Barnaby"], among=("Ada Lovelace", "Barnaby", "Callum", "Delphine")),
    says("Look in the fruit bowl first.", among=("Look in the fruit bowl first.", "Bring in the tomatoes.")),
    star_counts([10, 20], mistaken=[11, 19]),
    orders(("apple juice", "mint tea", "beer"), gone=("beer",)),
    notices("lamb stew", served="plum tart"),
    picks(3, of=6),
    displaced(east=-2, north=3),
]  # fmt: skip
EACH = pytest.mark.parametrize("matcher", MATCHERS, ids=lambda matcher: type(matcher).__name__)

WORDS = "red blue light not never now was apple 3 x km opera town hall north to [ ] { } \" ' : , // ``` json null true noon rope 15 ★ <think> \ud800".split(
    " "
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["item", "quantity", "counts"]), inner)
    ),
    max_leaves=8,
)
REPLIES = (
    st.text(st.characters(exclude_categories=[]))
    | st.lists(st.sampled_from(WORDS)).map(" ".join)
    | JSON.map(json.dumps)
)


@EACH
@given(reply=REPLIES)
@settings(max_examples=150, deadline=None)
@example(reply="[" * 50_000)
@example(reply='{"a":' * 5_000)
@example(reply="\x00" * 100)
@example(reply="1e999")
@example(reply='[{"item": {"item": null}, "quantity": NaN}]')
def test_no_reply_makes_a_matcher_fail_and_its_verdict_is_in_order(matcher: Matcher, reply: str) -> None:
    verdict = matcher.verdict(reply, [])
    assert verdict.score is not None
    assert 0 <= verdict.score <= 1
    assert (verdict.score == 1) == (verdict.outcome is Outcome.CORRECT)
    if verdict.outcome in (Outcome.WRONG, Outcome.ABSTAINED, Outcome.MALFORMED):
        assert verdict.score == 0
    assert verdict.reason


@EACH
def test_right_replies_are_right_and_wrong_ones_are_not(matcher: Matcher) -> None:
    assert [
        reply for reply in matcher.right() if matcher.verdict(reply, []).outcome is not Outcome.CORRECT
    ] == []
    assert [reply for reply in matcher.wrong() if matcher.verdict(reply, []).outcome is Outcome.CORRECT] == []


@EACH
def test_a_matcher_survives_the_log(matcher: Matcher) -> None:
    assert load(json.loads(json.dumps(dump(matcher)))) == matcher


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
        yield piece * (400_000 // len(piece))


@pytest.mark.slow
@EACH
def test_a_huge_reply_is_judged_quickly(matcher: Matcher) -> None:
    for reply in long_replies():
        before = time.process_time()
        matcher.verdict(reply, [])
        assert time.process_time() - before < 5, reply[:10]
