"""Asks questions of another run's log again: a conversation like any other, in which that log gives the words."""

from dataclasses import replace
from functools import partial
from typing import cast

from ltm_bench.core.messages import AnsweredBy, Ask, Line, Message, Tell, Turn
from ltm_bench.log.controls import RUNGS
from ltm_bench.log.events import Replied
from ltm_bench.log.forks import ForkFile
from ltm_bench.log.reader import read_turns
from ltm_bench.log.recorder import Recorder
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.controls import AskedTalk, Before
from ltm_bench.runner.conversation import Conversation
from ltm_bench.runner.observer import Observer, Silent
from ltm_bench.runner.play import Exchanged, Saying, Talk
from ltm_bench.runner.rungs import KNOWS_NOTHING
from ltm_bench.schedule.scheduler import AllSaid, Completed, Send
from ltm_bench.script.rehearsal import briefed, needs_no_agent


class Retelling(Conversation):
    """One conversation in which questions are asked again. Its scheduler keeps the place alone."""

    def __init__(
        self,
        plan: Plan,
        about: AskedTalk,
        calls: Caller,
        recorder: Recorder,
        forks: ForkFile,
        observer: Observer,
    ) -> None:
        """Prepare. Nothing is said yet.

        Args:
            plan: The plan of the run that asks again.
            about: What is said.
            calls: The agent.
            recorder: The log.
            forks: Stays empty.
            observer: Gets every event.
        """
        super().__init__(plan, [], calls, recorder, forks, observer)
        self._about, self._kind = about, plan.manifest.asks
        self.replays, self.frozen = about.before is None, about.frozen
        # Only what goes through a memory waits for its indexers.
        self.waits = self._kind not in ("blind", "evidence")
        if self._kind in RUNGS:
            self._scheduler.position = about.said[0].sent.position

    async def talk(self) -> None:
        """Tell a fresh agent what comes before, and say everything."""
        before = self._about.before
        if before is not None and not isinstance(self._recorder.peek(), Replied):
            await self._hear(before)
        await super().talk()

    async def _hear(self, before: Before) -> None:
        """Have a fresh agent hear the run's log, up to the question."""
        calls, question = self._calls, self._about.said[0].sent
        await calls.begin_again(question.turn, before.log)
        for turns, turn in enumerate(read_turns(before.log)):
            line = before.lines.get(turn.message.turn)
            if isinstance(line, Ask) and line.restart:
                await calls.restart(turns)
            if turn.message.turn >= question.turn:
                break
            await calls.hear_again(turn)
            if isinstance(line, Tell) and line.deletes:
                await calls.delete(line.deletes, turn.message, turns=turns + 1)

    def _steps_to_say(self) -> Talk:
        scheduler, count, heard = self._scheduler, self._plan.counter.count, list[Turn]()
        for sent, line, logged in self._about.said:
            scheduler.number = sent.turn
            scheduler.clock.jump(sent.at)
            known = logged if self._plan.manifest.acknowledge == "scripted" and needs_no_agent(line) else None
            by: AnsweredBy = "agent" if known is None else "script"
            if isinstance(line, Ask):
                line = replace(line, search_by=sent.search_by, settle=True, restart=False)
            message = self._briefed(sent.said, line)
            send = Send(self._about.example, line, sent.message, due=None, first=False, tokens=None)
            tokens, reply_tokens = partial(count, sent.message), lambda reply: count(reply.text)
            step = Saying(sent.kind, message, tokens, reply_tokens, heard, send, by, known)
            said = cast(Exchanged, (yield step))
            scheduler.position += said.tokens + said.reply_tokens
        yield Completed(self._about.example, scheduler.position, 0)
        yield AllSaid()

    async def _take(self, turn: Turn, said: Exchanged) -> None:
        if self.frozen is None:
            await super()._take(turn, said)
        else:  # the agent is at work in its own conversation, which this is no part of
            self._turns += 1

    def _briefed(self, message: Message, line: Line) -> Message:
        if not self._calls.agent.told_ideal:
            return message
        if self._kind == "blind":
            return replace(message, ideal=KNOWS_NOTHING)
        return briefed(message, line, self._about.example)


async def say_again(plan: Plan, about: AskedTalk, calls: Caller, recorder: Recorder) -> None:
    """Say everything to an agent that somebody else opens and closes."""
    with ForkFile(recorder.path) as forks:
        await Retelling(plan, about, calls, recorder, forks, Silent()).talk()
