"""Claude's prompt cache: what a run writes to it and reads from it, by the provider's published rules."""

import asyncio
import json
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars

if TYPE_CHECKING:
    from tests.conftest import Command, Talk

pytestmark = [pytest.mark.usefixtures("key"), pytest.mark.proof(files=("agents/*.*", "configs/*.*"))]

CLAUDE = '''"""Claude, as if the server at --base-url charged Anthropic's prices."""
from ltm_bench.adapters import agent_class


class Claude(agent_class("anthropic_chat")):
    provider = "anthropic"
'''
QUICK = ("--questions", "forked", "--acknowledge", "scripted")
PRICES = {
    "new": Decimal(2),
    "read": Decimal("0.1"),
    "5m": Decimal("2.5"),
    "1h": Decimal(4),
    "said": Decimal(10),
}
"""Dollars per million tokens of claude-sonnet-5-5, as Anthropic published them in November 2026."""


def billed(server: Provider) -> Decimal:
    """Return the provider's bill."""
    total = Decimal()
    for each in server.spent:
        total += (each.prompt - each.cached - each.written) * PRICES["new"] + each.cached * PRICES["read"]
        total += (each.written - each.for_an_hour) * PRICES["5m"] + each.for_an_hour * PRICES["1h"]
        total += each.output * PRICES["said"]
    return total / 1_000_000


@pytest.mark.parametrize(
    ("span", "how"),
    [
        ("8k", ()),
        ("32k", ("--acknowledge", "scripted")),
        ("8k", ("--questions", "forked")),
        ("32k", QUICK),
        ("32k", (*QUICK, "-A", "ttl=1h")),
    ],
    ids=["in-line", "acknowledged", "forked", "quick", "quick-1h"],
)
def test_the_provider_bills_what_was_counted_and_nothing_is_written_twice(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server: Provider,
    command: "Command",
    span: str,
    how: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agents").mkdir()
    Path("agents/claude.py").write_text(CLAUDE, "utf-8")
    settings = ("-A", "model=claude-sonnet-5-5", "--base-url", server.url, "--name", "r")
    done = command("run", "--span", span, "--suite", "smoke", "--agent", "claude", *settings, *how)
    assert done.exit_code == 0, done.output
    costs = json.loads(Path("reports/r/results.json").read_text("utf-8"))["costs"]
    assert costs["dollars"] == pytest.approx(float(billed(server)), abs=1e-5)
    whole = max(each.prompt for each in server.spent)
    assert sum(each.written for each in server.spent) < 1.1 * whole
    missed = [each for each in server.spent if not each.cached and each.written > 1024]
    assert len(missed) <= 1


@pytest.fixture
def talk(server: Provider, talk_to: Callable[..., "Talk"]) -> "Talk":
    found = talk_to("anthropic_chat", model="some-model", base_url=server.url, max_retries=0)
    for n in range(30):
        found.observe(f"Message {n}. " + "The mill went round and round. " * 10, "So it did.")
    return found


def ask_beside(talk: "Talk", *questions: str) -> list[Any]:
    """Ask forked questions at one place as a run does: each is frozen, then answered while the next is frozen."""

    async def ask() -> list[Any]:
        tasks = []
        for question in questions:
            answer = await talk.agent.fork(talk.message(question))
            tasks.append(asyncio.ensure_future(answer()))
            await asyncio.sleep(0)
        return await asyncio.gather(*tasks, return_exceptions=True)

    return talk._runner.run(ask())


@pytest.mark.unkept
def test_a_forked_question_has_the_history_cached_and_not_itself(talk: "Talk", server: Provider) -> None:
    [reply] = ask_beside(talk, "Who is the miller? " * 300)
    assert reply.usage.cache_write > 1024
    assert reply.usage.uncached > 1024
    body = server.requests[0].body
    assert "cache_control" not in body
    marked = [n for n, one in enumerate(body["messages"]) if isinstance(one["content"], list)]
    assert marked == [len(body["messages"]) - 2]
    assert body["messages"][marked[0]]["content"] == [
        {"type": "text", "text": "So it did.", "cache_control": {"type": "ephemeral"}}
    ]


@pytest.mark.unkept
def test_of_many_questions_at_one_place_the_first_goes_alone(talk: "Talk", server: Provider) -> None:
    """Only what has been answered is in the cache, so the others would write it all again."""
    others = threading.Event()

    def answer(messages: Any) -> str:
        if len(server.chats) == 1:
            others.wait(0.3)  # time enough for others, if they did not wait
        else:
            others.set()
        return "The miller."

    server.answer = answer
    replies = ask_beside(talk, *(f"Who is number {n}?" for n in range(6)))
    assert not any(isinstance(each, Exception) for each in replies)
    assert [each.cached > 1024 for each in server.spent] == [False, *[True] * 5]
    assert sum(each.written > 0 for each in server.spent) == 1


@pytest.mark.unkept
def test_if_the_first_question_fails_the_next_one_goes_alone(talk: "Talk", server: Provider) -> None:
    server.fail(status=400, message="No.")
    first, *others = ask_beside(talk, *(f"Who is number {n}?" for n in range(4)))
    assert isinstance(first, AgentError)
    assert [each.usage.cache_read > 1024 for each in others] == [False, True, True]


def test_however_much_is_only_observed_the_newest_entry_is_found(talk: "Talk", server: Provider) -> None:
    said = [talk.say("Is it still turning?").usage]
    for _ in range(2):
        for n in range(25):
            talk.observe(f"Later, message {n}. " + "The mill went round. " * 10, "So it did.")
        said.append(talk.say("And now?").usage)
    usages = [each for each in said if each is not None]
    written = [each.cache_read + each.cache_write for each in usages]
    assert [each.cache_read for each in usages] == [0, *written[:-1]]
    assert not any(each.uncached for each in usages)


def test_a_window_that_drops_turns_starts_a_new_entry(
    server: Provider, talk_to: Callable[..., "Talk"]
) -> None:
    talk = talk_to("anthropic_chat", model="some-model", base_url=server.url, window=6000, max_output=200)
    said = [talk.say(f"Message {n}. " + "The mill went round. " * 60).usage for n in range(30)]
    lengths = [len(request.messages) for request in server.chats]
    steps = {n for n in range(1, 30) if lengths[n] < lengths[n - 1]}
    begun = next(n for n, each in enumerate(said) if each is not None and each.cache_write)
    assert steps
    assert {n for n, each in enumerate(said) if each and not each.cache_read} == {*range(begun + 1), *steps}


def test_what_is_kept_for_an_hour_has_a_price_of_its_own(
    server: Provider, talk_to: Callable[..., "Talk"]
) -> None:
    settings = {"model": "claude-sonnet-5-5", "ttl": "1h"}
    talk = talk_to("anthropic_chat", redirect=server.url, **settings)
    most = talk.reserve("A long story. " * 400)
    used = talk.say("A long story. " * 400).usage
    assert used is not None
    assert used.cache_write_1h == used.cache_write > 1024
    assert dollars(used) == billed(server) > 0
    assert most is not None
    assert most.cache_write_1h == most.cache_write
    both = Usage(
        cache_write=3_000_000, cache_write_1h=1_000_000, model="claude-sonnet-5-5", provider="anthropic"
    )
    assert dollars(both) == 2 * PRICES["5m"] + PRICES["1h"]
    assert (both + both).cache_write_1h == 2_000_000
