"""Cases with known verdicts come from the scenarios' own answers, are reproducible, and cover every kind."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest

from ltm_bench.judge.calibration import REPEATED, repeated
from ltm_bench.judge.rubric import Case, Earlier, prompt
from ltm_bench.judge.trials import KINDS, Trial, trials

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))


@cache
def cases(count: int) -> Sequence[Trial]:
    """Return that many cases. Fewer are the first of more, which a test below shows."""
    return trials(300)[:count]


def test_cases_are_reproducible_and_nearly_half_of_them_are_right() -> None:
    composed = cases(300)
    assert composed == trials(300)
    assert composed[:40] == trials(40)
    assert len(composed) == 300
    assert 0.4 < sum(trial.right for trial in composed) / 300 < 0.6
    counts = Counter(trial.kind for trial in composed)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 10


def test_every_case_shows_what_was_told_before_the_question() -> None:
    for trial in cases(120):
        assert trial.case.told
        assert all(turn.at and turn.user for turn in trial.case.told)
        assert trial.case.question not in [turn.user for turn in trial.case.told]


def test_only_a_wrong_key_differs_from_the_right_answer() -> None:
    keys: dict[str, set[str]] = {}
    for trial in cases(120):
        keys.setdefault(trial.kind, set()).add(trial.case.expected)
    right = keys["right"]
    assert all(
        found <= right for kind, found in keys.items() if "wrong key" not in kind and "the key" not in kind
    )
    for trial in cases(120):
        if trial.kind == "agrees with a wrong key":
            assert trial.case.reply == trial.case.expected
        if trial.kind == "right, the key is wrong":
            assert trial.case.reply != trial.case.expected


def test_vague_replies_name_no_answer() -> None:
    for trial in cases(200):
        if trial.kind == "vague":
            answer = trial.case.expected.removeprefix("It is ").strip(".")
            assert answer not in trial.case.reply


def test_repeats_are_spread_over_kinds_and_scenarios() -> None:
    again = repeated(cases(300))
    assert len(again) <= REPEATED
    assert len({trial.kind for trial in again}) >= 8
    assert len({trial.case.question for trial in again}) >= 10


def test_long_conversations_are_shortened_for_a_judge() -> None:
    turns = tuple(Earlier("now", f"{i} " + "word " * 10_000) for i in range(30))
    text = prompt(Case("q", "r", "a", turns))
    assert len(text) < 25_000
    assert all(f'"{i} word' in text for i in range(30))
