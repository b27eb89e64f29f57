"""Providers' figures become ones that do not overlap."""

import pytest

from ltm_bench import Usage
from ltm_bench.adapters import usage_of


def test_cached_tokens_are_subtracted_from_the_prompt_tokens() -> None:
    found = usage_of(
        prompt=100, output=7, cache_read=60, cache_write=30, reasoning=3, model="m", provider="openai"
    )
    assert found == Usage(
        uncached=10, cache_read=60, cache_write=30, output=7, reasoning=3, model="m", provider="openai"
    )
    assert found.prompt == 100


def test_what_is_not_reported_is_none() -> None:
    found = usage_of(
        prompt=5, output=None, cache_read=None, cache_write=None, reasoning=None, model=None, provider=None
    )
    assert found == Usage(uncached=5)


@pytest.mark.parametrize(("read", "written"), [(101, 0), (60, 60)])
def test_more_cached_tokens_than_prompt_tokens_cost_the_full_price(read: int, written: int) -> None:
    found = usage_of(prompt=100, output=1, cache_read=read, cache_write=written, model="m", provider="openai")
    assert (found.uncached, found.cache_read, found.cache_write) == (100, 0, 0)
