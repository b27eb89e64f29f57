"""One conversation, one event at a time: the whole run, or one example of an isolated run.

Running and resuming are one path. Every event goes to the recorder, which compares it with the log, and writes it once
the log ends; only then is the agent called.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial

from ltm_bench.core.agent import SessionKey
from ltm_bench.core.errors import BudgetReached, RunIncomplete
from ltm_bench.core.messages import Ask, Line, Message, Reply, Tell, Turn, Verdict
from ltm_bench.log import events
from ltm_bench.log.events import Replied
from ltm_bench.log.forks import ForkFile
from ltm_bench.log.reader import is_finished
from ltm_bench.log.recorder import Recorder
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.controls import LoggedLine
from ltm_bench.runner.forks import Forks
from ltm_bench.runner.ladder import Climb, Ladder, Steps
from ltm_bench.runner.logged_filler import LoggedFiller
from ltm_bench.runner.observer import Observer
from ltm_bench.runner.outgoing import Early
from ltm_bench.runner.play import Exchanged, Saying, Talk, filler_of, play_of, scheduler_of
from ltm_bench.runner.recording import Recording
from ltm_bench.runner.store_check import StoreCheck
from ltm_bench.runner.tracing import Found, needles_of
from ltm_bench.schedule.scheduler import AllSaid, Completed, Fork, Jump, Send
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.script.scenario import Example

Verdicts = Mapping[tuple[str, int], Verdict]
"""The matchers' verdicts, by example and turn."""


class Conversation:
    """The state of one conversation."""

    replays = True
    """Whether an agent that is restored by observing hears the turns of its own log again."""
    waits = True
    """Whether a question waits for the agent's indexers."""
    frozen: Callable[[], Awaitable[Reply]] | None = None
    """Answers in the agent's place."""

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
        self._inside: dict[int, str] = {}
        """The needles with filler around them, by turn."""
        self._store = StoreCheck(calls.agent, recorder.path, calls.clock, self._scheduler.rehearsals)
        self._events = Recording(recorder, self._scheduler)
        self._turns = 0
        # When the last turn of an example ended in this process, by the clock.
        self._told: dict[str, float] = {}
        self._steps = None if ladder is None else Steps(ladder, calls)

    async def run(self) -> None:
        """Talk until every example has ended. Raises RunIncomplete or BudgetReached if it cannot continue."""
        calls, recorder = self._calls, self._recorder
        try:
            # Most agents are restored by observing every turn, which happens during the replay, so the log is read
            # once. The others are restored after it. A finished conversation restores no agent, but for the ladder.
            needed = self._steps is not None or not is_finished(recorder.path)
            if self.replays and calls.observes_the_replay and recorder.logged is not None and needed:
                await calls.open()
            try:
                await self.talk()
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

    def _steps_to_say(self) -> Talk:
        told = self._calls.agent.told_ideal  # its messages carry answers, which only composing gives
        filler = LoggedFiller(filler_of(self._plan), self._recorder, self._scheduler, compared=told)
        return play_of(self._plan, self._scheduler, filler, told_ideal=told)

    async def talk(self) -> None:
        """Talk until every example has ended, to an agent that is open or will be opened where the log ends."""
        scheduler, task, said = self._scheduler, asyncio.current_task(), None
        talk = self._steps_to_say()
        while not isinstance(step := talk.send(said), AllSaid):
            # An agent that never waits for anything gives the loop no chance to deliver a cancellation.
            if task is not None and task.cancelling():
                raise asyncio.CancelledError
            said = None
            if isinstance(step, Jump):
                self._recorder.put(events.Jumped(to=step.to, position=scheduler.position))
            elif isinstance(step, Completed):
                self._recorder.put(
                    events.Ended(example=step.example.id, span=step.span, overrun=step.overrun)
                )
                self._observer.ended(step)
            elif step.send is None:
                said = await self._fill(step)
            elif isinstance(step.send, Fork):
                said = await self._fork(step, step.send)
            else:
                said = await self._send(step, step.send)
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
            await self._steps.ended()

    async def _send(self, step: Saying, send: Send) -> Exchanged:
        calls, line, example, message = self._calls, send.line, send.example, step.message
        session = line.session if isinstance(line, Tell) else None
        going_on = None if session is None else (example.id, session)
        if self._recorder.logged is None:
            await self._catch_up(going_on)
        if isinstance(line, Ask) and line.restart:
            if self._steps is not None:  # what it froze is answered while it is open
                await self._steps.settle(cancel=False)
            await calls.restart(self._turns)
            self._store.agent = calls.agent
        if calls.live:
            await self._store.look_before(example.id, line, message.turn)
        climb, recalled = self._climb(step, send), None
        if step.known is not None:
            said = await self._scripted(step, step.known, going_on)
        else:
            early = None
            if isinstance(line, Ask) and not line.settle:
                pause = line.after or timedelta()
                early = Early(pause.total_seconds(), self._told.get(example.id))
            said, recalled = await self._exchange(step, early, None if climb is None else climb.freeze)
        turn, heard = step.turn(said.reply), step.heard
        verdict = verdict_on(line.expect, turn.reply, heard) if isinstance(line, Ask) else None
        if climb is not None and verdict is not None:
            climb.judge(verdict)
            if calls.agent.forks == "snapshot":  # its place is before the question
                await climb.here(self._turns)
        await self._take(turn, said)
        if calls.live:
            self._told[example.id] = calls.clock()
        if climb is not None:
            await climb.here(self._turns)
        if isinstance(line, Ask) and verdict is not None:
            failed = self._judge(example, line, message.turn, verdict)
            if recalled is not None and failed is not None:
                sought = needles_of(line, message, heard, example, self._inside)
                await calls.tracing.trace(message, sought, recalled, failed=failed)
        elif isinstance(line, Tell):
            await self._told_line(line, message)
        await self._check_store(example, line, message.turn)
        return said

    async def _told_line(self, line: Tell, message: Message) -> None:
        """Note what a needle that was told asks of the agent and of its diagnosis."""
        if line.inside:
            self._inside[message.turn] = line.buried[0].text
        if line.deletes:
            await self._calls.delete(line.deletes, message, turns=self._turns)

    async def _fork(self, step: Saying, fork: Fork) -> Exchanged:
        """Ask a question beside the conversation, unless its reply is known."""
        calls, line, example, message = self._calls, fork.line, fork.example, step.message
        if self._recorder.logged is None:
            await self._catch_up()
        forked = self._events.forked(fork, step.tokens)
        climb = self._climb(step, fork)

        def judge(reply: Reply, recalled: Found | None) -> None:
            turns = [*step.heard, Turn(message, reply, "ask", example.id, forked=True)]
            verdict = verdict_on(line.expect, reply, turns)
            if climb is not None:
                climb.judge(verdict)
            failed = self._judge(example, line, message.turn, verdict)
            if recalled is not None and failed is not None:
                sought = needles_of(line, message, turns, example, self._inside)
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
        return Exchanged(forked.tokens)

    async def _fill(self, step: Saying) -> Exchanged:
        if step.logged and step.known is not None:
            said = step.said(step.known)
            if step.by == "agent":
                self._calls.replayed(step.message.turn, step.known)
        else:
            if self._recorder.logged is None:
                await self._catch_up()
            if step.known is not None:
                said = await self._scripted(step, step.known)
            else:
                said, _ = await self._exchange(step)
        await self._take(step.turn(said.reply), said)
        return said

    async def _take(self, turn: Turn, said: Exchanged) -> None:
        """Let the agent observe a turn that it did not answer just now."""
        replayed = not self._calls.live
        if self._calls.opened and (replayed or turn.answered == "script"):
            await self._calls.observe(turn)
        self._turns += 1
        tokens = said.tokens + said.reply_tokens
        self._observer.turn(turn, tokens, self._scheduler.position + tokens, replayed=replayed)

    def _climb(self, step: Saying, sent: Send | Fork) -> Climb | None:
        """Return the rungs of a question, if missed ones are asked again."""
        if self._steps is None or not isinstance(sent.line, Ask):
            return None
        asked = LoggedLine(self._events.event(step), sent.line, Reply(""))
        return Climb(self._steps, sent.example, asked, step.message, step.heard)

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

    async def _catch_up(self, going_on: SessionKey | None = None) -> None:
        await self._calls.catch_up(self._scheduler.number, self._turns, going_on)

    async def _exchange(
        self,
        step: Saying,
        early: Early | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> tuple[Exchanged, Found | None]:
        """Record a message and its reply, from the log or the agent, of which retrieval may have given something."""
        record, message = partial(self._events.sent, step), step.message
        doubtful = self._recorder.logged is not None
        if doubtful:
            sent = record()
            logged = self._recorder.logged
            if isinstance(logged, Replied) and logged.turn == message.turn:
                self._calls.replayed(message.turn, logged.said)
                return Exchanged(sent, logged.said, self._events.replied(step, logged.said)), None
        answer = await self._calls.ask(
            message,
            (lambda: sent) if doubtful else record,
            turns=self._turns,
            question=step.kind == "ask" and self.waits,
            doubtful=doubtful,
            early=early,
            before=before,
            frozen=self.frozen,
        )
        tokens = self._events.replied(step, answer.reply)  # first of all: it was paid for
        await self._calls.note(message.turn, answer)
        return Exchanged(answer.tokens_sent, answer.reply, tokens), answer.recalled

    async def _scripted(self, step: Saying, reply: Reply, going_on: SessionKey | None = None) -> Exchanged:
        """Record a message that a script answers in place of the agent, and the answer."""
        sent = self._events.sent(step)
        if self._recorder.logged is None:  # killed between message and answer
            await self._catch_up(going_on)
        return Exchanged(sent, reply, self._events.replied(step, reply))
