"""Plays examples without any filler: for agents to which filler makes no difference, the baseline and the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

from ltm_bench.core.agent import Agent
from ltm_bench.core.clock import Clock
from ltm_bench.core.messages import Ask, Message, Reply, Turn
from ltm_bench.score.headline import headline
from ltm_bench.score.verdicts import verdict_on
from ltm_bench.script.rehearsal import ideal_reply
from ltm_bench.script.scenario import Example


async def score_alone(examples: Sequence[Example], make_agent: Callable[[], Agent], start: datetime) -> float:
    """Return an agent's headline score on these examples. Nothing is written."""
    scores: dict[str, list[float | None]] = {}
    for example in examples:
        agent, clock, turns = make_agent(), Clock(start), list[Turn]()
        script, reply, verdicts = example.script(), None, list[float]()
        while True:
            try:
                line = script.send(cast(Reply, reply))  # a fresh generator takes None
            except StopIteration:
                break
            clock.jump(clock.now + (line.after or timedelta()))
            text = line.text if isinstance(line.text, str) else line.text(clock.now)
            message = Message(text, clock.now, len(turns), ideal_reply(line) if agent.told_ideal else None)
            reply = replace(await agent.reply(message), at=clock.now)
            turns.append(Turn(message, reply))
            if isinstance(line, Ask):
                verdicts.append(verdict_on(line.expect, reply, turns).score or 0.0)
        scores.setdefault(example.scenario.name, []).append(sum(verdicts) / max(len(verdicts), 1))
    return headline(scores)
