"""A price belongs to one call: where long prompts are dearer, thirty short ones are not."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench import Usage
from ltm_bench.core.pricing import dollars

CALLS = st.builds(
    Usage,
    uncached=st.integers(0, 400_000),
    output=st.integers(0, 50_000),
    model=st.just("claude-sonnet-4-5"),
    provider=st.just("anthropic"),
)


@pytest.mark.parametrize(
    ("model", "provider", "price"),
    [("gpt-6-luna", "openai", "0.0315"), ("claude-sonnet-4-5", "anthropic", "0.945")],
)
def test_thirty_short_calls_are_not_priced_as_a_long_one(model: str, provider: str, price: str) -> None:
    call = Usage(uncached=10_000, output=100, model=model, provider=provider)
    assert dollars(Usage.of([call] * 30)) == 30 * (dollars(call) or 0) == Decimal(price)


@given(st.lists(CALLS, min_size=1, max_size=5))
def test_a_sum_costs_what_its_calls_cost_however_they_are_grouped(calls: list[Usage]) -> None:
    alone = sum((dollars(each) or 0 for each in calls), Decimal())
    nested = calls[0]
    for each in calls[1:]:
        nested = Usage.of([nested, each])
    assert dollars(Usage.of(calls)) == dollars(nested) == alone
    assert nested.prompt == sum(each.prompt for each in calls)


def test_a_call_without_a_price_makes_the_sum_unknown() -> None:
    known = Usage(uncached=1, model="gpt-6-luna", provider="openai")
    assert dollars(Usage.of([known, Usage(uncached=1, model="x", provider="openai")])) is None
