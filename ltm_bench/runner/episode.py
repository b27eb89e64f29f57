"""One conversation in memory, one reply at a time: for whoever asks an agent himself, such as a training loop.

It says, records and scores what a run with the same plan and replies would; nothing is written, and no agent is called.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from ltm_bench.core.agent import REPLY
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Ask, Message, Reply, Turn, Verdict
from ltm_bench.log import events
from ltm_bench.log.events import Event
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.guarding import unusable
from ltm_bench.runner.play import Exchanged, Saying, play_of, scheduler_of
from ltm_bench.runner.recording import Recording
from ltm_bench.runner.references import Playthrough, total
from ltm_bench.schedule.scheduler import AllSaid, Completed, Jump
from ltm_bench.score.audits.heaps import Guard


class _Events:
    """A log in memory; it never holds more than has been said."""

    logged = None

    def __init__(self) -> None:
        self.all: list[Event] = []

    def put(self, event: Event) -> None:
        self.all.append(event)


class Rewarded(NamedTuple):
    """What became of the reply to a question."""

    example: str
    line: Ask
    text: str
    """The question."""
    verdict: Verdict
    gain: float
    """By how much it raised what counts of its example's scores; what needs a proof counts once that is there."""


class Episode:
    """One conversation of a plan whose questions are in-line.

    Args:
        plan: What is said.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.observed: list[Turn] = []
        """The turns since the last reply that a script answered: the agent only observes them."""
        self._log = _Events()
        self._scheduler = scheduler_of(plan, plan.examples)
        self._talk = play_of(plan, self._scheduler)
        self._events = Recording(self._log, self._scheduler)
        self._guard = Guard()
        self._heard = {example.id: Playthrough(example, self._guard) for example in plan.examples}
        self._turns = self._tokens = 0
        self._pending = self._next(None)

    @property
    def message(self) -> Message | None:
        """The message that waits for a reply; None at the end."""
        return None if self._pending is None else self._pending.message

    @property
    def events(self) -> Sequence[Event]:
        """All events so far."""
        return self._log.all

    @property
    def score(self) -> float:
        """The sum over scenarios of the mean over their examples; what was not asked counts 0."""
        return total(each.played for each in self._heard.values())

    def take(self, reply: Reply) -> Rewarded | None:
        """Take the reply to `message`, and talk on to the next one; return the verdict if it was a question.

        Raises ConfigError if the reply cannot be recorded, or if the conversation is over.
        """
        pending = self._pending
        if pending is None:
            raise ConfigError("the conversation is over: reset() begins another")
        if problem := unusable(reply, REPLY):
            raise ConfigError(f"turn {pending.message.turn}: the reply is {problem}")
        self.observed = []
        said, answer = self._said(pending, reply)
        self._pending = self._next(said)
        return answer

    def _next(self, said: Exchanged | None) -> Saying | None:
        """Talk on to the next message that the agent must answer."""
        while not isinstance(step := self._talk.send(said), AllSaid):
            said = None
            if isinstance(step, Jump):
                self._log.put(events.Jumped(to=step.to, position=self._scheduler.position))
            elif isinstance(step, Completed):
                self._log.put(events.Ended(example=step.example.id, span=step.span, overrun=step.overrun))
            else:
                self._tokens = self._events.sent(step)
                if step.known is None:
                    return step
                said, _ = self._said(step, step.known)
        tokens, now = self._scheduler.position, self._scheduler.clock.now
        self._log.put(events.Finished(turns=self._turns, tokens=tokens, at=now))
        return None

    def _said(self, step: Saying, reply: Reply) -> tuple[Exchanged, Rewarded | None]:
        """Take a reply of the agent, or of a script in its place."""
        said = Exchanged(self._tokens, reply, self._events.replied(step, reply))
        turn, answer = step.turn(reply), cast(Rewarded | None, None)
        self._turns += 1
        if step.by == "script":
            self.observed.append(turn)
        if step.send is None:
            self._guard.hear(step.message.text)
        else:
            line, talk = step.send.line, self._heard[step.send.example.id]
            before, verdict = sum(talk.scores), talk.take(line, step.heard)
            if isinstance(line, Ask) and verdict is not None:
                gain = sum(talk.scores) - before
                answer = Rewarded(step.send.example.id, line, step.send.text, verdict, gain)
        return said, answer
