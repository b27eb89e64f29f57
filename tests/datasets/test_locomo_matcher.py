"""`locomo_answer`, reply by reply."""

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.locomo.matcher import locomo_answer

TABLE = [
    ("7 May 2023", "2", "official", "7 May 2023", Outcome.CORRECT, 1.0),
    ("7 May 2023", "2", "official", "It was on 7 May", Outcome.PARTIAL, 0.5),
    ("7 May 2023", "2", "strict", "It was on May 7, 2023, I think", Outcome.CORRECT, 1.0),
    ("7 May 2023", "2", "strict", "It was on 8 May 2023", Outcome.WRONG, 0.0),
    ("pears, plums", "1", "strict", "pears", Outcome.PARTIAL, 0.5),
    ("yes; surely", "3", "official", "yes", Outcome.CORRECT, 1.0),
    ("x", "5", "official", "That is not mentioned.", Outcome.CORRECT, 1.0),
    ("x", "5", "official", "I don't know.", Outcome.ABSTAINED, 0.0),
    ("x", "5", "strict", "I don't know.", Outcome.CORRECT, 1.0),
    ("pears", "4", "official", "I don't know.", Outcome.ABSTAINED, 0.0),
    ("pears", "4", "official", "Stones", Outcome.WRONG, 0.0),
    ("pears", "4", "official", " ", Outcome.MALFORMED, 0.0),
]


@pytest.mark.parametrize(("gold", "category", "mode", "reply", "outcome", "score"), TABLE)
def test_a_reply_gets_the_published_score(
    gold: str, category: str, mode: str, reply: str, outcome: Outcome, score: float
) -> None:
    verdict = locomo_answer(gold, category, mode=mode).verdict(reply, ())
    assert verdict.outcome is outcome
    assert verdict.score == pytest.approx(score, abs=0.15)


CHOICE = ("the lighthouse", "Not mentioned in the conversation.")


@pytest.mark.parametrize(
    ("reply", "official", "strict"),
    [
        ("(b)", 1.0, 1.0),
        (" B ", 1.0, 1.0),
        ("a", 0.0, 0.0),
        ("(a)", 0.0, 0.0),
        ("It is not mentioned", 1.0, 1.0),
        ("(b).", 0.0, 0.0),  # the published program reads one and three characters as a letter, and no others
        ("The lighthouse", 0.0, 0.0),
        ("I do not know.", 0.0, 1.0),
        ("(a) the lighthouse (b) Not mentioned in the conversation.", 1.0, 0.0),
    ],
)
def test_a_choice_is_read_as_in_the_published_program(reply: str, official: float, strict: float) -> None:
    matcher = locomo_answer(CHOICE[1], "5", options=CHOICE)
    assert matcher.scores(reply) == {"official": official, "strict": strict}
    assert matcher.verdict(reply, ()).score == official
    assert matcher.chance == 0.5


def test_without_options_category_5_has_no_official_score() -> None:
    open_form = locomo_answer(CHOICE[1], "5", mode="open")
    assert open_form.scores("Not mentioned.") == {"open": 1.0, "strict": 1.0}
    assert open_form.chance == 0.0
