"""Scores measure memory, not phrasing: `perfect`, worded in four styles, scores full marks in a whole conversation.

The frames in `tests/styles.py` were written without knowledge of the matchers. Each answer is set into a frame, with
the values that its matcher calls stale as the history; other messages are answered as `perfect` answers them.
"""

import asyncio
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from ltm_bench import Agent, Ask, Message, Reply, Turn
from ltm_bench.core.messages import Line
from ltm_bench.filler.filler import shipped
from ltm_bench.plan.hiding import decoys_of
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner import references
from ltm_bench.script.rehearsal import briefed
from ltm_bench.script.scenario import Example

if TYPE_CHECKING:
    from tests.styles import STYLES
else:
    from styles import STYLES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.proof(files=("configs/*.toml", "agents/*.json", "agents/*.toml"), together=False),
]


class Styled(Agent):
    """Perfect, in a style; it writes down the questions that it answered, and how."""

    told_ideal = True

    def __init__(self, style: str, stale: dict[int, tuple[str, ...]]) -> None:
        self._style, self._stale = STYLES[style], stale
        self.said: dict[str, str] = {}

    async def reply(self, message: Message) -> Reply:
        if not message.ideal or message.turn not in self._stale:
            return Reply(message.ideal or "Noted.")
        pick = zlib.crc32(f"{message.turn} {message.text}".encode())
        said = self._style(message.ideal, list(self._stale[message.turn]), "", pick)
        self.said[message.text] = said
        return Reply(said)

    async def observe(self, turn: Turn) -> None:
        """Hear a turn; nothing has to be remembered."""


def falls_short(plan: Plan, style: str, stale: dict[int, tuple[str, ...]]) -> list[str]:
    agent = Styled(style, stale)
    talk = references.play(
        plan.examples,
        agent,
        span=plan.manifest.span,
        seed=plan.manifest.seed,
        counter=plan.counter,
        bank=shipped(),
        start=plan.manifest.suite.start,
        decoys=decoys_of(plan.examples, plan.manifest, plan.counter),
    )
    short = [each.example.id for each in asyncio.run(talk) if each.score != 1]
    assert agent.said
    return [f"{style}: {name}: {list(agent.said.values()) if len(short) < 2 else ''}" for name in short]


def check(monkeypatch: pytest.MonkeyPatch, span: str, seeds: range, suite: str = "standard") -> None:
    stale: dict[int, tuple[str, ...]] = {}

    def noting(message: Message, line: Line, example: Example) -> Message:
        if isinstance(line, Ask):
            stale[message.turn] = tuple(getattr(line.expect, "stale", ()))
        return briefed(message, line, example)

    monkeypatch.setattr("ltm_bench.runner.play.briefed", noting)
    for seed in seeds:
        plan = make_plan(Request(agent="perfect", span=span, suite=suite, seed=seed))
        stale.clear()
        assert [each for style in STYLES for each in falls_short(plan, style, stale)] == [], seed
        assert any(stale.values()) or suite != "standard"


Seeds = Callable[[int], range]


@pytest.mark.parametrize("part", range(2))
def test_a_right_answer_is_right_in_every_style(
    monkeypatch: pytest.MonkeyPatch, part: int, seeds: Seeds
) -> None:
    check(monkeypatch, "8k", seeds(10)[part::2])


@pytest.mark.parametrize("suite", ["abilities", "trust", "consequences"])
def test_a_right_answer_about_an_ability_or_trust_is_right_in_every_style(
    monkeypatch: pytest.MonkeyPatch, suite: str, seeds: Seeds
) -> None:
    check(monkeypatch, "8k", seeds(6), suite)


@pytest.mark.parametrize("span", ["2k", "32k", "120k"])
def test_a_right_answer_about_an_ability_is_right_at_every_span(
    monkeypatch: pytest.MonkeyPatch, span: str, seeds: Seeds
) -> None:
    for suite in ("abilities", "consequences"):
        check(monkeypatch, span, seeds(1) if span == "120k" else seeds(4), suite)


def test_a_right_answer_is_right_in_every_style_at_a_longer_span(
    monkeypatch: pytest.MonkeyPatch, seeds: Seeds
) -> None:
    check(monkeypatch, "32k", seeds(5))
