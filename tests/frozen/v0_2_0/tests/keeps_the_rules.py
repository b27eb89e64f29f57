"""An author's own tests, with the toolkit's provider; pytest collects files of this name only where it is told to."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_bench import Agent, Message, Reply
from ltm_bench.adapters import ConfigError, agent_class, make_agent
from ltm_bench.adapters.testing import (
    Answer,
    Conformance,
    Failing,
    Fault,
    Provider,
    conformance,
    provider,
    quote,
)


def test_a_memory_without_a_server_keeps_the_rules() -> None:
    found: Conformance = conformance(agent_class("almanac"))
    assert not found.broken, str(found)
    assert "forget" in str(found)


def test_a_product_keeps_the_rules() -> None:
    with provider() as server:
        where = {"base_url": server.openai_url, "timeout": 1.5, "max_retries": 0}
        conformance(lambda: make_agent("rolodex", {"core": "openai:any", **where}), server=server)


def test_a_model_keeps_the_rules_on_a_server_that_fails() -> None:
    with provider() as server:
        assert isinstance(server, Provider)
        answer: Answer = quote
        server.answer = answer
        broken: Failing = server
        where = {"base_url": server.openai_url, "timeout": 1.5, "max_retries": 0}
        conformance(lambda: make_agent("ours", {"model": "any", **where}), server=broken)
        assert all(request.body for request in server.requests)


def test_a_limit_is_met_with_a_retry() -> None:
    async def talk(agent: Agent) -> Reply:
        await agent.open(Path("agent"))
        try:
            return await agent.reply(Message("Hello!", datetime(2026, 1, 5, tzinfo=UTC), 0))
        finally:
            await agent.close()

    with provider() as server:
        server.faults.append(Fault(status=429, retry_after="0"))
        settings = {"model": "any", "base_url": server.openai_url, "timeout": 1.5, "max_retries": 1}
        assert asyncio.run(talk(make_agent("openai_chat", settings))).text
        assert len(server.requests) == 2


def test_an_unknown_setting_is_an_error() -> None:
    with pytest.raises(ConfigError, match="widnow"):
        make_agent("ours", {"widnow": 1})
