"""Table: what an order earns."""

import pytest

from ltm_bench import in_order
from ltm_bench.core.messages import Outcome
from ltm_bench.matchers.sequence import f1, tau_b

AMONG = ("roof", "stove", "well", "gate", "fence", "attic", "drain", "porch")
EXPECT = in_order(["well", "roof", "stove", "gate", "fence"], among=AMONG)
TABLE = [
    ('["well", "roof", "stove", "gate", "fence"]', 1.0, "as JSON"),
    ('["the well", "the roof", "the stove", "the gate", "the fence"]', 1.0, "with articles"),
    ("""{"answer": "['well', 'roof', 'stove', 'gate', 'fence']"}""", 1.0, "Python's list in a string"),
    ("1. The well\n2. The roof\n3. The stove\n4. The gate\n5. The fence", 1.0, "a numbered list"),
    ("well → roof → stove → gate → fence", 1.0, "arrows"),
    ("First the well, then the roof, the stove, the gate and finally the fence.", 1.0, "a sentence"),
    ("roof, well, stove, gate, fence", 0.8, "two neighbours swapped: 9 of 10 pairs agree"),
    ('["fence", "gate", "stove", "roof", "well"]', 0.0, "turned round"),
    ('["gate", "roof", "well", "fence", "stove"]', 0.0, "no better than chance"),
    ('["well", "roof", "stove", "gate"]', 8 / 9, "the last one is missing, which ties with nothing"),
    ("[]", 0.0, "an empty list"),
    ("I do not know.", 0.0, "does not know"),
    ("", 0.0, "nothing"),
]


@pytest.mark.parametrize(("reply", "score", "why"), TABLE, ids=[why for *_, why in TABLE])
def test_an_order_earns_tau_times_f1(reply: str, score: float, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.score == pytest.approx(score, abs=0.002), verdict.reason


def test_a_sentence_that_may_reverse_the_order_is_undecided() -> None:
    reply = "The roof came after the well, and before the stove; last came the fence, before it the gate."
    assert EXPECT.verdict(reply, []).outcome is Outcome.UNDECIDED


def test_every_candidate_earns_little() -> None:
    assert (EXPECT.verdict(", ".join(sorted(AMONG)), []).score or 0) < 0.5


def test_tau_and_f1_agree_with_reference_values() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    for said in ("abcde", "badce", "edcba", "abc", "axbyc"):
        union = list(dict.fromkeys([*"abcde", *said]))
        ranks = [[o.index(v) if v in o else len(union) + 1 for v in union] for o in ("abcde", said)]
        assert tau_b("abcde", said) == pytest.approx(scipy_stats.kendalltau(*ranks).statistic)
    assert f1("abcde", "abc") == pytest.approx(2 * 1 * 0.6 / 1.6)
