"""Providers' figures become ones that do not overlap."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench import Usage
from ltm_bench.adapters import spoken_usage, usage_in, usage_of
from ltm_bench.adapters.http.traffic import last_answer
from ltm_bench.core.pricing import dollars
from ltm_bench.core.servers import Protocol, rows

FIELDS = ["iterations", "type"] + [
    part for row in rows("figures") for field in row["fields"] for part in field.split(".")
]


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


CHAT = {"prompt_tokens": 100, "completion_tokens": 7}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, Usage(uncached=100, output=7)),
        ({"total_tokens": 107}, Usage(uncached=100, output=7)),
        ({"total_tokens": 0}, Usage(uncached=100, output=7)),
        ({"prompt_tokens_details": {"cached_tokens": 60}}, Usage(uncached=40, cache_read=60, output=7)),
        ({"prompt_cache_hit_tokens": 60, "prompt_cache_miss_tokens": 40}, Usage(uncached=40, cache_read=60, output=7)),
        ({"cached_tokens": 60}, Usage(uncached=40, cache_read=60, output=7)),
        (
            {"total_tokens": 2107, "completion_tokens_details": {"reasoning_tokens": 2000}},
            Usage(uncached=100, output=2007, reasoning=2000),
        ),
        ({"completion_tokens": None, "total_tokens": 120}, Usage(uncached=100, output=20)),
        ({"prompt_tokens": 100.0, "completion_tokens": 7.0}, Usage(uncached=100, output=7)),
        ({"prompt_tokens_details": None, "completion_tokens_details": None}, Usage(uncached=100, output=7)),
    ],
    ids=["plain", "total", "no total", "OpenAI", "DeepSeek", "Moonshot", "xAI", "Vertex", "floats", "nulls"],
)  # fmt: skip
def test_the_figures_of_every_server_are_read(more: dict[str, object], expected: Usage) -> None:
    found = usage_in(CHAT | more, "chat", model=None, provider=None)
    assert found == expected


@pytest.mark.parametrize(
    "more",
    [
        {"prompt_tokens": None},
        {"completion_tokens": None},
        {"prompt_tokens": "100"},
        {"prompt_tokens": True},
        {"completion_tokens": [7]},
        {"completion_tokens": -7},
        {"completion_tokens": 7.5},
        {"completion_tokens": 10**200},
        {"completion_tokens": float("nan")},
        {"completion_tokens": float("inf")},
        {"completion_tokens": None, "total_tokens": 100},
        {"total_tokens": 50},
        {"iterations": 3},
        {"iterations": ["compaction"]},
        {"iterations": [{"type": "compaction"}]},
        {"prompt_tokens_details": {"cached_tokens": 101}},
        {"completion_tokens_details": {"reasoning_tokens": 8}},
    ],
    ids=str,
)
def test_a_usage_that_cannot_be_read_or_cannot_be_is_unknown(more: dict[str, object]) -> None:
    assert usage_in(CHAT | more, "chat", model=None, provider=None) is None


def test_a_summary_on_the_way_is_a_call_of_its_own_with_its_own_price() -> None:
    own, summary = (
        {"input_tokens": 120_000, "output_tokens": 10},
        {"input_tokens": 150_000, "output_tokens": 600},
    )
    passes = [{"type": "compaction", **summary}, {"type": "message", **own}]
    found = usage_in(
        own | {"iterations": passes}, "messages", model="claude-sonnet-4-5", provider="anthropic"
    )
    assert found is not None
    assert (found.uncached, found.output) == (270_000, 610)
    assert [each.uncached for each in found.parts] == [120_000, 150_000]
    assert dollars(found) == Decimal("0.81915"), (
        "each by itself is below the length from which prompts are dearer"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FIELDS, "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["chat", "responses", "messages"]), st.booleans())
def test_whatever_stands_in_place_of_a_usage_it_is_read_or_unknown(
    reported: object, protocol: Protocol, replies: bool
) -> None:
    found = usage_in(reported, protocol, model="m", provider=None, replies=replies)
    assert found is None or (found.uncached >= 0 and found.reasoning <= found.output)


@pytest.mark.parametrize(
    ("answer", "spoken"),
    [
        (b'{"choices": [], "usage": {"total_tokens": 3}}', ({"total_tokens": 3}, "chat")),
        (b'{"stop_reason": "end_turn"}', (None, "messages")),
        (b'{"output": [], "usage": "much"}', ("much", "responses")),
        (b'{"candidates": [], "usageMetadata": {}}', None),
        (b"[]", None),
        (b"half {", None),
        (b"", None),
    ],
)
def test_usage_in_the_words_of_the_server_heard_last_names_its_protocol(
    answer: bytes, spoken: object
) -> None:
    token = last_answer.set(answer)
    assert spoken_usage() == spoken
    last_answer.reset(token)
    assert spoken_usage() is None, "nothing was heard"


@pytest.mark.parametrize(
    ("protocol", "reported"),
    [
        ("chat", {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}),
        ("responses", {"input_tokens": 0, "output_tokens": 7}),
        ("messages", {"input_tokens": 0, "output_tokens": 7}),
    ],
)
def test_a_prompt_of_no_tokens_cannot_be(protocol: Protocol, reported: dict[str, int]) -> None:
    assert usage_in(reported, protocol, model="m", provider=None) is None
    cached = reported | {"cache_read_input_tokens": 5}
    assert (usage_in(cached, protocol, model="m", provider=None) is not None) == (protocol == "messages")
