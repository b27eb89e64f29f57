"""Asks the questions that a run missed again, with ever more help, in logs of their own.

An agent that forks by snapshot freezes every rung at the question's place, and answers those of missed questions while
the conversation goes on. One whose forks hold the conversation up is asked right after the question. Any other is asked
after the run, in turns that it hears like all others.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from ltm_bench.core.budget import Budget, Payment
from ltm_bench.core.messages import Ask, Message, Reply, Turn, Verdict
from ltm_bench.log.calls import SideFiles
from ltm_bench.log.controls import Scope, ladder_of, write_ladder
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import read_turns
from ltm_bench.log.recorder import Recorder
from ltm_bench.matchers.forms import dump
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.controls import LoggedLine, cost_of_controls, rehearsed, unfit, unnamed
from ltm_bench.runner.outgoing import CallResult
from ltm_bench.runner.recording import json_form
from ltm_bench.runner.rungs import Rung, is_missed, rungs_of
from ltm_bench.script.scenario import Example

_Asking = Callable[[Caller, Callable[[], int], bool], Awaitable[CallResult]]
"""Asks through a caller; `record` notes that the message goes out, and the last argument says that it did before."""


class Ladder:
    """The ladder of a run. Its scope is written on leaving."""

    def __init__(self, plan: Plan, folder: Path, budget: Budget, clock: Callable[[], float]) -> None:
        """Count what it has cost so far. Asks nothing.

        Args:
            plan: The run's plan.
            folder: The run's folder.
            budget: What may be spent.
            clock: Seconds from any fixed moment.
        """
        self.plan = plan
        self.home = ladder_of(folder)
        self.home.mkdir(parents=True, exist_ok=True)
        cost = cost_of_controls(plan, folder, "ladder")
        budget.count(cost.total)
        self.charged = cost.replies
        self.files = SideFiles(self.home, clock)
        self.missed: list[Climb] = []

    def __enter__(self) -> "Ladder":
        return self

    def __exit__(self, *_: object) -> None:
        self.files.close()
        self.missed.sort(key=lambda climb: climb.name)  # forks are judged in any order
        left_out: dict[str, dict[str, str]] = {}
        for climb in self.missed:
            for rung, why in climb.lacking.items():
                left_out.setdefault(rung, {})[f"{climb.example.id}#{climb.turn}"] = why
        asked = [climb for climb in self.missed if climb.rungs]
        scope = Scope(
            questions=len(asked),
            to_go=sum(len(list(climb.open())) for climb in asked),
            left_out=left_out,
            choices={climb.name: rung.choices for climb in asked for rung in climb.rungs if rung.choices},
            after=self.plan.agents.sample.forks == "no",
        )
        write_ladder(self.home, scope)


class Climb:
    """The rungs of one question."""

    def __init__(
        self,
        steps: "Steps",
        example: Example,
        line: Ask,
        asked: Message,
        position: int,
        heard: Sequence[Turn],
    ) -> None:
        """Prepare. Derives nothing yet, and asks nothing.

        Args:
            steps: The ladder in the conversation.
            example: The question's example.
            line: What the script yielded.
            asked: The question, as the agent gets it.
            position: Tokens of the conversation before it.
            heard: The example's turns before it.
        """
        steps.climbs.append(self)
        self.example = example
        self.turn = asked.turn
        self.name = f"{example.id.replace('/', '-')}-{self.turn}"
        self._steps, self._line, self._position = steps, line, position
        self._heard = tuple(heard)
        self._asked = asked
        self.too_late = ""
        """Why it cannot be asked after the run; empty if it can."""
        self.missed = self._begun = False
        self._frozen: list[tuple[Rung, Callable[[], Awaitable[Reply]], Payment]] = []

    @cached_property
    def _planned(self) -> tuple[list[Rung], dict[str, str]]:
        said = rehearsed(self.example, self._steps.ladder.plan)
        return rungs_in(said, self.example, self._line, self._asked, self._heard)

    @property
    def rungs(self) -> Sequence[Rung]:
        """Its rungs, from the lowest."""
        return [] if self.too_late else self._planned[0]

    @property
    def lacking(self) -> Mapping[str, str]:
        """Why it lacks the others, by name."""
        return {"again": self.too_late} if self.too_late else self._planned[1]

    def reply_to(self, rung: Rung) -> Reply | None:
        """Return the logged reply to a rung."""
        path = self._log_of(rung)
        return next((turn.reply for turn in read_turns(path)), None) if path.exists() else None

    def open(self) -> Iterator[Rung]:
        """Yield the rungs without a reply."""
        return (rung for rung in self.rungs if self.reply_to(rung) is None)

    async def freeze(self) -> None:
        """Have an agent that forks by snapshot freeze every rung. The agent must be at the question's place."""
        calls = self._steps.calls
        if calls.agent.forks == "snapshot":
            self._frozen = [(rung, *await calls.freeze(rung.message)) for rung in self.open()]

    def judge(self, verdict: Verdict) -> None:
        """Take the verdict on the question; if it was missed, start to ask what was frozen."""
        turns = (*self._heard, Turn(self._asked, Reply(""), "ask", self.example.id))
        self.missed = is_missed(self._line.expect, verdict, turns)
        if self.missed:
            self._steps.ladder.missed.append(self)
            if self._frozen:
                self._start()
        else:
            for *_, payment in self._frozen:
                payment.fail()

    def _start(self) -> None:
        self._begun = True
        self._steps.tasks.append(asyncio.create_task(self._answer()))

    async def _answer(self) -> None:
        for rung, call, _ in self._frozen:
            await self._ask(rung, rung.message, _frozen(rung.message, call))

    async def here(self, turns: int) -> None:
        """Ask the rungs of a missed question, if that has not begun, of an agent that can fork.

        Args:
            turns: The turns that the agent has heard at this place; if it has not, it is restored.
        """
        calls = self._steps.calls
        if not self.missed or self._begun or not (rungs := list(self.open())) or calls.agent.forks == "no":
            return
        await calls.return_to(self._asked, turns)
        if calls.agent.forks == "snapshot":
            await self.freeze()
            self._start()
            return
        for rung in rungs:
            call, _ = await calls.freeze(rung.message)
            await self._ask(rung, rung.message, _frozen(rung.message, call))

    async def ask_after(self, rung: Rung, message: Message, turns: int) -> None:
        """Ask a rung as a turn of the conversation."""
        await self._ask(
            rung,
            message,
            lambda calls, record, doubtful: calls.ask(
                message, record, turns=turns, question=True, doubtful=doubtful
            ),
        )

    async def _ask(self, rung: Rung, message: Message, ask: _Asking) -> None:
        ladder, count = self._steps.ladder, self._steps.ladder.plan.counter.count
        path = self._log_of(rung)
        sent = Sent(
            turn=message.turn,
            kind="ask",
            example=self.example.id,
            message=message.text,
            tokens=count(message.text),
            position=self._position,
            at=message.at,
            expect=json_form(dump(self._line.expect)),
            user=message.user,
            search_by=message.search_by,
        )
        with Recorder(path) as recorder:
            doubtful = recorder.logged is not None
            calls = self._steps.calls.beside(recorder, ladder.files, path.stem, ladder.charged)
            if doubtful:
                recorder.put(sent)

            def record() -> int:
                if not doubtful:
                    recorder.put(sent)
                return sent.tokens

            answer = await ask(calls, record, doubtful)
            reply = answer.reply
            recorder.put(Replied.of(message.turn, reply, count(reply.text)))
            calls.note_fork(message.turn, answer)

    def _log_of(self, rung: Rung) -> Path:
        return self._steps.ladder.home / "isolated" / f"{self.name}-{rung.name}.jsonl"


def rungs_in(
    said: Sequence[LoggedLine], example: Example, line: Ask, asked: Message, heard: Sequence[Turn]
) -> tuple[list[Rung], dict[str, str]]:
    """Return the rungs of a question, and why it lacks the others, by name.

    Args:
        said: All that its example says.
        example: Its example.
        line: What the script yielded.
        asked: The question as it was asked.
        heard: The example's turns before it.
    """
    if why := unfit("blind", said):
        return [], {"again": why}
    nameless = "its set does not name what holds the answer"
    whole = nameless if unnamed(said, said[0]._replace(line=line)) else unfit("evidence", said)
    return rungs_of(example, line, asked, heard, whole=whole)


def _frozen(message: Message, call: Callable[[], Awaitable[Reply]]) -> _Asking:
    return lambda calls, record, doubtful: calls.answer(message, call, record, doubtful=doubtful)


class Steps:
    """The ladder in one conversation."""

    def __init__(self, ladder: Ladder, calls: Caller) -> None:
        """Prepare to ask the agent of these calls. Asks nothing."""
        self.ladder, self.calls = ladder, calls
        self.tasks: list[asyncio.Task[None]] = []
        self.climbs: list[Climb] = []
        self._newest: dict[str, str] = {}  # by topic

    def hears(self, example: Example) -> None:
        """Note that an example speaks. Of those that share a topic, one speaks after the other."""
        self._newest |= dict.fromkeys(example.scenario.topics, example.id)

    async def finish(self, turns: int, number: int, now: datetime) -> None:
        """Wait for all replies; ask an agent that cannot fork now. Raises the first error, if any.

        Args:
            turns: Turns of the conversation.
            number: The number of the next turn.
            now: The benchmark's time.
        """
        if self.tasks:
            await asyncio.wait(self.tasks)  # all of them first: they are paid for
        for task in self.tasks:
            task.result()
        if self.calls.agent.forks != "no":
            return
        missed = [climb for climb in self.climbs if climb.missed]
        for climb in missed:
            climb.too_late = self._too_late(climb.example)
        first = {climb.example.id: place for place, climb in reversed(list(enumerate(missed)))}
        missed.sort(key=lambda climb: first[climb.example.id])
        every = [(climb, rung) for climb in missed for rung in climb.rungs]
        every.sort(
            key=lambda each: each[1].name == "retold"
        )  # last: it tells the agent what others still ask
        untold: list[Turn] = []
        for place, (climb, rung) in enumerate(every):
            message = replace(rung.message, turn=number + place, at=now)
            if (reply := climb.reply_to(rung)) is not None:
                untold.append(Turn(message, reply, "ask", climb.example.id))
                continue
            await self.calls.restore_to(turns)
            for turn in untold:
                await self.calls.observe(turn)
            untold.clear()
            await climb.ask_after(rung, message, turns + place)

    def _too_late(self, example: Example) -> str:
        """Return why an example cannot be asked about after the run; empty if it can."""
        if example.scenario.forget is not None and not example.alone:
            return "the agent cannot fork, and after the run it has been told to forget it"
        if any(self._newest[topic] != example.id for topic in example.scenario.topics):
            return "the agent cannot fork, and after the run its topic has come up again"
        return ""

    async def settle(self, *, cancel: bool) -> None:
        """Wait for what was asked when the conversation must stop, or cancel it."""
        for task in self.tasks if cancel else ():
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
