"""What a person should read before a run begins."""

import pytest

from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request


@pytest.mark.parametrize(
    ("scenario", "examples", "noted"), [("colours", 15, ()), ("colours", 16, (15,)), ("forget_me", 5, ())]
)
def test_a_deck_that_runs_out_is_noted_unless_the_scenario_says_what_no_longer_counts(
    scenario: str, examples: int, noted: tuple[int, ...]
) -> None:
    request = Request(agent="goldfish", span="32k", scenarios=(scenario,), examples=examples)
    said = [
        f"{scenario}: the deck 'colour' runs out, so its items come back from example {first} on."
        for first in noted
    ]
    assert list(make_plan(request).notes) == said
    assert make_plan(Request(**{**vars(request), "isolated": True})).notes == ()
