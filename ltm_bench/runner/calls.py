"""Calls to the agent of one conversation: opens it, catches up with the log, asks it, and keeps to the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from shutil import rmtree

from ltm_bench.adapters.http.traffic import Traffic
from ltm_bench.adapters.operations import Done, Operation, noting
from ltm_bench.adapters.routing import OpenTurn, route
from ltm_bench.core.agent import Agent, SessionKey, session_of
from ltm_bench.core.budget import Budget, Payment
from ltm_bench.core.errors import AgentError
from ltm_bench.core.limits import answers_of
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.core.pricing import dollars
from ltm_bench.log.calls import Place, Role, SideFiles
from ltm_bench.log.reader import read_turns
from ltm_bench.log.recorder import Recorder
from ltm_bench.plan.agents import server_of
from ltm_bench.runner.guarding import guarded, unusable
from ltm_bench.runner.outgoing import CallResult, Early, Outgoing, share_out
from ltm_bench.runner.paying import Notes, Payments
from ltm_bench.runner.tracing import Found, Tracing


class Caller:
    """The agent of one conversation, and every call to it."""

    def __init__(
        self,
        make_agent: Callable[[], Agent],
        recorder: Recorder,
        files: SideFiles,
        *,
        home: Path,
        budget: Budget,
        places: asyncio.Semaphore,
        conversation: str | None,
        on_doubt: Callable[[str], None],
        charged: Set[Place] = frozenset(),
        role: Role = "agent",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare the calls. Calls nothing.

        Args:
            make_agent: Makes the agent, and another one when it is closed and opened again.
            recorder: The conversation's recorder.
            files: Records the wall-clock time of every call, and what it cost.
            home: The agent's own folder.
            budget: What may be spent.
            places: Limits concurrent calls; shared with other conversations.
            conversation: The conversation's name, if the run has several.
            on_doubt: Called with a turn that the agent may get twice.
            charged: Logged replies that were charged without a usage, by conversation and turn.
            role: Whose calls they are.
            sleep: Waits for some seconds, before a question that does not wait for indexers.
        """
        self._make_agent = make_agent
        self._route = route()
        self.agent = agent = self._another()
        self.live = False
        """Whether the agent has caught up with the log and can be asked."""
        self.opened = False
        self._recorder, self._log = recorder, recorder.path
        self._files, self.clock = files, files.timings.clock
        self._notes = Notes(files, conversation, role)
        self.tracing = Tracing(agent, recorder.path, self.clock)
        self._home = home
        self._budget = budget
        self._payments = Payments(agent, budget, places, self._notes)
        self._places = places
        self._conversation = conversation
        self._on_doubt = on_doubt
        self._charged = charged
        self._sleep = sleep
        self._session: list[Turn] = []  # the session being told, for an agent that takes sessions
        self._deferred: list[tuple[int, Callable[[], Awaitable[None]]]] = []  # after which turns, and what
        self._since: int | None = None  # the turns before the agent was last closed and opened again
        self._beside = False  # whether its calls are those of another conversation, which the gateway knows
        self._turn = 0  # the last one the agent has heard, for errors

    def _another(self) -> Agent:
        agent = self._make_agent()
        if self._route is not None:
            agent.free = True  # the gateway pays for each of its calls
        return agent

    @property
    def observes_the_replay(self) -> bool:
        """Whether the agent is restored by observing every turn, which it can do during the replay."""
        return type(self.agent).restore is Agent.restore

    async def open(self) -> None:
        """Open the agent."""
        self.opened = True  # first: an agent whose `open` fails is closed all the same
        self._home.mkdir(parents=True, exist_ok=True)
        await guarded(lambda: self.agent.open(self._home), self._turn)

    async def close(self) -> None:
        """Close the agent and the side files."""
        try:
            if self.opened:
                await guarded(self.agent.close, self._turn)
        finally:
            self.tracing.close()

    async def observe(self, turn: Turn) -> None:
        """Let the agent observe a turn, or a whole session at its end if it takes sessions."""
        if self._session and session_of(turn) != session_of(self._session[0]):
            await self._tell_session()
        if turn.session is not None and self.agent.takes_sessions:
            self._session.append(turn)
        else:
            await self._tell([turn], lambda: self.agent.observe(turn))

    async def _tell_session(self) -> None:
        """Let the agent observe the finished session, if any."""
        if turns := self._session:
            self._session = []
            await self._tell(turns, lambda: self.agent.observe_session(tuple(turns)))

    async def _tell(self, turns: Sequence[Turn], call: Callable[[], Awaitable[None]]) -> None:
        """Make a call that tells the agent turns."""
        self.tracing.store_changes()
        last = turns[-1].message
        self._turn = last.turn
        # All that it hears: what embedding or storing it may cost depends on that, not on the last message.
        heard = "\n".join(f"{turn.message.text}\n{turn.reply.text}" for turn in turns)
        begun = self.clock()
        with noting() as noted, self._seeing(last.turn, "write") as seen:
            await self._payments.pay_for(call, replace(last, text=heard))
        if self.live and self.agent.observes:
            done = noted or [Done("write", self.clock() - begun)]
            share_out(seen, done)
            self._notes.did(last.turn, done)

    async def catch_up(self, turn: int, turns: int, going_on: SessionKey | None = None) -> None:
        """Open the agent and bring it to the end of the log, unless it is there.

        Args:
            turn: The number of the next turn; all before it are in the log.
            turns: The number of those turns; turns and forks are numbered together.
            going_on: The session of the next turn; its logged turns are told once it is over.
        """
        self._turn = turn
        if self.live:
            return
        self.live = True
        # Before the agent gets anything: without this note, whoever resumes next has every call in doubt.
        self._notes.caught_up(turn, untold=not (self.agent.can_be_told or not turns))
        await self.restore_to(turns, going_on)

    async def begin_again(self, turn: int, log: Path) -> None:
        """Open a fresh agent, which is to hear another log before a turn. What an earlier one has kept is removed."""
        self._log = log
        rmtree(self._home, ignore_errors=True)
        await self.catch_up(turn, 0)

    async def hear_again(self, turn: Turn) -> None:
        """Have the agent observe a turn of that log, or send it the message again if it would not remember it so."""
        if self.agent.observes and (turn.answered == "script" or not self.agent.writes_in_reply):
            await self.observe(turn)
            return
        # An attempt that was cut off may have been billed; one that ended is in the calls.
        asked = Outgoing(turn.message, "turn", self._payments.charge_lost(turn.message) or None, None)
        async with self._payments.granted(turn.message) as granted:
            answer = await self._called(asked, lambda: self.agent.reply(turn.message), lambda: 0, granted)
        self.note_beside(turn.message.turn, answer)

    async def restart(self, turns: int) -> None:
        """Close the agent, and have another instance go on from what it kept by itself.

        During a replay, an earlier process has done that; the agent is then opened in this way once it is asked.
        """
        self._since = turns
        if self.live:
            await guarded(self.agent.close, self._turn)
            self.agent = self._payments.agent = self.tracing.agent = self._another()
            await self._reopen(turns)

    async def _reopen(self, turns: int) -> None:
        logged, since = list(islice(read_turns(self._log), turns)), self._since or 0
        await guarded(lambda: self.agent.reopen(self._home, logged, since), self._turn)

    def defer(self, turns: int, act: Callable[[], Awaitable[None]]) -> None:
        """Have something done once the agent has heard just these turns: an interruption may have prevented it."""
        self._deferred.append((turns, act))

    def has_deferred(self, turns: int) -> bool:
        """Whether something was deferred until after these turns."""
        return any(after == turns for after, _ in self._deferred)

    async def restore_to(self, turns: int, going_on: SessionKey | None = None) -> None:
        """Open the agent and restore it from the log's first turns; an open agent has heard them already.

        Then do what was deferred until after just these turns.
        """
        if not self.opened and self._since is not None:
            self.opened = True
            await self._reopen(turns)
        elif not self.opened:
            await self.open()
            if turns:
                logged: Iterator[Turn] = islice(read_turns(self._log), turns)
                if self.agent.takes_sessions and going_on is not None:
                    logged = self._but_for(going_on, logged)
                await guarded(lambda: self.agent.restore(logged), self._turn)
        due = [act for after, act in self._deferred if after == turns]
        # Those of earlier turns are dropped: the last run did them, or it would not have come to later ones.
        self._deferred = [each for each in self._deferred if each[0] > turns]
        for act in due:
            await act()

    def _but_for(self, going_on: SessionKey, turns: Iterator[Turn]) -> Iterator[Turn]:
        """Yield turns, except for those of this session at their end."""
        for turn in turns:
            if session_of(turn) == going_on:
                self._session.append(turn)
            else:
                yield from self._session
                self._session = []
                yield turn

    def beside(self, recorder: Recorder, files: SideFiles, conversation: str, charged: Set[Place]) -> Caller:
        """Return calls to the same agent, which is open, for a control's log. Whoever opened the agent closes it."""
        found = Caller(
            lambda: self.agent,
            recorder,
            files,
            home=self._home,
            budget=self._budget,
            places=self._places,
            conversation=conversation,
            on_doubt=self._on_doubt,
            charged=charged,
            role="control",
        )
        found.opened = found._beside = True
        return found

    async def return_to(self, message: Message, turns: int) -> None:
        """Bring the agent to the place of a question that the log holds, after these turns, unless it is there."""
        await self.restore_to(turns)
        await self._tell_session()
        await self._payments.pay_for(self.agent.settle, message)

    async def freeze(self, message: Message) -> tuple[Callable[[], Awaitable[Reply]], Payment]:
        """Have the agent, at this place, freeze its prompt for a question that may never be asked.

        If it is not, its payment is to fail: what freezing was billed, no reply reports.
        """
        return await self._payments.pay_ahead(lambda: self.agent.fork(message), message)

    async def ask(
        self,
        message: Message,
        record: Callable[[], int],
        *,
        turns: int,
        question: bool,
        doubtful: bool,
        early: Early | None = None,
        before: Callable[[], Awaitable[None]] | None = None,
        frozen: Callable[[], Awaitable[Reply]] | None = None,
    ) -> CallResult:
        """Ask the agent for a reply.

        Args:
            message: The message.
            turns: The number of turns before it.
            record: Records that the message goes out, and returns its tokens; called at the last moment, when nothing
                can prevent the call any more.
            question: Whether the reply will be scored; if so, waits for the agent's indexers first.
            doubtful: Whether the log already holds the message, so that the agent may get it twice.
            early: When it goes out, for a question that does not wait for indexers.
            before: Called when everything has settled, before the agent gets the message.
            frozen: Answers in place of `reply`, from what the agent froze when everything had settled.
        """
        # Before this process notes its own start: without the note of an earlier one, everything is in doubt.
        lost = self._payments.charge_lost(message) if doubtful else None
        await self.catch_up(message.turn, turns)
        await self._tell_session()  # nothing else ends a session that the question follows
        if not question:
            self.tracing.store_changes()
        recalled = None
        if early is not None:
            await self._sleep(early.left(self.clock()))
        elif question and frozen is None:
            recalled = await self._settled(message)
        if before is not None:
            await before()
        async with self._payments.granted(message) as granted:
            asked = Outgoing(message, "turn", lost, recalled, told=early and early.told)
            call = frozen or (lambda: self.agent.reply(message))
            return await self._called(asked, call, record, granted)

    async def fork(
        self,
        message: Message,
        record: Callable[[], int],
        frozen: asyncio.Event,
        *,
        doubtful: bool,
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> CallResult:
        """Have the agent freeze its prompt for a forked question, and then answer it.

        Args:
            message: The question.
            record: Records that it goes out, and returns its tokens; called at the last moment.
            frozen: Set as soon as the conversation can continue, whatever happens to the question.
            doubtful: Whether it went out before, so that the agent may get it twice.
            before: As for `ask`.
        """
        try:
            lost = self._payments.charge_lost(message) if doubtful else None
            await self._tell_session()
            recalled = await self._settled(message)
            if before is not None:
                await before()
            async with self._payments.granted(message) as granted:
                with noting() as noted, self._seeing(message.turn, "retrieve") as seen:
                    call = await guarded(lambda: self.agent.fork(message), message.turn)
                if noted:
                    share_out(seen, noted)
                frozen.set()  # the conversation goes on while the call is answered
                asked = Outgoing(message, "forked question", lost, recalled, noted)
                return await self._called(asked, call, record, granted)
        finally:
            frozen.set()  # after a failure, too, or the conversation would wait for ever

    async def delete(self, queries: Sequence[str], message: Message, *, turns: int) -> None:
        """Have the agent delete what it was asked to delete, if that takes a separate call.

        An agent that decides what to remember while it replies has been asked in words, and needs no call. An agent
        that hears the logged turns again deletes again. One that does not has deleted it, except perhaps after the
        log's last turn.

        Args:
            queries: What to delete.
            message: The message that asked for it.
            turns: The number of turns up to and including that message.
        """
        if type(self.agent).forget is Agent.forget or self.agent.writes_in_reply:
            return
        if self.opened:
            await self._delete(queries, message)
        else:
            self.defer(turns, partial(self._delete, queries, message))

    async def _delete(self, queries: Sequence[str], message: Message) -> None:
        self.tracing.store_changes()
        for query in queries:
            await self._payments.pay_for(partial(self._forget, query), message)

    async def _forget(self, query: str) -> None:
        with suppress(NotImplementedError):
            await self.agent.forget(query)

    async def _settled(self, message: Message) -> Found | None:
        """Wait for the agent's indexers, and return what retrieval gives for a question."""
        begun = self.clock()
        with self._seeing(message.turn, "settle") as seen:
            await self._payments.pay_for(self.agent.settle, message)
        if type(self.agent).settle is not Agent.settle:
            settled = Done("settle", self.clock() - begun)
            share_out(seen, [settled])
            self._notes.did(message.turn, [settled])
        # No money was reserved for a look-up, and an embedder may bill it.
        if self._budget.limit is not None and not self.agent.free:
            return None
        return await self.tracing.recalled(message)

    async def _called(
        self,
        asked: Outgoing,
        call: Callable[[], Awaitable[Reply]],
        record: Callable[[], int],
        granted: tuple[Payment, Traffic],
    ) -> CallResult:
        """Call the agent, and return the result."""
        turn, (payment, heard) = asked.message.turn, granted
        begun = self.clock()
        try:
            # The time again: writing the log is not the agent's time.
            sent, begun = record(), self.clock()
            if asked.lost is not None:
                self._doubt(turn, asked.lost, asked.what)
            # After the log has the message: if the process dies in between, nothing was sent, and no turn is in doubt.
            payment.calling()
            with (
                noting() as noted,
                answers_of(self.agent.max_bytes),
                self._seeing(turn, "answer", asked=True) as seen,
            ):
                reply = await guarded(call, turn)
            if problem := unusable(reply, self.agent.max_bytes):
                raise AgentError(f"the agent failed at turn {turn}: reply() returned {problem}")
            self._check_money()  # whatever it says: it was refused a call for lack of it
        except BaseException as error:  # any exception ends the call
            payment.fail()
            self._notes.call(turn, "failed_after", self.clock() - begun, heard)
            if isinstance(error, AgentError):
                self._check_money()
            raise
        seconds, before = self.clock() - begun, payment.charged
        # What the gateway saw is paid for. If it saw nothing, the agent may call its provider past it.
        by_gateway = self._route is not None and self._route.arrived > 0
        payment.settle(None if by_gateway else reply.usage)
        charged = payment.charged - before
        known = charged or (self.agent.free and self._route is None)
        done = [*asked.frozen, *noted]
        # Time that the agent attributes to nothing counts as answering.
        if all(each.name != "answer" for each in noted):
            rest = seconds - sum(each.seconds for each in noted)
            done.append(Done("answer", max(0.0, rest), [] if self.agent.free or noted else [reply.usage]))
        if seen is not None:
            share_out(seen, done)
            reply = replace(reply, usage=None)  # what it says of itself would be counted twice
        late = None if asked.told is None else begun - asked.told
        return CallResult(
            reply, sent, seconds, heard, asked.recalled, charged if known else None, done, late, by_gateway
        )

    def _seeing(
        self, turn: int, operation: Operation, *, asked: bool = False
    ) -> AbstractContextManager[OpenTurn | None]:
        """Tie what the gateway sees inside the block to a turn."""
        if self._route is None:
            return nullcontext()
        return self._route.turn(turn, operation, asked=asked)

    def _check_money(self) -> None:
        """Raise BudgetReached if the gateway had no money for a call."""
        if self._route is not None and self._route.stopped is not None:
            raise self._route.stopped

    def note_beside(self, number: int, answer: CallResult) -> None:
        """Record how long the answer to a fork took, and what it cost."""
        self._notes.call(number, "seconds", *answer.noted)
        if answer.by_gateway and self._beside:
            self._notes.paid_elsewhere(number)
        elif not answer.by_gateway:
            self._notes.paid(number, answer, server_of(self.agent))

    async def note(self, turn: int, answer: CallResult) -> None:
        """Record how long a logged reply took, and sync a paid one."""
        self.note_beside(turn, answer)
        if not self.agent.free or self._route is not None:
            self._recorder.sync_soon(self._files.timings.path, self._files.calls.path)
            await asyncio.sleep(0)  # an agent that never awaits would starve the sync

    def replayed(self, turn: int, reply: Reply) -> None:
        """Note a logged reply. Its cost has been counted; this only notes whether that is known."""
        priced = reply.usage is not None and dollars(reply.usage) is not None
        if not (priced or self.agent.free or (self._conversation, turn) in self._charged):
            self._budget.unknown = True

    def _doubt(self, turn: int, lost: Decimal, what: str) -> None:
        """Report a turn or fork that the agent has heard, or may have heard, and now gets again."""
        self._notes.doubted(turn, lost)
        self._on_doubt(f"{what} {turn}" + (f" of {self._conversation}" if self._conversation else ""))
