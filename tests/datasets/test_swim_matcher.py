"""Table: which replies give the answer, and which say that there is none."""

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.swim.matcher import answers, declines, says_absent


@pytest.mark.parametrize(
    "text",
    ["I don't know.", "The documents do not say.", "That is not stated in the text.", "文中没有提到这一点。",
     "无法确定", "There is nothing in them about that.", "The provided documents don't contain that.", "不知道"],
)  # fmt: skip
def test_absence_is_recognised_in_english_and_chinese(text: str) -> None:
    assert says_absent(text)


@pytest.mark.parametrize(
    "text", ["In Graz.", "The nothing king", "He said yes.", "在格拉茨。", "It is Mr. Knott"]
)
def test_an_answer_is_not_taken_for_an_absence(text: str) -> None:
    assert not says_absent(text)


@pytest.mark.parametrize(
    ("expected", "reply", "outcome"),
    [
        ("the tuning fork", "He left his tuning fork.", Outcome.CORRECT),
        ("nineteen", "Nineteen years.", Outcome.CORRECT),
        ("nineteen", "19", Outcome.UNDECIDED),  # left to a judge
        ("Graz", "Not in Graz, I don't know", Outcome.UNDECIDED),
        ("Graz", "grazing", Outcome.UNDECIDED),
        ("Graz", "I do not know.", Outcome.ABSTAINED),
        ("Graz", " ", Outcome.MALFORMED),
        ("Graz", "word " * 100 + "Graz", Outcome.UNDECIDED),
        ("两个人", "一共有两个人。", Outcome.CORRECT),
        ("两个人", "文中没有提到。", Outcome.ABSTAINED),
        ("Cooper's Lane", "It lies in Cooper’s Lane", Outcome.CORRECT),
    ],
)
def test_an_answer_is_found_word_by_word_or_left_to_a_judge(
    expected: str, reply: str, outcome: Outcome
) -> None:
    assert answers(expected).verdict(reply, ()).outcome is outcome


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("The documents do not say.", Outcome.CORRECT),
        ("Graz", Outcome.WRONG),
        ("Vienna", Outcome.WRONG),
        ("", Outcome.MALFORMED),
    ],
)
def test_what_was_left_out_must_not_be_invented(reply: str, outcome: Outcome) -> None:
    assert declines("Graz").verdict(reply, ()).outcome is outcome
