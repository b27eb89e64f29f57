"""Raters: how far two people who read the same replies agree, and whose verdict counts if they do not."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.score.audits.judgements import Override, append, overrides, ratings, settle
from ltm_bench.score.audits.raters import agreement, agreements, kappa
from ltm_bench.score.audits.records import AuditReading, read_records, write_down


def says(reviewer: str, outcome: Outcome, *, turn: int = 1, reply: str = "a") -> Override:
    return Override(
        example="colours/0",
        turn=turn,
        reply=reply,
        outcome=outcome,
        score=float(outcome is Outcome.CORRECT),
        reviewer=reviewer,
        reason="so",
        was=Outcome.UNDECIDED,
        was_score=0.0,
    )


RIGHT, WRONG, STALE = Outcome.CORRECT, Outcome.WRONG, Outcome.STALE


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ([says("Ada", RIGHT)], ("Ada", RIGHT)),
        ([says("Ada", RIGHT), says("Ben", RIGHT)], ("Ben", RIGHT)),
        ([says("Ada", RIGHT), says("Ben", WRONG)], None),
        ([says("Ada", RIGHT), says("Ben", WRONG), says("Cleo", STALE)], ("Cleo", STALE)),
        ([says("Ada", RIGHT), says("Ben", WRONG), says("Cleo", RIGHT)], ("Cleo", RIGHT)),
        ([says("Ada", RIGHT, reply="old"), says("Ben", WRONG)], ("Ben", WRONG)),
    ],
)
def test_the_majority_of_reviewers_decides_and_two_who_differ_decide_nothing(
    said: Sequence[Override], counts: tuple[str, Outcome] | None
) -> None:
    found = settle(said)
    assert (None if found is None else (found.reviewer, found.outcome)) == counts


def test_a_reviewer_who_changes_their_mind_has_one_vote(tmp_path: Path) -> None:
    append(tmp_path, [says("Ada", RIGHT), says("Ben", WRONG), says("Ada", WRONG)])
    assert list(ratings(tmp_path)["colours/0", 1]) == ["Ben", "Ada"]
    assert overrides(ratings(tmp_path))["colours/0", 1].outcome is WRONG


def test_kappa_is_the_textbooks() -> None:
    # Cohen's table of 20, 5, 10 and 15: 0.7 agreement, 0.5 by chance.
    assert kappa(0.7, 0.5, 0.6) == pytest.approx(0.4)
    assert kappa(1.0, 0.3, 0.3) == pytest.approx(1.0)
    assert kappa(1.0, 1.0, 1.0) is None


def test_reviewers_are_compared_with_reviewers_and_auditors_with_auditors(tmp_path: Path) -> None:
    append(tmp_path, [says("Ada", RIGHT, turn=t) for t in range(4)])
    append(tmp_path, [says("Ben", RIGHT if t else WRONG, turn=t) for t in range(3)])
    for name in ("Ada", "Cleo"):
        write_down(
            tmp_path,
            [
                AuditReading(
                    auditor=name,
                    key="",
                    example="jokes/0",
                    turn=t,
                    reply="b",
                    outcome=RIGHT if t else WRONG,
                    reason="",
                )
                for t in range(5)
            ],
        )
    review, audit = agreements(ratings(tmp_path), read_records(tmp_path))
    assert (review.of, review.first, review.second) == ("review", "Ada", "Ben")
    assert (review.read, review.alike, review.apart) == (3, 2, (("colours/0", 0),))
    assert review.kappa == pytest.approx(0)
    assert (audit.of, audit.read, audit.alike, audit.kappa) == ("audit", 5, 5, 1.0)
    assert audit.interval is not None
    assert audit.interval.low < 0.6  # five agreements say little
    assert audit.headline == "Ada and Cleo read the same 5 replies (audit), 5 alike; κ = 1.00 (-0.36 – 1.00)"


def test_readings_of_another_reply_are_not_compared(tmp_path: Path) -> None:
    append(tmp_path, [says("Ada", RIGHT, reply="one"), says("Ben", RIGHT, reply="other")])
    assert agreements(ratings(tmp_path), read_records(tmp_path)) == []


def test_raters_who_call_everything_right_have_no_kappa() -> None:
    both = {("colours/0", t, "a"): True for t in range(9)}
    found = agreement("review", ("Ada", both), ("Ben", both))
    assert (found.kappa, found.interval) == (None, None)
    assert found.headline.endswith("9 alike; κ is undefined if both say the same about everything")


@pytest.mark.parametrize("true", [0.6, 0.8, 0.9])
@pytest.mark.parametrize("n", [60, 200])
def test_the_interval_of_kappa_holds_the_truth_about_as_often_as_it_says(true: float, n: int) -> None:
    luck, rounds, held = random.Random(f"{true}/{n}"), 400, 0
    alike = 0.5 + true / 2  # each calls half of the replies right
    for _ in range(rounds):
        ours = [luck.random() < 0.5 for _ in range(n)]
        theirs = [said if luck.random() < alike else not said for said in ours]
        reads = [{("e", t, "r"): said for t, said in enumerate(whose)} for whose in (ours, theirs)]
        found = agreement("audit", ("a", reads[0]), ("b", reads[1])).interval
        held += found is not None and found.holds(true)
    assert 0.92 <= held / rounds <= 0.985, held / rounds
