"""Table: stars are scored as in Counting-Stars."""

import pytest

from ltm_bench import star_counts
from ltm_bench.core.messages import Outcome

EXPECT = star_counts([15, 4, 29, 22])
TABLE = [
    ('{"counts": [15, 4, 29, 22]}', 1.0, "as asked"),
    ("[22, 29, 4, 15]", 1.0, "order does not matter"),
    ('```json\n{"little_hedgehog": ["15", "4", "29", "22"]}\n```', 1.0, "strings in a fence, another key"),
    ("The counts were 15, 4, 29 and 22.", 1.0, "prose"),
    ('{"first": 15, "second": 4, "third": 29, "fourth": 22}', 1.0, "a mapping"),
    ('[{"star": 1, "count": 15}, {"star": 2, "count": 4}, {"star": 3, "count": 29}, {"star": 4, "count": 22}]', 1.0, "numbered objects"),
    ("{'counts': [15, 4, 29, 22,]}", 1.0, "a comma too many"),
    ("[15, 4, 29]", 0.75, "one missing"),
    ("[15, 4, 4, 4]", 0.5, "repeated ones count once"),
    ("[1, 2, 3, 5, 15, 4, 29, 22]", 0.0, "cut to as many as there are stars"),
    ("[15, 16, 17, 18]", 0.25, "neighbours are wrong"),
    ("[70]", 0.0, "their sum"),
    ("[154, 29.5, 2922]", 0.0, "digits within other numbers"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "score", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_each_star_is_found_or_not(reply: str, score: float, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.score == pytest.approx(score), verdict.reason
    assert verdict.outcome is (Outcome.CORRECT if score == 1 else Outcome.PARTIAL if score else Outcome.WRONG)
    assert len(verdict.parts) == 4


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ("[10, 20]", (1.0, 1.0)),
        ("[10, 11]", (0.5, 0.0)),
        ("[11, 20]", (0.0, 1.0)),
        ("[11, 19]", (0.0, 0.0)),
        ("[7, 8]", (0.0, 0.0)),
    ],
)
def test_a_corrected_count_is_worth_more_than_the_mistake(reply: str, parts: tuple[float, ...]) -> None:
    assert star_counts([10, 20], mistaken=[11, 19]).verdict(reply, []).parts == parts


def test_only_mistakes_are_stale() -> None:
    assert star_counts([10, 20], mistaken=[11, 19]).verdict("[11, 19]", []).outcome is Outcome.STALE


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [("", Outcome.MALFORMED), ("I do not know.", Outcome.ABSTAINED), ("[]", Outcome.ABSTAINED), ("many", Outcome.MALFORMED)],
)  # fmt: skip
def test_a_reply_without_numbers_is_not_called_wrong(reply: str, outcome: Outcome) -> None:
    assert EXPECT.verdict(reply, []).outcome is outcome
