"""Plays free, local agents for the references beside a score; writes nothing.

`play_alone` is for agents that filler does not affect, the baseline and the oracle; `play` runs the whole conversation,
with its schedule and filler.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, cast

from ltm_bench.core.agent import Agent
from ltm_bench.core.clock import Clock, later
from ltm_bench.core.dice import Dice
from ltm_bench.core.grouping import grouped
from ltm_bench.core.messages import Ask, Line, Message, Reply, Turn, Verdict
from ltm_bench.core.seeds import Seed
from ltm_bench.core.tokens import Counter
from ltm_bench.filler.filler import MAX_TOKENS, Bank, Filler
from ltm_bench.runner import play as saying
from ltm_bench.runner.play import Saying, composed
from ltm_bench.schedule.scheduler import AllSaid, Scheduler
from ltm_bench.score.audits.heaps import Guard
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.score.results.headline import counted, headline, mean
from ltm_bench.script.rehearsal import briefed
from ltm_bench.script.scenario import Example

STAGGER = 0.01
"""Default minimum distance between the starts of two examples, as a fraction of the span."""


class Played(NamedTuple):
    """An agent's result on an example."""

    example: Example
    score: float
    """Mean over its questions; undecided ones count 0."""
    chance: float
    """Mean chance level over its questions."""


class Playthrough:
    """The verdicts on one example."""

    def __init__(self, example: Example, guard: Guard) -> None:
        self._example, self._guard = example, guard
        self._asked: list[tuple[Ask, float]] = []

    def take(self, line: Line, turns: Sequence[Turn]) -> Verdict | None:
        """Take what its script said last, and its turns up to there; return the verdict on a question."""
        turn, reply = turns[-1], turns[-1].reply
        if turn.session is None:  # as in the fold of a log
            self._guard.hear(turn.message.text)
        if not isinstance(line, Ask):
            return None
        verdict = verdict_on(line.expect, reply, turns)
        verdict = self._guard.checked(verdict, line.expect, reply.text, turns)
        self._asked.append((line, verdict.score or 0.0))
        return verdict

    @property
    def scores(self) -> Sequence[float]:
        """What counts of the scores of its questions so far."""
        return counted([(line.shows, line.needs, score) for line, score in self._asked])

    @property
    def played(self) -> Played:
        """The result so far."""
        chances = counted([(line.shows, line.needs, line.expect.chance) for line, _ in self._asked])
        return Played(self._example, mean(self.scores) or 0.0, mean(chances) or 0.0)


def total(played: Iterable[Played]) -> float:
    """Return the headline score: the sum over scenarios of the mean over their examples."""
    return headline(grouped((each.example.scenario.name, each.score) for each in played))


async def play_alone(
    examples: Sequence[Example], make_agent: Callable[[], Agent], start: datetime
) -> list[Played]:
    """Play every example with its own agent, without filler."""
    found = []
    for example in examples:
        agent, clock, talk = make_agent(), Clock(start), Playthrough(example, Guard())
        script, reply, turns = example.script(), None, list[Turn]()
        while True:
            try:
                line = script.send(cast(Reply, reply))  # a fresh generator takes None
            except StopIteration:
                break
            clock.jump(later(clock.now, line.after or timedelta()))
            text = line.text if isinstance(line.text, str) else line.text(clock.now)
            message = Message(text, clock.now, len(turns), user=line.user)
            if agent.told_ideal:
                message = briefed(message, line, example)
            reply = replace(await agent.reply(message), at=clock.now)
            turns.append(Turn(message, reply, example=example.id))
            talk.take(line, turns)
        found.append(talk.played)
    return found


async def play(
    examples: Sequence[Example],
    agent: Agent,
    *,
    span: int,
    seed: Seed,
    counter: Counter,
    bank: Bank,
    start: datetime,
    stagger: float = STAGGER,
    max_tokens: int = MAX_TOKENS,
    decoys: Iterator[str] | None = None,
) -> list[Played]:
    """Run the conversation of these examples with an agent that observes.

    Args:
        examples: The examples.
        agent: An unused agent.
        span: Span in tokens.
        seed: Seed of the schedule and the filler.
        counter: Counts tokens.
        bank: Material for filler.
        start: Benchmark time of the first message.
        stagger: As in a suite.
        max_tokens: Maximum tokens of a filler message.
        decoys: What filler holds, if the suite hides its needles.

    Raises:
        SpanTooSmall: An example does not fit.
    """
    scheduler = Scheduler(examples, span=span, seed=seed, counter=counter, start=start, stagger=stagger)
    filler, guard = Filler(bank, Dice(f"{seed}/filler"), counter, max_tokens, decoys), Guard()
    talks = {example.id: Playthrough(example, guard) for example in examples}
    steps = saying.play(scheduler, partial(composed, filler), counter, told_ideal=agent.told_ideal)
    said = None
    while not isinstance(step := steps.send(said), AllSaid):
        said = None
        if not isinstance(step, Saying):
            continue
        said = step.said(await agent.reply(step.message) if step.known is None else step.known)
        turn = step.turn(said.reply)
        if step.send is None:
            guard.hear(step.message.text)
            await agent.observe(turn)
        else:
            talks[step.send.example.id].take(step.send.line, step.heard)
    return [talk.played for talk in talks.values()]
