"""Which verdicts are audited, how they are weighted, and how often the interval contains the truth."""

from collections import Counter

import numpy as np
import pytest
from pydantic import TypeAdapter

from ltm_bench.core.messages import Outcome
from ltm_bench.score.audits.auditing import Confident, audit, draw
from ltm_bench.score.audits.correction import Measured
from ltm_bench.score.audits.judgements import reply_hash
from ltm_bench.score.audits.records import Audit, AuditReading, Commission, Records
from ltm_bench.score.results.examples import ExampleResult, Question
from ltm_bench.score.results.remarks import confident


def verdict(example: str, outcome: Outcome, reply: str | None = "r", **changes: object) -> Question:
    return TypeAdapter(Question).validate_python(
        {
            "turn": 3,
            "text": "q",
            "expected": "e",
            "reply": reply,
            "outcome": outcome,
            "score": None if outcome.infrastructure else float(outcome is Outcome.CORRECT),
            "reason": f"{example} is {outcome.value}",
            "scorer": "s@1",
            "chance": 0.0,
            "position": 0,
            "at": None,
            **changes,
        }
    )


def many(**outcomes: dict[Outcome, int]) -> list[Confident]:
    found = []
    for scenario, counts in outcomes.items():
        kinds = [outcome for outcome, count in counts.items() for _ in range(count)]
        found += [Confident(f"{scenario}/{i}", 3, "q", "e", "r", kind, "") for i, kind in enumerate(kinds)]
    return found


def read(verdicts: list[Confident], said: dict[str, Outcome], measured: Measured | None = None) -> Audit:
    """Return an audit whose auditor has read these examples."""
    known = Records()
    for name, outcome in said.items():
        known.readings["Ada", "", name, 3] = AuditReading(
            auditor="Ada", key="", example=name, turn=3, reply=reply_hash("r"), outcome=outcome, reason=""
        )
    return audit(verdicts, Commission(auditor="Ada", key="", sample=999, seed=0, measured=measured), known)


C, W, S, A = Outcome.CORRECT, Outcome.WRONG, Outcome.STALE, Outcome.ABSTAINED


def test_only_confident_verdicts_of_matchers_are_audited() -> None:
    questions = [
        verdict("x/0", C),
        verdict("x/0", W),
        verdict("x/0", Outcome.UNDECIDED),
        verdict("x/0", C, matched=Outcome.UNDECIDED),  # a judge has decided
        verdict("x/0", C, matched=W),  # a person has overruled the matcher
        verdict("x/0", Outcome.OVERFLOW),
        verdict("x/0", Outcome.AGENT_ERROR, reply=None),
        verdict("x/0", Outcome.JUDGE_ERROR),
        verdict("x/0", Outcome.NOT_REACHED, reply=None, turn=None),
    ]
    example = ExampleResult(
        id="x/0", scenario="x", score=None, span=0, overrun=0, needles=[], questions=questions
    )
    assert [each.outcome for each in confident([example])] == [C, W, W]


def test_verdicts_of_readers_and_judges_are_audited_too_as_they_were_before_a_person_came() -> None:
    by_hand = {"example": "x/0", "turn": 3, "reply": reply_hash("r"), "outcome": "wrong", "score": 0,
               "reviewer": "Ada", "reason": "", "was": "correct", "was_score": 1}  # fmt: skip
    questions = [
        verdict("x/0", C, decided_by="exact form"),
        verdict("x/0", C, decided_by="blind reader", matched=W),
        verdict("x/0", A, decided_by="judge", matched=Outcome.UNDECIDED),
        verdict("x/0", W, decided_by="person", overruled="blind reader", override=by_hand, matched=W),
        verdict("x/0", W, decided_by="person", override=by_hand, matched=Outcome.UNDECIDED),
    ]
    example = ExampleResult(
        id="x/0", scenario="x", score=None, span=0, overrun=0, needles=[], questions=questions
    )
    assert [(each.outcome, each.by) for each in confident([example])] == [
        (C, "exact form"), (C, "blind reader"), (A, "judge"), (C, "blind reader"),
    ]  # fmt: skip


def test_each_kind_of_decision_has_its_own_rate() -> None:
    verdicts = [
        each._replace(by=by)
        for by, of in (("exact form", many(x={C: 30})), ("blind reader", many(y={C: 10})))
        for each in of
    ]
    said = {each.example: W if each.example in ("y/0", "y/1") else C for each in verdicts}
    found = read(verdicts, said)
    assert {name: (rate.read, rate.contradicted, rate.error) for name, rate in found.deciders.items()} == {
        "exact form": (30, 0, 0.0),
        "blind reader": (10, 2, pytest.approx(0.2)),
    }
    exact, blind = (found.deciders[name].interval for name in ("exact form", "blind reader"))
    assert exact is not None
    assert blind is not None
    assert exact.high < 0.2 < blind.high
    assert [each.by for each in found.contradictions] == ["blind reader"] * 2


def test_a_judge_does_not_audit_verdicts_that_it_gave() -> None:
    own, others = (many(x={C: 2})[i]._replace(judges=(judge,)) for i, judge in enumerate(("Ada", "Bob")))
    assert read([own, others], {own.example: C, others.example: C}).total.verdicts == 1


def test_every_stratum_is_sampled_and_the_rest_is_in_proportion() -> None:
    verdicts = many(x={C: 500, S: 3}, y={C: 300, W: 200, A: 1})
    drawn = Counter(each.stratum for each in draw(verdicts, 100, 0))
    assert sum(drawn.values()) == 100
    assert (drawn["x", S, ""], drawn["y", A, ""]) == (1, 1)
    assert drawn["x", C, ""] == pytest.approx(49, abs=2)
    assert drawn["y", W, ""] == pytest.approx(20, abs=2)


def test_a_draw_depends_on_its_seed_alone_and_a_larger_one_holds_the_smaller() -> None:
    verdicts = many(x={C: 50, W: 20}, y={C: 30})
    names = [each.example for each in draw(verdicts, 20, 7)]
    assert names == [each.example for each in draw(verdicts[::-1], 20, 7)]
    assert names != [each.example for each in draw(verdicts, 20, 8)]
    assert set(names) < {each.example for each in draw(verdicts, 60, 7)}
    assert len(draw(verdicts, 999, 7)) == 100


def test_each_reading_counts_for_as_many_verdicts_as_it_represents() -> None:
    verdicts = many(x={C: 90, W: 10})
    found = read(verdicts, {"x/0": C, "x/1": C, "x/90": C, "x/91": W})
    assert found.total.contradicted == 1
    assert found.total.agreement == pytest.approx(0.95)  # half of the 10 wrong ones
    assert found.total.error == pytest.approx(0.05)
    assert [each.example for each in found.contradictions] == ["x/90"]


def test_an_unread_stratum_is_represented_by_its_side() -> None:
    verdicts = many(x={C: 50, S: 25, W: 25})
    found = read(verdicts, {"x/0": C, "x/50": C})  # the stale one represents the wrong ones
    assert found.total.agreement == pytest.approx(0.5)


def test_a_partly_right_reply_counts_on_the_side_of_the_wrong_ones() -> None:
    verdicts = many(x={C: 1, Outcome.PARTIAL: 1})
    assert read(verdicts, {"x/0": C, "x/1": W}).total.contradicted == 0
    assert read(verdicts, {"x/0": C, "x/1": C}).total.contradicted == 1


def test_kappa_is_cohens() -> None:
    verdicts = many(x={C: 25, W: 25})
    said = {f"x/{i}": C if i < 20 or i >= 40 else W for i in range(50)}
    assert read(verdicts, said).kappa == pytest.approx(0.4)  # 70 % agree, 50 % by chance
    assert read(many(x={C: 5}), {f"x/{i}": C for i in range(5)}).kappa is None


def test_a_reading_of_another_reply_does_not_count() -> None:
    verdicts = [Confident("x/0", 3, "q", "e", "another", C, "")]
    assert read(verdicts, {"x/0": W}).total.read == 0


@pytest.mark.slow
@pytest.mark.proof(scenarios=(), files=("perf/audits.py",))
@pytest.mark.parametrize(("error", "sample"), [(0.005, 300), (0.02, 100), (0.05, 300)])
def test_the_interval_holds_the_truth_in_93_to_97_of_100_simulated_audits(error: float, sample: int) -> None:
    """`python -m perf.audits` simulates all settings, a thousand times each."""
    perf = pytest.importorskip("perf.audits")  # left out of the source distribution
    rng = np.random.default_rng(1)
    setting = perf.Setting(error, 0.95, 0.95, 150, sample)
    found = [perf.simulate(setting, rng) for _ in range(200)]
    assert 0.93 <= sum(each.held for each in found) / len(found) <= 0.97
    assert sum(each.bare for each in found) / len(found) < 0.6  # without a correction, the judge misleads
    assert sum(each.error for each in found) / len(found) == pytest.approx(error, abs=0.012)
