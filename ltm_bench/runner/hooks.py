"""Tries every hook of an adapter once, for `ltm-bench check`, and says what does not work without it."""

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any

from ltm_bench.core.agent import Agent, Finding, Memory
from ltm_bench.core.messages import Message, Reply, Turn, Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.runner.guarding import placed

_MOST = 1000
"""Maximum memories read from a listing."""


async def try_hooks(agent: Agent, turns: Sequence[Turn]) -> list[Finding]:
    """Try every optional hook of an adapter once; `forget` comes last, since it deletes.

    Args:
        agent: An open agent that has answered some turns.
        turns: Those turns; the last one is a question.
    """
    question = turns[-1].message
    tries: Sequence[tuple[str, Callable[[], Coroutine[Any, Any, str]]]] = (
        ("usage", lambda: _usage(agent, turns[-1].reply)),
        ("reserve", lambda: _reserve(agent, question)),
        ("usage_model", lambda: _usage_model(agent)),
        ("settle", lambda: _settle(agent)),
        ("observe_session", lambda: _observe_session(agent, turns)),
        ("recall", lambda: _recall(agent, question.query)),
        ("memories", lambda: _memories(agent)),
        ("fork", lambda: _fork(agent, question)),
        ("forget", lambda: _forget(agent, question.text)),
    )
    found = []
    for name, attempt in tries:
        try:
            said = await attempt()
            found.append(Finding(True, f"{name}: {said}", lacks=said.startswith("missing")))
        except _Wrong as error:
            found.append(Finding(False, f"{name}: {error}"))
        except Exception as error:  # an adapter can raise anything
            found.append(Finding(False, f"{name}: failed: {placed(error)}"))
    return found


class _Wrong(Exception):
    """A hook returned something invalid."""


def _price(usage: Usage) -> str:
    price = dollars(usage)
    if price is not None:
        return f"priced, ${price:.6f}"
    named = f"model {usage.model!r} of provider {usage.provider!r}"
    return f"given, but the price of {named} is unknown, so costs show as unknown"


async def _usage(agent: Agent, reply: Reply) -> str:
    if reply.usage is not None and (reply.usage.model is not None or not agent.free):
        return f"{_price(reply.usage)} for the last reply"
    if agent.free:
        return "not needed: the agent is free"
    return "missing, so costs show as unknown; give Reply(…, usage=Usage(…))"


async def _reserve(agent: Agent, message: Message) -> str:
    most = agent.reserve(message)
    if agent.free:
        return "not needed: the agent is free"
    if most is None:
        return "missing, so --max-cost cannot hold"
    if not isinstance(most, Usage):
        raise _Wrong(f"it returned {type(most).__name__}, not a Usage")
    return _price(most) + ("" if dollars(most) is None else " at most for a reply, so --max-cost holds")


async def _usage_model(agent: Agent) -> str:
    model = agent.usage_model()
    if model is None:
        return "missing, so `estimate` counts calls but not prompts"
    return f"a window of {model.window:,} tokens, so `estimate` simulates the prompts"


async def _settle(agent: Agent) -> str:
    if type(agent).settle is Agent.settle:
        return "missing; that is right unless something is indexed in the background"
    await agent.settle()
    return "waits until everything can be found"


async def _observe_session(agent: Agent, turns: Sequence[Turn]) -> str:
    if not agent.takes_sessions:
        return "missing, so a session is observed turn by turn"
    await agent.observe_session(turns[:1])
    return "takes a session at once"


async def _recall(agent: Agent, query: str) -> str:
    try:
        found = await agent.recall(query, 10)
    except NotImplementedError:
        return "missing, so there is no telling where an answer was lost"
    _check(found)
    first = f", the first {found[0].text!r:.80}" if found else ""
    k = "" if agent.uses is None else f"; it uses {agent.uses}"
    if not k:
        k = "; it does not say how many it uses (`uses`), so whatever was found counts as retrieved"
    return f"{_count(len(found))} for {query!r:.60}{first}{k}"


async def _memories(agent: Agent) -> str:
    try:
        listed = agent.memories()
    except NotImplementedError:
        return "missing, so what is stored cannot be listed"
    if not isinstance(listed, AsyncIterator):
        raise _Wrong(
            f"it returned {type(listed).__name__}, not an asynchronous iterator; write `yield` in it"
        )
    found: list[Memory] = []
    try:
        async for each in listed:
            found.append(each)
            if len(found) >= _MOST:
                break
    except NotImplementedError:
        return "missing, so what is stored cannot be listed"
    _check(found)
    return f"{_count(len(found))}{' or more' if len(found) >= _MOST else ''} in the store"


async def _fork(agent: Agent, message: Message) -> str:
    if agent.forks == "no":
        return "missing, so --questions forked and --quick are refused"
    reply = await (await agent.fork(message))()
    if not isinstance(reply, Reply):
        raise _Wrong(f"its call returned {type(reply).__name__}, not a Reply")
    return f"{agent.forks}; beside the conversation it says {reply.text!r:.80}"


async def _forget(agent: Agent, query: str) -> str:
    try:
        count = await agent.forget(query)
    except NotImplementedError:
        return "missing, so nothing can be deleted on request"
    if not isinstance(count, int):
        raise _Wrong(f"it returned {type(count).__name__}, not the number of memories that it deleted")
    return f"deleted {_count(count)} on request"


def _check(found: object) -> None:
    """Raise _Wrong unless this is a sequence of memories."""
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise _Wrong(f"it returned {type(found).__name__}, not a list of Memory")
    for each in found:
        if not isinstance(each, Memory):
            raise _Wrong(f"it returned {type(each).__name__} among its memories, not Memory")


def _count(number: int) -> str:
    return "1 memory" if number == 1 else f"{number:,} memories"
