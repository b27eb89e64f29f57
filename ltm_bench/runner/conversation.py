"""One conversation, one event at a time: the whole run, or one example of an isolated run.

Running and resuming are one path. Every event goes to the recorder, which compares it with the log, and writes it once
the log ends; only then is the agent called.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from ltm_bench.core.agent import Memory, SessionKey
from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import BudgetReached, RunIncomplete
from ltm_bench.core.messages import AnsweredBy, Ask, Kind, Line, Message, Reply, Tell, Turn, Verdict
from ltm_bench.filler.filler import Filler
from ltm_bench.log import events
from ltm_bench.log.events import Forked, Replied, Sent
from ltm_bench.log.forks import ForkFile
from ltm_bench.log.reader import is_finished
from ltm_bench.log.recorder import Recorder
from ltm_bench.matchers.forms import dump
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.forks import Forks
from ltm_bench.runner.observer import Observer
from ltm_bench.runner.store_check import StoreCheck
from ltm_bench.schedule.decisions import Completed, Fill, Fork, Jump, Send
from ltm_bench.schedule.scheduler import Scheduler
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.script.rehearsal import acknowledgement, ideal_reply
from ltm_bench.script.scenario import Example

COMPARED = 100
"""Logged filler turns that a replay composes again and compares; later ones are skipped.

The manifest determines the filler (its digest, the seed), and a hundred messages show whether that still holds. Of the
others, only the introductions are compared, which come from the same dice, and all of the last one.
"""

Verdicts = Mapping[tuple[str, int], Verdict]
"""The matchers' verdicts, by example and turn."""


class _Spoken(NamedTuple):
    """A message and its reply, with the tokens of both."""

    message_tokens: int
    reply: Reply
    reply_tokens: int
    recalled: Sequence[Memory] | None = None


class _Recalled(NamedTuple):
    """What retrieval gave for a fork, recorded once all forks are answered."""

    question: Message
    turns: Sequence[Turn]
    found: Sequence[Memory]
    failed: bool


class Conversation:
    """The state of one conversation."""

    def __init__(
        self,
        plan: Plan,
        examples: Sequence[Example],
        calls: Caller,
        recorder: Recorder,
        forks: ForkFile,
        observer: Observer,
    ) -> None:
        """Prepare a conversation. Nothing is said yet.

        Args:
            plan: The run's plan.
            examples: The examples of this conversation.
            calls: The agent.
            recorder: The log.
            forks: Keeps replies to forks until they are in the log.
            observer: Gets every event.
        """
        self.verdicts: dict[tuple[str, int], Verdict] = {}
        self._plan = plan
        self._calls = calls
        self._recorder = recorder
        self._forks = Forks(calls, forks, plan.counter)
        self._traced: list[_Recalled] = []
        self._observer = observer
        suite = plan.manifest.suite
        self._scheduler = Scheduler(
            examples,
            span=plan.manifest.span,
            seed=plan.manifest.seed,
            counter=plan.counter,
            start=suite.start,
            stagger=suite.stagger,
            filler=not suite.isolated,
            forked=plan.manifest.questions == "forked",
            rehearsals=plan.rehearsals,
        )
        self._store = StoreCheck(recorder.path, calls.clock, self._scheduler.rehearsals)
        self._filler = Filler(
            plan.bank, Dice(f"{plan.manifest.seed}/filler"), plan.counter, plan.manifest.filler.max_tokens
        )
        self._composed = 0
        self._turn = 0  # the number of the next turn or fork
        self._turns = 0
        self._heard: dict[str, list[Turn]] = {}

    async def run(self) -> None:
        """Talk until every example has ended. Raises RunIncomplete or BudgetReached if it cannot continue."""
        calls, recorder = self._calls, self._recorder
        try:
            # Most agents are restored by observing every turn, which happens during the replay, so the log is read
            # once. The others are restored after it. A finished conversation restores no agent.
            if calls.observes_the_replay and recorder.logged is not None and not is_finished(recorder.path):
                await calls.open()
            try:
                await self._talk()
            except (
                RunIncomplete,
                BudgetReached,
                OSError,
            ):  # pending forks are paid for, so they are kept
                await self._forks.settle(cancel=False)
                raise
            except BaseException:  # an interruption: pending forks are asked again later
                await self._forks.settle(cancel=True)
                raise
        finally:
            self._store.close()
            await calls.close()

    async def _talk(self) -> None:
        scheduler, task = self._scheduler, asyncio.current_task()
        while True:
            if task is not None and task.cancelling():  # an agent that never awaits would starve it
                raise asyncio.CancelledError
            decision = scheduler.decide()
            if isinstance(decision, Send):
                await self._send(decision)
            elif isinstance(decision, Fork):
                await self._fork(decision)
            elif isinstance(decision, Fill):
                passed = self._pass_over()
                if passed is None:
                    await self._fill(decision)
                elif self._calls.opened:
                    await self._calls.observe(passed)
            elif isinstance(decision, Jump):
                self._recorder.put(events.Jumped(to=decision.to, position=scheduler.position))
                scheduler.take()
            else:
                break
        if self._recorder.logged is None and self._calls.has_deferred(self._turns):
            await self._catch_up()
        for answered in await self._forks.finish():
            self._recorder.put(answered)
        for each in self._traced:
            await self._calls.tracing.trace(each.question, each.turns, each.found, failed=each.failed)
        self._recorder.put(
            events.Finished(turns=self._turns, tokens=scheduler.position, at=scheduler.clock.now)
        )

    async def _send(self, send: Send) -> None:
        calls, line = self._calls, send.line
        session = line.session if isinstance(line, Tell) else None
        going_on = None if session is None else (send.example.id, session)
        if self._recorder.logged is None:
            await self._catch_up(going_on)
        kind: Kind = "ask" if isinstance(line, Ask) else "tell" if isinstance(line, Tell) else "chat"
        ideal = ideal_reply(line) if calls.agent.told_ideal else None
        message = Message(send.text, self._scheduler.clock.now, self._turn, ideal, line.user)
        heard = self._heard.setdefault(send.example.id, [])
        record = partial(self._sent, kind, send.text, lambda: send.tokens, send.example.id, send.due, line)
        answered: AnsweredBy = "agent"
        if self._plan.manifest.acknowledge == "scripted" and needs_no_agent(line):
            answered = "script"
            reply = Reply(acknowledgement(send.example, len(heard)))
            exchange = await self._scripted(record, reply, answered=answered, going_on=going_on)
        else:
            exchange = await self._exchange(message, record, question=kind == "ask")
        turn = Turn(message, exchange.reply, kind, send.example.id, answered, session=session)
        heard.append(turn)
        replayed = not calls.live
        if calls.opened and (replayed or answered == "script"):
            await calls.observe(turn)
        ended = self._take(exchange)
        tokens = exchange.message_tokens + exchange.reply_tokens
        self._observer.turn(turn, tokens, self._scheduler.position, replayed=replayed)
        if isinstance(line, Ask):
            verdict = verdict_on(line.expect, exchange.reply, heard)
            self.verdicts[send.example.id, message.turn] = verdict
            self._observer.verdict(send.example, line, verdict)
            if exchange.recalled is not None and verdict.score is not None:
                await calls.tracing.trace(message, heard, exchange.recalled, failed=verdict.score < 1)
        if isinstance(line, Tell) and line.deletes:
            await calls.delete(line.deletes, message, turns=self._turns)
        await self._check_store(send.example, line, message.turn)
        self._end(ended)

    async def _fork(self, fork: Fork) -> None:
        """Ask a question beside the conversation, unless its reply is known."""
        calls, line, example = self._calls, fork.line, fork.example
        if self._recorder.logged is None:
            await self._catch_up()
        tokens = self._tokens(fork.text, lambda: fork.tokens)
        forked = Forked(
            id=fork.id,
            example=example.id,
            message=fork.text,
            tokens=tokens,
            position=fork.position,
            due=fork.due,
            at=fork.at,
            expect=json_form(dump(line.expect)),
            ideal=line.ideal,
            buried=_buried(line),
            user=line.user,
            shows=line.shows,
            needs=line.needs,
        )
        self._recorder.put(forked)
        ideal = ideal_reply(line) if calls.agent.told_ideal else None
        message = Message(fork.text, fork.at, fork.id, ideal, line.user)
        heard = tuple(self._heard.get(example.id, ()))

        def judge(reply: Reply, recalled: Sequence[Memory] | None) -> None:
            turns = [*heard, Turn(message, reply, "ask", example.id, forked=True)]
            verdict = verdict_on(line.expect, reply, turns)
            self.verdicts[example.id, fork.id] = verdict
            self._observer.verdict(example, line, verdict)
            if recalled is not None and verdict.score is not None:
                self._traced.append(_Recalled(message, turns, recalled, failed=verdict.score < 1))

        known = self._forks.known(forked)
        if known is not None:
            judge(known.said, None)
        else:
            await calls.stand_after(self._turns)
            await self._forks.ask(forked, message, lambda answer: judge(answer.reply, answer.recalled))
        await self._check_store(example, line, fork.id)
        self._turn += 1
        self._end(self._scheduler.take(tokens))

    async def _check_store(self, example: Example, line: Line, turn: int) -> None:
        """After an example's last question, look for its facts in the agent's store."""
        if self._store.due_after(example.id, line):
            check = partial(self._store.check, self._calls.agent, example.id, turn)
            if self._calls.live:
                await check()
            elif self._store.lacks(self._calls.agent, example.id):
                self._calls.defer(self._turns, check)

    def _end(self, ended: Sequence[Completed]) -> None:
        for each in ended:
            self._heard.pop(each.example.id, None)
            self._recorder.put(events.Ended(example=each.example.id, span=each.span, overrun=each.overrun))
            self._observer.ended(each)

    async def _catch_up(self, going_on: SessionKey | None = None) -> None:
        await self._calls.catch_up(self._turn, self._turns, going_on)

    async def _fill(self, fill: Fill) -> None:
        calls = self._calls
        if self._recorder.logged is None:
            await self._catch_up()
        self._composed += 1
        filler = self._filler.compose(fill.tokens)
        record = partial(self._sent, "fill", filler.text, lambda: self._filler.tokens(filler))
        ideal = filler.answers if calls.agent.told_ideal else None
        message = Message(filler.text, self._scheduler.clock.now, self._turn, ideal)
        answered: AnsweredBy = "agent"
        if self._plan.manifest.filler.mode == "live":
            exchange = await self._exchange(message, record)
            told = calls.opened and not calls.live
        else:
            answered = "script"
            known = partial(self._filler.answer_tokens, filler)
            exchange = await self._scripted(record, Reply(filler.answers), known)
            told = calls.opened
        turn = Turn(message, exchange.reply, "fill", answered=answered)
        if told:
            await calls.observe(turn)
        self._take(exchange)
        tokens = exchange.message_tokens + exchange.reply_tokens
        self._observer.turn(turn, tokens, self._scheduler.position, replayed=not calls.live)

    def _pass_over(self) -> Turn | None:
        """Take a filler turn from the log without composing it; None if it must be composed.

        It must be where the scheduler wants filler, have its reply, and begin as the dice say. The log's last one is
        composed: it is the same only if all earlier ones had the right length.
        """
        sent, last = self._recorder.logged, self._recorder.last_filler
        if (
            not isinstance(sent, Sent)
            or last is None
            or self._composed < COMPARED
            or self._turn >= last
            or self._calls.agent.told_ideal
            or sent.kind != "fill"
            or sent.turn != self._turn
            or sent.position != self._scheduler.position
        ):
            return None
        replied = self._recorder.peek()
        if not isinstance(replied, Replied):
            return None
        introduction = self._filler.pass_over(sent.message)
        if sent.message.partition("\n")[0] != introduction:
            raise self._recorder.diverged(
                f"turn {self._turn} the log says message", sent.message, introduction
            )
        self._recorder.skip()
        self._recorder.skip()
        reply = replied.said
        live = self._plan.manifest.filler.mode == "live"
        if live:
            self._calls.replayed(self._turn, reply)
        message = Message(sent.message, self._scheduler.clock.now, self._turn)
        turn = Turn(message, reply, "fill", answered="agent" if live else "script")
        self._take(_Spoken(sent.tokens, reply, replied.tokens))
        self._observer.turn(turn, sent.tokens + replied.tokens, self._scheduler.position, replayed=True)
        return turn

    def _take(self, exchange: _Spoken) -> list[Completed]:
        self._turn += 1
        self._turns += 1
        return self._scheduler.take(exchange.message_tokens, exchange.reply, exchange.reply_tokens)

    async def _exchange(
        self, message: Message, record: Callable[[], int], *, question: bool = False
    ) -> _Spoken:
        """Record a message and its reply, from the log or the agent."""
        doubtful = False
        if self._recorder.logged is not None:
            sent = record()
            logged = self._recorder.logged
            if isinstance(logged, Replied) and logged.turn == message.turn:
                self._calls.replayed(message.turn, logged.said)
                return _Spoken(sent, logged.said, self._replied(logged.said))
            doubtful = True
        answer = await self._calls.ask(
            message,
            (lambda: sent) if doubtful else record,
            turns=self._turns,
            question=question,
            doubtful=doubtful,
        )
        tokens = self._replied(answer.reply)  # first of all: it was paid for
        await self._calls.note(message.turn, answer)
        return _Spoken(answer.tokens_sent, answer.reply, tokens, answer.recalled)

    async def _scripted(
        self,
        record: Callable[[], int],
        reply: Reply,
        known: Callable[[], int | None] = lambda: None,
        *,
        answered: Literal["script"] | None = None,
        going_on: SessionKey | None = None,
    ) -> _Spoken:
        """Record a message that a script answers in place of the agent, and the answer."""
        sent = record()
        if self._recorder.logged is None:  # killed between message and answer
            await self._catch_up(going_on)
        return _Spoken(sent, reply, self._replied(reply, known, answered))

    def _sent(
        self,
        kind: Kind,
        text: str,
        known: Callable[[], int | None],
        example: str | None = None,
        due: int | None = None,
        line: Line | None = None,
    ) -> int:
        """Record that a message goes out.

        Args:
            kind: What the turn is.
            text: The message.
            known: Returns its tokens if a rehearsal or the filler knows them.
            example: The example that speaks; None for filler.
            due: The position at which it was due.
            line: The line that the script yielded.

        Returns:
            The message's tokens.
        """
        tokens = self._tokens(text, known)
        self._recorder.put(
            Sent(
                turn=self._turn,
                kind=kind,
                example=example,
                message=text,
                tokens=tokens,
                position=self._scheduler.position,
                due=due,
                at=self._scheduler.clock.now,
                expect=json_form(dump(line.expect)) if isinstance(line, Ask) else None,
                ideal=line.ideal if line is not None else None,
                buried=None if line is None else _buried(line),
                user=None if line is None else line.user,
                shows=line.shows if isinstance(line, Ask) else None,
                needs=line.needs if isinstance(line, Ask) else None,
                session=line.session if isinstance(line, Tell) else None,
            )
        )
        return tokens

    def _replied(
        self,
        reply: Reply,
        known: Callable[[], int | None] = lambda: None,
        answered: Literal["script"] | None = None,
    ) -> int:
        """Record a reply; return its tokens."""
        tokens = self._tokens(reply.text, known)
        self._recorder.put(
            Replied(
                turn=self._turn,
                reply=reply.text,
                tokens=tokens,
                finish=reply.finish,
                usage=reply.usage,
                answered=answered,
            )
        )
        return tokens

    def _tokens(self, text: str, known: Callable[[], int | None]) -> int:
        """Return a text's tokens, from the log or from `known` if possible; else count them."""
        logged = self._recorder.logged
        if isinstance(logged, Sent | Forked | Replied) and text == (
            logged.reply if isinstance(logged, Replied) else logged.message
        ):
            return logged.tokens
        found = known()
        return self._plan.counter.count(text) if found is None else found


def _buried(line: Line) -> tuple[tuple[str, int | None], ...] | None:
    buried = line.buried if isinstance(line, Tell | Ask) else ()
    return tuple((each.text, each.tokens) for each in buried) or None


def needs_no_agent(line: Line) -> bool:
    """Whether a script can acknowledge a line: a needle without a best reply."""
    return isinstance(line, Tell) and line.ideal is None


def json_form(data: Mapping[str, object]) -> dict[str, object]:
    """Return a matcher's form as JSON would return it, so that it can be compared with the log.

    Raises TypeError if a value would not survive JSON.
    """
    return {key: _through_json(value) for key, value in data.items()}


def _through_json(value: object) -> object:
    if isinstance(value, dict):
        if strange := [key for key in value if not isinstance(key, str)]:
            raise TypeError(f"a matcher's field has a key {strange[0]!r:.60}; in JSON a key must be a string")
        return {key: _through_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_through_json(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a matcher's field holds {type(value).__name__} {value!r:.60}; JSON has no such value")
