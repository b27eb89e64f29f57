"""Table: what a count earns."""

import pytest

from ltm_bench import tallies
from ltm_bench.core.messages import Outcome

EXPECT = tallies(12)
TABLE = [
    ("12", 1.0, "the number"),
    ("Twelve.", 1.0, "in words"),
    ("You have told me of 12 wrens.", 1.0, "in a sentence"),
    ("March: 5, April: 7. In all: 12.", 1.0, "added up"),
    ("5 + 7 = 12", 1.0, "a sum"),
    ("You saw 12 wrens: 5 in March and 7 in April.", 1.0, "the total first, then its parts"),
    ("There were 12 wrens on 20 pages.", 1.0, "on how many pages"),
    ("Over all 20 pages I counted twelve.", 1.0, "on how many pages, before it"),
    ("12, so more than 11.", 1.0, "a bound beside it"),
    ("Between 10 and 12.", 0.0, "a range"),
    ("10 to 12", 0.0, "a range in short"),
    ("More than 11.", 0.0, "a bound"),
    ("At least twelve.", 0.0, "a bound in words"),
    ("You went from 2 to 12.", 1.0, "from and to"),
    ("I count 12 - 5 for the cat, 7 for the rest.", 1.0, "a dash between clauses"),
    ("On 12 of 30 pages.", 1.0, "a part of so many"),
    ("12 out of the 30 pages.", 1.0, "a part of so many, in other words"),
    ("Of 30 messages, in 12 messages.", 1.0, "of so many, before it"),
    ("10-12", 0.0, "a range with a hyphen"),
    ("Roughly 12, I'd say.", 1.0, "an estimate that is right"),
    ("About 13", 0.0, "an estimate that is not"),
    ("~11", 0.0, "an estimate with a sign"),
    ("11 or so", 0.0, "an estimate, said after it"),
    ("In March 5, in April 7, which adds up to 12.", 1.0, "a sum in words is no bound"),
    ("11", 0.75, "one too few"),
    ("13 wrens", 0.75, "one too many"),
    ("14", 0.5625, "two too many"),
    ("22", 0.75**10, "ten too many"),
    ("23", 0.0, "so far off that nothing is left"),
    ("I have lost count.", 0.0, "does not know"),
    ("Many.", 0.0, "no number"),
    ("", 0.0, "nothing"),
]


@pytest.mark.parametrize(("reply", "score", "why"), TABLE, ids=[why for *_, why in TABLE])
def test_a_count_earns_less_the_further_off_it_is(reply: str, score: float, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.score == pytest.approx(score, abs=1e-6), verdict.reason


def test_a_reply_without_a_count_is_abstained_or_malformed() -> None:
    assert EXPECT.verdict("I have lost count.", []).outcome is Outcome.ABSTAINED
    assert EXPECT.verdict("Many.", []).outcome is Outcome.MALFORMED
    assert EXPECT.verdict("Between 10 and 15.", []).outcome is Outcome.WRONG


def test_guessing_earns_less_the_more_there_is_to_count() -> None:
    assert tallies(2).chance > tallies(12).chance > tallies(40).chance > 0
