"""Agents by name: presets, adapters, and an adapter with its model."""

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.judge.judges import find_judges
from ltm_bench.plan.agents import resolve_agent


def test_an_adapter_with_its_model_names_an_agent_or_a_judge(key: str) -> None:
    entry = resolve_agent("openai_chat:gpt-4o").entry
    assert (entry.name, entry.adapter, entry.settings) == (
        "openai_chat:gpt-4o",
        "openai_chat",
        {"model": "gpt-4o", "window": 128_000},
    )
    [judge] = find_judges(["openai_chat:local/llama:8b"])
    assert judge.name == "openai_chat:local/llama:8b"
    assert judge.description["settings"] == {"model": "local/llama:8b"}


@pytest.mark.parametrize(
    ("name", "adapter"), [("openai:new-model", "openai_chat"), ("anthropic:new-model", "anthropic_chat")]
)
def test_a_provider_with_its_model_names_an_agent(key: str, name: str, adapter: str) -> None:
    entry = resolve_agent(name).entry
    assert (entry.name, entry.adapter, entry.settings) == (name, adapter, {"model": "new-model"})


def test_a_presets_knowledge_of_a_model_applies_to_its_provider(key: str) -> None:
    preset, named = resolve_agent("claude-haiku-5-5").entry, resolve_agent("anthropic:claude-haiku-5-5").entry
    assert named.settings == preset.settings
    assert named.settings["window"] == 1_000_000


def test_a_core_is_named_like_an_agent(key: str) -> None:
    agent = resolve_agent("vector_memory", {"core": "openai:gpt-6-luna"}).source.sample
    assert agent.connections == "api.openai.com"


def test_a_setting_overrides_the_name(key: str) -> None:
    entry = resolve_agent("openai_chat:gpt-4o", {"model": "gpt-4o-mini", "window": 8000}).entry
    assert entry.settings == {"model": "gpt-4o-mini", "window": 8000}


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("openai_chat:", "unknown judge 'openai_chat:'"),
        ("openai_chatt:gpt-4o", "unknown judge 'openai_chatt:gpt-4o'"),
        ("parrot:gpt-4o", "agent parrot: no setting 'model'"),
    ],
)
def test_a_name_that_matches_nothing_is_refused(name: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        find_judges([name])
