"""Rules for every built-in matcher, whatever the reply. A new matcher is discovered, and fails without `EXAMPLES`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ltm_bench
from ltm_bench.core.messages import Matcher, Message, Outcome, Reply, Turn, Verdict
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins.matchers import built_in, examples, load, modules, short_names, versions

TESTS = Path(__file__).parents[1]
EXAMPLES = examples()
MATCHERS = [each for found in EXAMPLES.values() for each in found]
EACH = pytest.mark.parametrize("matcher", MATCHERS, ids=lambda matcher: type(matcher).__name__)
AT = datetime(2026, 1, 5, tzinfo=UTC)


def judged(matcher: Matcher, reply: str) -> Verdict:
    """Judge a reply in a conversation of one turn."""
    return matcher.verdict(reply, [Turn(Message("Well, what was it?", AT, 0), Reply(reply))])


@pytest.mark.parametrize("name", built_in())
def test_every_matcher_has_examples_for_these_guards(name: str) -> None:
    kind = built_in()[name]
    assert EXAMPLES[name], f"{kind.__module__} needs an example of {name} in EXAMPLES"


@pytest.mark.parametrize("name", sorted({kind.__module__ for kind in built_in().values()}))
def test_every_matcher_has_its_table(name: str) -> None:
    *_, room, stem = name.split(".")
    table = f"datasets/test_{room}_matcher.py" if stem == "matcher" else f"matchers/test_{stem}.py"
    assert (TESTS / table).is_file(), f"{name} needs a table of replies and their outcomes: tests/{table}"


def test_a_matcher_is_exported_by_the_package_under_its_short_name() -> None:
    assert {"names_only", "star_sum", "declines", "benchmarked"} <= set(short_names())
    for name, function in short_names().items():
        assert getattr(ltm_bench, name) is function
    with pytest.raises(AttributeError, match="has no attribute 'says_nothing'"):
        vars(ltm_bench)["__getattr__"]("says_nothing")


def test_versions_are_read_from_the_text_of_the_modules_as_their_classes_have_them() -> None:
    assert list(versions().items()) == [(name, kind.version) for name, kind in built_in().items()]


def test_short_names_are_unique() -> None:
    defined = [name for module in modules() for name in vars(module) if name in short_names()]
    own = [name for name in defined if defined.count(name) == 1]
    assert sorted(own) == sorted(short_names())


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
@settings(max_examples=50, deadline=None)
@example(reply="[" * 50_000)
@example(reply='{"a":' * 5_000)
@example(reply="\x00" * 100)
@example(reply="1e999")
@example(reply='[{"item": {"item": null}, "quantity": NaN}]')
def test_no_reply_makes_a_matcher_fail_or_return_an_invalid_verdict(matcher: Matcher, reply: str) -> None:
    returns_a_valid_verdict(matcher, reply)


@pytest.mark.slow
@pytest.mark.proof(scenarios=())
@EACH
@given(reply=REPLIES)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_nor_does_any_of_many_replies(matcher: Matcher, reply: str) -> None:
    returns_a_valid_verdict(matcher, reply)


def returns_a_valid_verdict(matcher: Matcher, reply: str) -> None:
    verdict = judged(matcher, reply)
    assert verdict.score is not None
    assert 0 <= verdict.score <= 1
    assert (verdict.score == 1) == (verdict.outcome is Outcome.CORRECT)
    if verdict.outcome in (Outcome.WRONG, Outcome.ABSTAINED, Outcome.MALFORMED):
        assert verdict.score == 0
    assert verdict.reason


@EACH
def test_right_replies_are_right_and_wrong_ones_are_not(matcher: Matcher) -> None:
    assert [r for r in matcher.right() if judged(matcher, r).outcome is not Outcome.CORRECT] == []
    assert [r for r in matcher.wrong() if judged(matcher, r).outcome is Outcome.CORRECT] == []


@EACH
def test_a_matcher_survives_the_log(matcher: Matcher) -> None:
    assert load(json.loads(json.dumps(dump(matcher)))) == matcher
