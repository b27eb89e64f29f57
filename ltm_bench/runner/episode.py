"""One conversation in memory, one reply at a time: for whoever asks an agent himself, such as a training loop.

It says, records and scores what a run with the same plan and replies would; nothing is written, and no agent is called.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ltm_bench.core.agent import REPLY
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import AnsweredBy, Ask, Line, Message, Reply, Tell, Turn, Verdict
from ltm_bench.log import events
from ltm_bench.log.events import Event
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.conversation import filler_of, kind_of, scheduler_of
from ltm_bench.runner.guarding import unusable
from ltm_bench.runner.recording import Recording
from ltm_bench.schedule.scheduler import Fill, Jump, Send
from ltm_bench.score.audits.heaps import Guard
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.score.results.headline import counted, headline, mean
from ltm_bench.script.rehearsal import acknowledgement, needs_no_agent


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


class _Pending(NamedTuple):
    """A message that has been recorded, and waits for its reply."""

    message: Message
    tokens: int
    sent: Send | None
    """None for filler."""


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
        self._scheduler, self._filler = scheduler_of(plan, plan.examples), filler_of(plan)
        self._events = Recording(self._log, self._scheduler, plan.counter)
        self._guard = Guard()
        self._heard: dict[str, list[Turn]] = {}
        self._asked: dict[str, list[tuple[str | None, str | None, float]]] = {}
        self._turns = 0
        self._pending = self._next()

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
        strata: dict[str, list[float | None]] = {}
        for example in self.plan.examples:
            asked = self._asked.get(example.id, ())
            strata.setdefault(example.scenario.name, []).append(mean(counted(asked)) or 0.0)
        return headline(strata)

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
        answer = self._answered(pending, reply)
        self._pending = self._next()
        return answer

    def _next(self) -> _Pending | None:
        """Talk on to the next message that the agent must answer."""
        scheduler, manifest = self._scheduler, self.plan.manifest
        while True:
            decision = scheduler.decide()
            if isinstance(decision, Jump):
                self._log.put(events.Jumped(to=decision.to, position=scheduler.position))
                scheduler.take()
            elif isinstance(decision, Send):
                pending = self._sent(decision)
                if manifest.acknowledge != "scripted" or not needs_no_agent(decision.line):
                    return pending
                said = len(self._heard[decision.example.id])
                self._answered(pending, Reply(acknowledgement(decision.example, said)), "script")
            elif isinstance(decision, Fill):
                trivia = self._filler.compose(decision.tokens)
                self._guard.hear(trivia.text)
                message = self._message(trivia.text)
                tokens = self._events.sent("fill", trivia.text, partial(self._filler.tokens, trivia))
                pending = _Pending(message, tokens, None)
                if manifest.filler.mode == "live":
                    return pending
                reply, known = Reply(trivia.answers), partial(self._filler.answer_tokens, trivia)
                turn = Turn(message, reply, "fill", answered="script")
                self._take(turn, pending, self._events.replied(reply, known))
            else:
                now = scheduler.clock.now
                self._log.put(events.Finished(turns=self._turns, tokens=scheduler.position, at=now))
                return None

    def _message(self, text: str, line: Line | None = None) -> Message:
        search_by = line.search_by if isinstance(line, Ask) else None
        now, number = self._scheduler.clock.now, self._scheduler.number
        return Message(text, now, number, user=line.user if line else None, search_by=search_by)

    def _sent(self, send: Send) -> _Pending:
        line, example = send.line, send.example.id
        message = self._message(send.text, line)
        kind, text = kind_of(line), send.text
        tokens = self._events.sent(kind, text, lambda: send.tokens, example, send.due, line)
        self._heard.setdefault(example, [])
        if not (isinstance(line, Tell) and line.session is not None):  # as in the fold of a log
            self._guard.hear(send.text)
        return _Pending(message, tokens, send)

    def _answered(self, pending: _Pending, reply: Reply, by: AnsweredBy = "agent") -> Rewarded | None:
        """Take a reply of the agent, or of a script in its place."""
        tokens = self._events.replied(reply, answered=None if by == "agent" else by)
        send = pending.sent
        if send is None:
            self._take(Turn(pending.message, reply, "fill"), pending, tokens)
            return None
        line, example = send.line, send.example.id
        turn = Turn(
            pending.message, reply, kind_of(line), example, by, session=getattr(line, "session", None)
        )
        heard = self._heard[example]
        heard.append(turn)
        answer = self._judged(example, line, send.text, heard) if isinstance(line, Ask) else None
        self._take(turn, pending, tokens)
        return answer

    def _judged(self, example: str, line: Ask, text: str, heard: Sequence[Turn]) -> Rewarded:
        said, asked = heard[-1].reply, self._asked.setdefault(example, [])
        verdict = verdict_on(line.expect, said, heard)
        verdict = self._guard.checked(verdict, line.expect, said.text, heard)
        before = sum(counted(asked))
        asked.append((line.shows, line.needs, verdict.score or 0.0))
        return Rewarded(example, line, text, verdict, sum(counted(asked)) - before)

    def _take(self, turn: Turn, pending: _Pending, reply_tokens: int) -> None:
        self._turns += 1
        if turn.answered == "script":
            self.observed.append(turn)
        for ended in self._scheduler.take(pending.tokens, turn.reply, reply_tokens):
            self._heard.pop(ended.example.id, None)
            self._log.put(events.Ended(example=ended.example.id, span=ended.span, overrun=ended.overrun))
