"""Differences between two runs are described in words, never as JSON and never by a field's path."""

from typing import Any

import pytest

from ltm_bench.log.differences import differences


def identity(**changes: Any) -> dict[str, Any]:
    entry = {"version": 1, "hash": "a", "examples": 3, "parameters": {}}
    return {
        "seed": 0,
        "span": 2000,
        "tokenizer": "cl100k_base",
        "suite": {
            "name": "standard",
            "stagger": 0.01,
            "isolated": False,
            "scenarios": [{"name": name, **entry} for name in ("colours", "jokes")],
        },
        "agent": {"name": "chat", "adapter": "chat", "hash": "b", "settings": {"window": 8000}, "free": True},
        "filler": {"source": "shipped", "digest": "c", "mode": "scripted", "max_tokens": 1000},
        **changes,
    }


def scenario(name: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, "version": 1, "hash": "a", "examples": 3, "parameters": {}, **changes}


def suite(*scenarios: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return identity(suite=identity()["suite"] | {"scenarios": list(scenarios)} | changes)


def agent(**changes: Any) -> dict[str, Any]:
    return identity(agent=identity()["agent"] | changes)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (identity(), []),
        (identity(seed=1), ["seed: 0 there, 1 now"]),
        (identity(span=32_000), ["span: 2,000 there, 32,000 now"]),
        (suite(scenario("colours", examples=20), scenario("jokes", examples=20)), ["examples: 3 there, 20 now"]),
        (suite(scenario("colours", examples=20), scenario("jokes")), ["examples of colours: 3 there, 20 now"]),
        (suite(scenario("colours")), ["scenarios only there: jokes"]),
        (suite(scenario("parking")), ["scenarios: colours, jokes there, parking now"]),
        (suite(scenario("jokes"), scenario("colours")), ["the order of the scenarios has changed"]),
        (
            suite(scenario("colours", hash="z", version=2), scenario("jokes")),
            ["the file of the scenario colours has changed"],
        ),
        (
            suite(scenario("colours", parameters={"kinds": ["first"]}), scenario("jokes")),
            ["colours.kinds: not set there, first now"],
        ),
        (
            suite(scenario("colours", parameters={"digest": "1"}), scenario("jokes")),
            ["the files that the scenario colours reads have changed"],
        ),
        (agent(hash="z"), ["the adapter's file has changed"]),
        (agent(settings={"window": 16_000}), ["setting window: 8,000 there, 16,000 now"]),
        (agent(settings={}), ["setting window: 8,000 there, not set now"]),
        (agent(free=False), ["whether the agent is free: yes there, no now"]),
        (identity(acknowledge="scripted"), ["acknowledge: not set there, scripted now"]),
    ],
)  # fmt: skip
def test_a_difference_is_described_in_words(now: dict[str, Any], said: list[str]) -> None:
    assert differences(identity(), now) == said


def test_values_that_look_alike_are_reported_as_different() -> None:
    long = agent(settings={"window": 8000, "system": "x" * 70 + "a"})
    other = agent(settings={"window": 8000, "system": "x" * 70 + "b"})
    assert differences(long, other) == ["setting system differs"]


def test_many_scenarios_are_counted() -> None:
    many = suite(*(scenario(name) for name in "abcdefgh"))
    assert differences(many, suite(scenario("z"))) == ["scenarios: a, b, c and 5 more there, z now"]
