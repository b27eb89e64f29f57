from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench import Finish, Matcher, Message, Outcome, Reply, Turn, Verdict, item_counts, names_only, picks
from ltm_bench.matchers.choices import Picks
from ltm_bench.matchers.lists import lists_all
from ltm_bench.score.audits.verdicts import MOST_WORDS, decisive, verdict_on
from ltm_bench.score.results.examples import ExampleResult, Question
from ltm_bench.score.results.headline import example_score, summarise_scenario
from ltm_bench.score.results.scoring import derived

EXPECT = names_only("red", among=("red", "blue"))


def question(outcome: Outcome, score: float | None) -> Question:
    return Question(
        turn=1, text="", expected="", reply="", verdict=Verdict(outcome, score, "r"), scorer="", chance=0.5,
        position=9, at=None,
    )  # fmt: skip


def example(index: int, *scores: float | None) -> ExampleResult:
    asked = [question(Outcome.AGENT_ERROR if s is None else Outcome.PARTIAL, s) for s in scores]
    return ExampleResult(
        id=f"x/{index}",
        scenario="x",
        score=example_score(asked),
        span=1,
        overrun=0,
        needles=[],
        questions=asked,
    )


@dataclass(frozen=True, slots=True)
class Fails(Matcher):
    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        raise KeyError(reply)

    def right(self) -> Sequence[str]:
        return ()

    def wrong(self) -> Sequence[str]:
        return ()


@pytest.mark.parametrize(
    ("reply", "outcome", "score"),
    [
        (Reply("Red."), Outcome.CORRECT, 1.0),
        (Reply("Red.", finish=Finish.LENGTH), Outcome.CORRECT, 1.0),
        (Reply("Red.", finish=Finish.OVERFLOW), Outcome.OVERFLOW, 0.0),
        (Reply("", finish=Finish.OVERFLOW), Outcome.OVERFLOW, 0.0),
        (Reply("I can't help with that.", finish=Finish.REFUSAL), Outcome.ABSTAINED, 0.0),
    ],
)
def test_how_a_reply_finished_takes_precedence_over_what_it_says(
    reply: Reply, outcome: Outcome, score: float
) -> None:
    verdict = verdict_on(EXPECT, reply, [])
    assert (verdict.outcome, verdict.score) == (outcome, score)


def test_a_matcher_that_fails_is_a_scoring_error_and_not_a_wrong_answer() -> None:
    verdict = verdict_on(Fails(), Reply("x"), [])
    assert (verdict.outcome, verdict.score) == (Outcome.JUDGE_ERROR, None)
    assert "Fails failed: KeyError: 'x'" in verdict.reason


def test_scores_are_means_of_means() -> None:
    assert example_score([question(Outcome.CORRECT, 1.0), question(Outcome.PARTIAL, 0.5)]) == 0.75
    result = summarise_scenario("x", "", (), [example(0, 1.0, 0.5), example(1, 0.25)])
    assert result.score == pytest.approx(0.5)
    assert result.n == 2
    assert result.chance == 0.5


def test_unscorable_examples_leave_no_score_and_are_not_dropped() -> None:
    assert example_score([question(Outcome.CORRECT, 1.0), question(Outcome.AGENT_ERROR, None)]) is None
    result = summarise_scenario("x", "", (), [example(0, 1.0), example(1, None)])
    assert result.score is None
    assert result.score_so_far == 1.0
    assert result.n == 2
    assert result.outcomes[Outcome.AGENT_ERROR] == 1


def test_an_example_that_is_one_token_too_long_has_overrun() -> None:
    examples = [replace(example(0, 1.0), overrun=1), example(1, 1.0)]
    assert derived([summarise_scenario("x", "", (), examples)], examples)["overruns"] == 1


def decided_by(expect: Matcher, said: str) -> list[str]:
    reply = Reply(said)
    turns = [Turn(Message("Which colour?", datetime(2026, 1, 5, tzinfo=UTC), 0), reply)]
    places = decisive(expect, reply, turns, verdict_on(expect, reply, turns))
    return [said[start:stop] for start, stop in places]


@pytest.mark.parametrize(
    ("expect", "said", "words"),
    [
        (EXPECT, "As I recall it is red, isn't it", ["red"]),
        (EXPECT, "It is blue.", ["blue"]),
        (EXPECT, "It is not red.", ["not", "red"]),
        (EXPECT, "Red. I say red, RED!", ["Red", "red", "RED"]),
        (EXPECT, "I do not know.", ["not", "know"]),
        (EXPECT, "", []),
        (EXPECT, "red " + " ".join(f"w{i}" for i in range(MOST_WORDS)), []),
        (EXPECT, "red " + " ".join(f"w{i}" for i in range(MOST_WORDS - 1)), ["red"]),
        (EXPECT, " ".join(f"w{i}" for i in range(40)) + " so it is not red.", ["not", "red"]),
        (picks(2, of=4), "Option 1 is out, since nobody dies. My answer is 2.", ["out", "2"]),
        (item_counts({"milk": 2}, among=("milk", "figs")), '{"milk": 2, "hay": 1}', ["milk", "2", "hay", "1"]),
        (lists_all(["kiwi", "fig"], among=("kiwi", "fig", "plum")), "kiwi, fig, please", ["kiwi", "fig"]),
        (Fails(), "whatever", []),
    ],
)  # fmt: skip
def test_decisive_words_are_those_without_which_the_verdict_changes(
    expect: Matcher, said: str, words: list[str]
) -> None:
    assert decided_by(expect, said) == words


def test_a_verbose_reply_is_judged_less_often_than_it_has_words() -> None:
    class Counted(Picks):
        read = 0

        def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
            Counted.read += 1
            return super().verdict(reply, turns)

    said = "My answer is 2. " + " ".join(f"w{i}" for i in range(70))
    expect = Counted(2, 4)
    reply = Reply(said)
    turns = [Turn(Message("Which one?", datetime(2026, 1, 5, tzinfo=UTC), 0), reply)]
    places = decisive(expect, reply, turns, verdict_on(expect, reply, turns))
    assert [said[start:stop] for start, stop in places] == ["2"]
    assert Counted.read < 30


@given(st.text(max_size=200))
def test_decisive_places_are_words_of_the_reply_in_order(said: str) -> None:
    reply = Reply(said)
    turns = [Turn(Message("Which colour?", datetime(2026, 1, 5, tzinfo=UTC), 0), reply)]
    places = decisive(EXPECT, reply, turns, verdict_on(EXPECT, reply, turns))
    assert list(places) == sorted(places)
    ends = [0, *(stop for _, stop in places)]
    assert all(end <= start < stop <= len(said) for end, (start, stop) in zip(ends, places, strict=False))
