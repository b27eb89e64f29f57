"""Plays free, local agents for the references beside a score; writes nothing.

`play_alone` is for agents that filler does not affect, the baseline and the oracle; `play` runs the whole conversation,
with its schedule and filler.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple, cast

from ltm_bench.core.agent import Agent
from ltm_bench.core.clock import Clock, later
from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Ask, Line, Message, Reply, Turn
from ltm_bench.core.seeds import Seed
from ltm_bench.core.tokens import Counter
from ltm_bench.filler.filler import MAX_TOKENS, Bank, Filler
from ltm_bench.schedule.scheduler import Fill, Jump, Scheduler, Send
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


class _Playthrough:
    """One example's turns, and the verdicts on them."""

    def __init__(self, example: Example, guard: Guard) -> None:
        self._example, self._guard = example, guard
        self._turns: list[Turn] = []
        self._asked: list[Ask] = []
        self._scores: list[float] = []

    async def ask(self, agent: Agent, line: Line, message: Message) -> Reply:
        if agent.told_ideal:
            message = briefed(message, line, self._example)
        reply = replace(await agent.reply(message), at=message.at)
        self._turns.append(Turn(message, reply, example=self._example.id))
        self._guard.hear(message.text)
        if isinstance(line, Ask):
            verdict = verdict_on(line.expect, reply, self._turns)
            verdict = self._guard.checked(verdict, line.expect, reply.text, self._turns)
            self._scores.append(verdict.score or 0.0)
            self._asked.append(line)
        return reply

    @property
    def played(self) -> Played:
        scores = counted([(q.shows, q.needs, s) for q, s in zip(self._asked, self._scores, strict=True)])
        chances = counted([(q.shows, q.needs, q.expect.chance) for q in self._asked])
        return Played(self._example, mean(scores) or 0.0, mean(chances) or 0.0)


def total(played: Iterable[Played]) -> float:
    """Return the headline score: the sum over scenarios of the mean over their examples."""
    scores: dict[str, list[float | None]] = {}
    for each in played:
        scores.setdefault(each.example.scenario.name, []).append(each.score)
    return headline(scores)


async def play_alone(
    examples: Sequence[Example], make_agent: Callable[[], Agent], start: datetime
) -> list[Played]:
    """Play every example with its own agent, without filler."""
    found = []
    for example in examples:
        agent, clock, talk = make_agent(), Clock(start), _Playthrough(example, Guard())
        script, reply, turn = example.script(), None, 0
        while True:
            try:
                line = script.send(cast(Reply, reply))  # a fresh generator takes None
            except StopIteration:
                break
            clock.jump(later(clock.now, line.after or timedelta()))
            text = line.text if isinstance(line.text, str) else line.text(clock.now)
            reply = await talk.ask(agent, line, Message(text, clock.now, turn, user=line.user))
            turn += 1
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

    Raises:
        SpanTooSmall: An example does not fit.
    """
    scheduler = Scheduler(examples, span=span, seed=seed, counter=counter, start=start, stagger=stagger)
    filler, turn = Filler(bank, Dice(f"{seed}/filler"), counter, max_tokens), 0
    guard = Guard()
    talks = {example.id: _Playthrough(example, guard) for example in examples}
    while True:
        decision, now = scheduler.decide(), scheduler.clock.now
        if isinstance(decision, Send):
            text, line = decision.text, decision.line
            reply = await talks[decision.example.id].ask(
                agent, line, Message(text, now, turn, user=line.user)
            )
            tokens = counter.count(text) if decision.tokens is None else decision.tokens
            scheduler.take(tokens, reply, counter.count(reply.text))
        elif isinstance(decision, Fill):
            trivia = filler.compose(decision.tokens)
            guard.hear(trivia.text)
            answers = Reply(trivia.answers)
            await agent.observe(Turn(Message(trivia.text, now, turn), answers, "fill", answered="script"))
            scheduler.take(filler.tokens(trivia), answers, filler.answer_tokens(trivia))
        elif isinstance(decision, Jump):
            scheduler.take()
            continue
        else:
            return [talk.played for talk in talks.values()]
        turn += 1
