"""Functions as agents: what they receive and what they return."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.plugins.functions import FunctionAgent

AT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def ask(agent: Agent, text: str) -> str:
    return asyncio.run(agent.reply(Message(text, AT, 0))).text


@given(text=st.text(max_size=40))
def test_a_function_is_an_agent(text: str) -> None:
    async def later(message: str) -> str:
        return message[::-1]

    assert ask(FunctionAgent(lambda message: message[::-1]), text) == text[::-1]
    assert ask(FunctionAgent(later), text) == text[::-1]


def timed(message: str, at: datetime) -> str:
    return f"{message} at {at:%H:%M}"


async def timed_later(message: str, *, at: datetime) -> str:
    return f"{message} at {at:%H:%M}"


class Timed:
    def __call__(self, message: str, at: datetime | None = None) -> str:
        return f"{message} at {at:%H:%M}"


@pytest.mark.parametrize("function", [timed, timed_later, Timed()])
def test_a_function_may_take_the_time(function: Callable[..., Any]) -> None:
    assert ask(FunctionAgent(function), "Now") == "Now at 09:30"


def test_a_function_that_takes_no_time_is_given_none() -> None:
    def plain(message: str, **more: object) -> str:
        return f"{message} {more}"

    assert ask(FunctionAgent(plain), "Now") == "Now {}"
    assert ask(FunctionAgent(str), "Now") == "Now"


def strange(message: str, when: datetime) -> str:
    return message


@pytest.mark.parametrize("function", [strange, lambda: "", lambda *, message: ""])
def test_a_function_that_takes_something_else_is_refused_before_it_is_called(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(
        ValueError, match=r"the function takes .*; make it take \(message\) or \(message, at\)"
    ):
        FunctionAgent(function)


def test_an_object_with_a_method_for_it_is_told_of_turns() -> None:
    class Notes:
        def __init__(self) -> None:
            self.heard: list[object] = []

        def __call__(self, message: str) -> str:
            return "Okay."

        async def observe(self, message: str, reply: str, at: datetime) -> None:
            self.heard.append((message, reply, at))

    notes = Notes()
    agent = FunctionAgent(notes)
    assert agent.observes
    asyncio.run(agent.observe(Turn(Message("Hello", AT, 0), Reply("Hi"))))
    assert notes.heard == [("Hello", "Hi", AT)]
    assert not FunctionAgent(timed).observes


def test_a_function_that_returns_no_text_is_refused() -> None:
    with pytest.raises(AgentError, match="the function returned int, not a string"):
        ask(FunctionAgent(lambda _: 3), "x")
