"""Rungs: what a missed question says when it is asked again, derived from scenario and matcher."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ltm_bench import Ask, Message, Reply, Turn, names_only, picks
from ltm_bench.core.messages import Matcher, Outcome
from ltm_bench.datasets.factconsolidation.matcher import newest_fact
from ltm_bench.datasets.locomo.matcher import locomo_answer
from ltm_bench.datasets.swim.matcher import answers
from ltm_bench.matchers.choices import Picks
from ltm_bench.matchers.lists import lists_all
from ltm_bench.matchers.reading.doubting import DoubtingMatcher
from ltm_bench.matchers.restraint import never_said
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.controls import LoggedLine, rehearsed, unfit
from ltm_bench.runner.rungs import MOST_OPTIONS, Rung, is_missed, rungs_of
from ltm_bench.script.scenario import Example

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
COLOURS = ("red", "blue", "grey", "green", "gold", "light blue")


def said(text: str) -> Turn:
    return Turn(Message(text, AT, 0), Reply("Okay."), "tell", "colours/0")


def rungs(
    expect: Matcher, question: str = "Which colour do I like now?", whole: str = ""
) -> tuple[dict[str, Rung], dict[str, str]]:
    example = make_plan(Request("goldfish", "2k", scenarios=["colours"], examples=1), {}).examples[0]
    told = [said("I like light blue."), said("The ferry was late."), said("Make that red, please!")]
    found, lacking = rungs_of(example, Ask(question, expect), Message(question, AT, 7), told, whole=whole)
    return {rung.name: rung for rung in found}, lacking


def test_again_is_the_same_message_and_the_others_bring_more_and_more() -> None:
    found, lacking = rungs(names_only("red", among=COLOURS, stale=("light blue",)))
    assert [*found] == ["again", "cued", "recognised", "retold"]
    assert not lacking
    assert found["again"].message == Message("Which colour do I like now?", AT, 7)
    assert all(rung.message.text.count("Which colour do I like now?") == 1 for rung in found.values())
    told = found["retold"].message.text
    assert told.index("light blue") < told.index("ferry") < told.index("red, please") < told.index("Which")


def test_a_cue_is_what_else_was_said_where_an_answer_was_named_and_no_answer() -> None:
    cue = rungs(names_only("red", among=COLOURS))[0]["cued"].message.text
    assert "I like …." in cue
    assert "Make that …, please!" in cue
    assert "ferry" not in cue
    assert not any(colour in cue for colour in ("red", "blue"))


def test_a_choice_offers_the_answer_first_what_was_told_and_then_others() -> None:
    rung = rungs(names_only("red", among=COLOURS, stale=("light blue",)))[0]["recognised"]
    offered = [line[2:] for line in rung.message.text.splitlines() if line.startswith("- ")]
    assert {"red", "light blue"} < {*offered} < {*COLOURS}
    assert len(offered) == rung.choices == MOST_OPTIONS
    assert rungs(names_only("red", among=("red", "blue")))[0]["recognised"].choices == 2


def test_whole_replies_are_offered_where_the_answer_is_no_single_word() -> None:
    rung = rungs(lists_all(["red", "blue"], among=COLOURS))[0]["recognised"]
    assert "- [" in rung.message.text
    assert rung.choices > 1


@pytest.mark.parametrize(
    ("expect", "question", "why"),
    [
        (picks(2, of=3), "Option 1: red. Option 2: blue. Option 3: grey. Which one?", "a choice already"),
        (names_only("red", among=("red", "blue")), "Is it red or blue?", "a choice already"),
        (names_only("red", among=("red",)), "Which is it?", "no wrong answer is like"),
        (locomo_answer("mental health", "4"), "What was the race for?", "its set names no wrong answers"),
        (newest_fact(["India"]), "Where was rugby created?", "its set names no wrong answers"),
        (answers("in the boathouse"), "Where are the oars?", "its set names no wrong answers"),
    ],
)
def test_where_nothing_can_be_recognised_it_is_said_why(expect: Matcher, question: str, why: str) -> None:
    found, lacking = rungs(expect, question)
    assert "recognised" not in found
    assert why in lacking["recognised"]


def test_where_a_key_does_not_say_what_else_could_be_the_answer_there_is_no_cue_and_that_is_said() -> None:
    lacking = rungs(locomo_answer("red", "4"))[1]
    assert lacking["cued"] == "nothing says which words could be the answer"
    assert "holds no answer" in rungs(names_only("teal", among=("teal", "ochre")))[1]["cued"]


def test_what_one_message_cannot_tell_is_neither_cued_nor_retold() -> None:
    found, lacking = rungs(names_only("red", among=COLOURS), whole="it has two users")
    assert [*found] == ["again", "recognised"]
    assert lacking == {"cued": "it has two users", "retold": "it has two users"}


@pytest.mark.parametrize(
    ("expect", "reply", "missed"),
    [
        (names_only("red", among=COLOURS, stale=("blue",)), "It is grey.", True),
        (names_only("red", among=COLOURS, stale=("blue",)), "It is blue.", True),
        (names_only("red", among=COLOURS), "I do not know.", True),
        (names_only("red", among=COLOURS), "", True),
        (names_only("red", among=COLOURS), "It is red.", False),
        (names_only("red", among=COLOURS), "It is either red or blue.", False),  # undecided
        (never_said(COLOURS), "It is red.", False),  # restraint is right
    ],
)
def test_missed_is_what_should_have_been_remembered_and_is_surely_not_right(
    expect: Matcher, reply: str, missed: bool
) -> None:
    verdict = expect.verdict(reply, ())
    assert verdict.outcome is not Outcome.LEAKED
    assert is_missed(expect, verdict, ()) is missed


def questions(suite: str) -> Iterator[tuple[Example, LoggedLine, list[Turn], str]]:
    plan = make_plan(Request("goldfish", "8k", suite=suite, examples=2), {})
    for example in plan.examples:
        lines, heard = rehearsed(example, plan), list[Turn]()
        for each in lines:
            if isinstance(each.line, Ask) and not unfit("blind", lines):
                yield example, each, [*heard], unfit("evidence", lines)
            heard.append(Turn(each.sent.said, each.reply, each.sent.kind, example.id))


@pytest.mark.parametrize("suite", ["standard", "abilities"])
def test_in_every_scenario_a_cue_tells_no_answer_and_a_choice_has_one_right_answer(suite: str) -> None:
    cued = recognised = 0
    for example, asked, heard, whole in questions(suite):
        assert isinstance(asked.line, Ask)
        expect = asked.line.expect
        found, lacking = rungs_of(example, asked.line, asked.sent.said, heard, whole=whole)
        assert {rung.name for rung in found} | {*lacking} == {"again", "cued", "recognised", "retold"}
        for rung in found:
            text = rung.message.text.replace(asked.sent.message, "")
            if rung.name == "cued" and isinstance(expect, DoubtingMatcher):
                cued += 1
                assert not any(f" {name} " in f" {text} " for name in expect.sought()), text
            if rung.name == "recognised":
                recognised += 1
                assert not isinstance(expect, Picks)
                offered = text.split("\n\n", 1)[1].split("\n- ")
                assert len(offered) > rung.choices > 1
                turns = [*heard, Turn(rung.message, Reply(""), "ask", example.id)]
                right = expect.sought() if isinstance(expect, DoubtingMatcher) and expect.single else ()
                assert expect.verdict((*right, expect.right()[0])[0], turns).score == 1
    assert cued > 5
    assert recognised > 10
