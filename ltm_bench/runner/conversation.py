"""One conversation, one event at a time: the whole run, or one example of an isolated run.

Running and resuming are one path. Every event goes to the recorder, which compares it with the log, and writes it once
the log ends; only then is the agent called.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Literal, NamedTuple

from ltm_bench.core.agent import SessionKey
from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import BudgetReached, RunIncomplete
from ltm_bench.core.messages import AnsweredBy, Ask, Kind, Line, Message, Reply, Tell, Turn, Verdict
from ltm_bench.filler.filler import Filler
from ltm_bench.log import events
from ltm_bench.log.events import Replied
from ltm_bench.log.forks import ForkFile
from ltm_bench.log.reader import is_finished
from ltm_bench.log.recorder import Recorder
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.forks import Forks
from ltm_bench.runner.ladder import Climb, Ladder, Steps
from ltm_bench.runner.logged_filler import pass_over
from ltm_bench.runner.observer import Observer
from ltm_bench.runner.outgoing import Early
from ltm_bench.runner.recording import Known, Recording, unknown
from ltm_bench.runner.store_check import StoreCheck
from ltm_bench.runner.tracing import Found, needles_of
from ltm_bench.schedule.scheduler import Completed, Fill, Fork, Jump, Scheduler, Send
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.script.rehearsal import acknowledgement, briefed, needs_no_agent
from ltm_bench.script.scenario import Example

Verdicts = Mapping[tuple[str, int], Verdict]
"""The matchers' verdicts, by example and turn."""


class _Spoken(NamedTuple):
    """A message and its reply, with the tokens of both."""

    message_tokens: int
    reply: Reply
    reply_tokens: int
    recalled: Found | None = None


def scheduler_of(plan: Plan, examples: Sequence[Example]) -> Scheduler:
    """Return the scheduler of a conversation of these examples."""
    manifest = plan.manifest
    return Scheduler(
        examples,
        span=manifest.span,
        seed=manifest.seed,
        counter=plan.counter,
        start=manifest.suite.start,
        stagger=manifest.suite.stagger,
        filler=not manifest.suite.isolated,
        forked=manifest.questions == "forked",
        rehearsals=plan.rehearsals,
    )


def filler_of(plan: Plan) -> Filler:
    """Return the source of a conversation's filler."""
    manifest = plan.manifest
    return Filler(plan.bank, Dice(f"{manifest.seed}/filler"), plan.counter, manifest.filler.max_tokens)


def kind_of(line: Line) -> Kind:
    """Return what the turn of a line is."""
    return "ask" if isinstance(line, Ask) else "tell" if isinstance(line, Tell) else "chat"


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
        ladder: Ladder | None = None,
    ) -> None:
        """Prepare a conversation. Nothing is said yet.

        Args:
            plan: The run's plan.
            examples: The examples of this conversation.
            calls: The agent.
            recorder: The log.
            forks: Keeps replies to forks until they are in the log.
            observer: Gets every event.
            ladder: Asks missed questions again.
        """
        self.verdicts: dict[tuple[str, int], Verdict] = {}
        self._plan = plan
        self._calls = calls
        self._recorder = recorder
        self._forks = Forks(calls, forks, plan.counter)
        # What retrieval gave for forks, to be recorded once all of them are answered.
        self._traced: list[Callable[[], Awaitable[None]]] = []
        self._observer = observer
        self._scheduler = scheduler_of(plan, examples)
        self._store = StoreCheck(calls.agent, recorder.path, calls.clock, self._scheduler.rehearsals)
        self._filler = filler_of(plan)
        self._events = Recording(recorder, self._scheduler, plan.counter)
        self._composed = 0
        self._turns = 0
        self._heard: dict[str, list[Turn]] = {}
        self._told: dict[
            str, float
        ] = {}  # when the last turn of an example ended in this process, by the clock
        self._steps = None if ladder is None else Steps(ladder, calls)

    async def run(self) -> None:
        """Talk until every example has ended. Raises RunIncomplete or BudgetReached if it cannot continue."""
        calls, recorder = self._calls, self._recorder
        try:
            # Most agents are restored by observing every turn, which happens during the replay, so the log is read
            # once. The others are restored after it. A finished conversation restores no agent, but for the ladder.
            needed = self._steps is not None or not is_finished(recorder.path)
            if calls.observes_the_replay and recorder.logged is not None and needed:
                await calls.open()
            try:
                await self._talk()
            except BaseException as error:  # it is raised again
                # Pending forks are paid for, so their replies are kept; after an interruption they are asked again.
                cancel = not isinstance(error, RunIncomplete | BudgetReached | OSError)
                await self._forks.settle(cancel=cancel)
                if self._steps is not None:
                    await self._steps.settle(cancel=cancel)
                raise
        finally:
            self._store.close()
            await calls.close()

    async def _talk(self) -> None:
        scheduler, task = self._scheduler, asyncio.current_task()
        while True:
            # An agent that never waits for anything gives the loop no chance to deliver a cancellation.
            if task is not None and task.cancelling():
                raise asyncio.CancelledError
            decision = scheduler.decide()
            if isinstance(decision, Send):
                await self._send(decision)
            elif isinstance(decision, Fork):
                await self._fork(decision)
            elif isinstance(decision, Fill):
                await self._fill(decision)
            elif isinstance(decision, Jump):
                self._recorder.put(events.Jumped(to=decision.to, position=scheduler.position))
                scheduler.take()
            else:
                break
        # What an interruption after the last turn prevented; a finished conversation opens no agent for it.
        if self._recorder.logged is None and self._calls.has_deferred(self._turns):
            await self._catch_up()
        for answered in await self._forks.finish():
            self._recorder.put(answered)
        # Only now: a look-up at the fork's place would hold the conversation up, or change what the agent did next.
        for trace in self._traced:
            await trace()
        self._recorder.put(
            events.Finished(turns=self._turns, tokens=scheduler.position, at=scheduler.clock.now)
        )
        if self._steps is not None:
            await self._steps.finish(self._turns, scheduler.number, scheduler.clock.now)

    async def _send(self, send: Send) -> None:
        calls, line, example = self._calls, send.line, send.example
        session = line.session if isinstance(line, Tell) else None
        going_on = None if session is None else (example.id, session)
        if self._recorder.logged is None:
            await self._catch_up(going_on)
        if isinstance(line, Ask) and line.restart:
            if self._steps is not None:  # what it froze is answered while it is open
                await self._steps.settle(cancel=False)
            await calls.restart(self._turns)
            self._store.agent = calls.agent
        kind = kind_of(line)
        message = self._addressed(send)
        heard = self._heard.setdefault(example.id, [])
        climb = self._climb(example, line, message, self._scheduler.position, heard)
        record = partial(self._events.sent, kind, send.text, lambda: send.tokens, example.id, send.due, line)
        answered: AnsweredBy = "agent"
        if self._plan.manifest.acknowledge == "scripted" and needs_no_agent(line):
            answered = "script"
            reply = Reply(acknowledgement(example, len(heard)))
            spoken = await self._scripted(record, reply, answered=answered, going_on=going_on)
        else:
            early = None
            if isinstance(line, Ask) and not line.settle:
                pause = line.after or timedelta()
                early = Early(pause.total_seconds(), self._told.get(example.id))
            before = None if climb is None else climb.freeze
            spoken = await self._exchange(message, record, question=kind == "ask", early=early, before=before)
        turn = Turn(message, spoken.reply, kind, example.id, answered, session=session)
        heard.append(turn)
        verdict = verdict_on(line.expect, turn.reply, heard) if isinstance(line, Ask) else None
        if climb is not None and verdict is not None:
            climb.judge(verdict)
            if calls.agent.forks == "snapshot":  # its place is before the question
                await climb.here(self._turns)
        ended = await self._take(turn, spoken)
        if calls.live:
            self._told[example.id] = calls.clock()
        if climb is not None:
            await climb.here(self._turns)
        if isinstance(line, Ask) and verdict is not None:
            failed = self._judge(example, line, message.turn, verdict)
            if spoken.recalled is not None and failed is not None:
                sought = needles_of(line, heard, example)
                await calls.tracing.trace(message, sought, spoken.recalled, failed=failed)
        elif isinstance(line, Tell) and line.deletes:
            await calls.delete(line.deletes, message, turns=self._turns)
        await self._check_store(example, line, message.turn)
        self._end(ended)

    async def _fork(self, fork: Fork) -> None:
        """Ask a question beside the conversation, unless its reply is known."""
        calls, line, example = self._calls, fork.line, fork.example
        if self._recorder.logged is None:
            await self._catch_up()
        forked = self._events.forked(fork)
        message = self._addressed(fork)
        heard = tuple(self._heard.get(example.id, ()))  # what it hears later does not belong to this question

        climb = self._climb(example, line, message, fork.position, heard)

        def judge(reply: Reply, recalled: Found | None) -> None:
            turns = [*heard, Turn(message, reply, "ask", example.id, forked=True)]
            verdict = verdict_on(line.expect, reply, turns)
            if climb is not None:
                climb.judge(verdict)
            failed = self._judge(example, line, message.turn, verdict)
            if recalled is not None and failed is not None:
                sought = needles_of(line, turns, example)
                self._traced.append(partial(calls.tracing.trace, message, sought, recalled, failed=failed))

        known = self._forks.known(forked)
        if known is not None:
            judge(known.said, None)
        else:
            await calls.restore_to(self._turns)
            before = None if climb is None else climb.freeze
            await self._forks.ask(
                forked, message, lambda answer: judge(answer.reply, answer.recalled), before
            )
        if climb is not None:
            await climb.here(self._turns)
        await self._check_store(example, line, fork.id)
        self._end(self._scheduler.take(forked.tokens))

    async def _fill(self, fill: Fill) -> None:
        calls, scheduler, filler = self._calls, self._scheduler, self._filler
        live = self._plan.manifest.filler.mode == "live"
        logged = None
        if not calls.agent.told_ideal:  # its messages carry answers, which only composing gives
            logged = pass_over(
                self._recorder,
                filler,
                turn=scheduler.number,
                position=scheduler.position,
                composed=self._composed,
            )
        if logged is not None:
            message = self._message(logged.sent.message)
            spoken = _Spoken(logged.sent.tokens, logged.replied.said, logged.replied.tokens)
            if live:
                calls.replayed(message.turn, spoken.reply)
        else:
            if self._recorder.logged is None:
                await self._catch_up()
            self._composed += 1
            trivia = filler.compose(fill.tokens)
            message = self._message(trivia.text, lambda: trivia.answers)
            record = partial(self._events.sent, "fill", trivia.text, lambda: filler.tokens(trivia))
            if live:
                spoken = await self._exchange(message, record)
            else:
                known = partial(filler.answer_tokens, trivia)
                spoken = await self._scripted(record, Reply(trivia.answers), known)
        await self._take(Turn(message, spoken.reply, "fill", answered="agent" if live else "script"), spoken)

    def _message(self, text: str, ideal: Callable[[], str | None] = unknown) -> Message:
        """Return the next message."""
        told = ideal() if self._calls.agent.told_ideal else None
        return Message(text, self._scheduler.clock.now, self._scheduler.number, told)

    def _addressed(self, sent: Send | Fork) -> Message:
        """Return the next message, which an example sends."""
        line = sent.line
        message = replace(self._message(sent.text), user=line.user)
        if isinstance(line, Ask):
            message = replace(message, search_by=line.search_by, settle=line.settle)
        return briefed(message, line, sent.example) if self._calls.agent.told_ideal else message

    async def _take(self, turn: Turn, spoken: _Spoken) -> list[Completed]:
        """Let the agent observe a turn that it did not answer just now, and return the examples that end with it."""
        replayed = not self._calls.live
        if self._calls.opened and (replayed or turn.answered == "script"):
            await self._calls.observe(turn)
        self._turns += 1
        ended = self._scheduler.take(spoken.message_tokens, spoken.reply, spoken.reply_tokens)
        tokens = spoken.message_tokens + spoken.reply_tokens
        self._observer.turn(turn, tokens, self._scheduler.position, replayed=replayed)
        return ended

    def _climb(
        self, example: Example, line: Line, message: Message, position: int, heard: Sequence[Turn]
    ) -> Climb | None:
        """Return the rungs of a question, if missed ones are asked again."""
        if self._steps is None:
            return None
        self._steps.hears(example)
        return Climb(self._steps, example, line, message, position, heard) if isinstance(line, Ask) else None

    def _judge(self, example: Example, asked: Ask, turn: int, verdict: Verdict) -> bool | None:
        """Take the verdict on a question; return whether the agent failed, or None if that is undecided."""
        self.verdicts[example.id, turn] = verdict
        self._observer.verdict(example, asked, verdict)
        return None if verdict.score is None else verdict.score < 1

    async def _check_store(self, example: Example, line: Line, turn: int) -> None:
        """After an example's last question, look for its facts in the agent's store."""
        if self._store.due_after(example.id, line):
            check = partial(self._store.check, example.id, turn)
            if self._calls.live:
                await check()
            elif self._store.lacks(example.id):
                self._calls.defer(self._turns, check)

    def _end(self, ended: Sequence[Completed]) -> None:
        for each in ended:
            self._heard.pop(each.example.id, None)
            self._recorder.put(events.Ended(example=each.example.id, span=each.span, overrun=each.overrun))
            self._observer.ended(each)

    async def _catch_up(self, going_on: SessionKey | None = None) -> None:
        await self._calls.catch_up(self._scheduler.number, self._turns, going_on)

    async def _exchange(
        self,
        message: Message,
        record: Callable[[], int],
        *,
        question: bool = False,
        early: Early | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> _Spoken:
        """Record a message and its reply, from the log or the agent."""
        doubtful = self._recorder.logged is not None
        if doubtful:
            sent = record()
            logged = self._recorder.logged
            if isinstance(logged, Replied) and logged.turn == message.turn:
                self._calls.replayed(message.turn, logged.said)
                return _Spoken(sent, logged.said, self._events.replied(logged.said))
        answer = await self._calls.ask(
            message,
            (lambda: sent) if doubtful else record,
            turns=self._turns,
            question=question,
            doubtful=doubtful,
            early=early,
            before=before,
        )
        tokens = self._events.replied(answer.reply)  # first of all: it was paid for
        await self._calls.note(message.turn, answer)
        return _Spoken(answer.tokens_sent, answer.reply, tokens, answer.recalled)

    async def _scripted(
        self,
        record: Callable[[], int],
        reply: Reply,
        known: Known = unknown,
        *,
        answered: Literal["script"] | None = None,
        going_on: SessionKey | None = None,
    ) -> _Spoken:
        """Record a message that a script answers in place of the agent, and the answer."""
        sent = record()
        if self._recorder.logged is None:  # killed between message and answer
            await self._catch_up(going_on)
        return _Spoken(sent, reply, self._events.replied(reply, known, answered))
