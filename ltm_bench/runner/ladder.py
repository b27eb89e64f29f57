"""Asks the questions that a run missed again, with ever more help, of an agent that forks.

An agent that forks by snapshot freezes every rung at the question's place, and answers those of missed questions while
the conversation goes on. One whose forks hold the conversation up is asked right after the question. Any other is asked
by runs of the rungs (`ltm_bench.runner.controls`).
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from functools import cached_property
from pathlib import Path
from typing import cast

from ltm_bench.core.budget import Payment
from ltm_bench.core.messages import Ask, Message, Reply, Turn, Verdict
from ltm_bench.log.calls import Place, SideFiles
from ltm_bench.log.controls import RUNGS, again_of
from ltm_bench.log.reader import is_finished
from ltm_bench.log.recorder import Recorder, start_run
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.controls import (
    AskedTalk,
    LoggedLine,
    Missed,
    asked_of,
    note_asked,
    rehearsed,
    rungs_in,
)
from ltm_bench.runner.forks import Beside
from ltm_bench.runner.rungs import Rung, is_missed
from ltm_bench.runner.spent import cost_of
from ltm_bench.script.scenario import Example

SayAgain = Callable[[Plan, AskedTalk, Caller, Recorder], Awaitable[None]]


class Ladder:
    """The ladder of a run. Its scope is written on leaving."""

    def __init__(self, plan: Plan, folder: Path, clock: Callable[[], float], say: SayAgain) -> None:
        """Begin the runs of the rungs. Asks nothing.

        Args:
            plan: The run's plan.
            folder: The run's folder.
            clock: Seconds from any fixed moment.
            say: Says a rung's conversation.
        """
        self.plan, self.say = plan, say
        self.homes = {rung: again_of(folder, rung) for rung in RUNGS}
        self.charged = dict[str, Set[Place]]()
        self.files = dict[str, SideFiles]()
        for rung, home in self.homes.items():
            home.mkdir(parents=True, exist_ok=True)
            start_run(home, plan.manifest.again(rung))
            self.charged[rung], self.files[rung] = cost_of(home).replies, SideFiles(home, clock)
        self.missed: list[Climb] = []

    def __enter__(self) -> "Ladder":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for files in self.files.values():
            files.close()
        # Judged in any order.
        missed = sorted((climb.planned for climb in self.missed), key=lambda each: each.name)
        for rung, home in self.homes.items():
            note_asked(home, [each.on(rung) for each in missed], unfinished=kind is not None)


class Climb:
    """The rungs of one question."""

    def __init__(
        self, steps: "Steps", example: Example, asked: LoggedLine, message: Message, heard: Sequence[Turn]
    ) -> None:
        """Prepare. Derives nothing yet, and asks nothing.

        Args:
            steps: The ladder in the conversation.
            example: The question's example.
            asked: The question.
            message: It as the agent gets it.
            heard: The example's turns before it.
        """
        self._steps, self._example, self._asked, self._message = steps, example, asked, message
        self._heard = tuple(heard)
        self.missed = self._begun = False
        self._frozen: list[tuple[Rung, Callable[[], Awaitable[Reply]], Payment]] = []

    @cached_property
    def planned(self) -> Missed:
        """The question with its rungs."""
        example, said = self._example, rehearsed(self._example, self._steps.ladder.plan)
        rungs = rungs_in(said, example, cast(Ask, self._asked.line), self._message, self._heard)
        return Missed(example, self._asked, *rungs)

    def open(self) -> Iterator[Rung]:
        """Yield the rungs without a reply."""
        return (rung for rung in self.planned.rungs if not is_finished(self._log_of(rung)))

    async def freeze(self) -> None:
        """Have an agent that forks by snapshot freeze every rung. The agent must be at the question's place."""
        calls = self._steps.calls
        if calls.agent.forks == "snapshot":
            self._frozen = [(rung, *await calls.freeze(rung.message)) for rung in self.open()]

    def judge(self, verdict: Verdict) -> None:
        """Take the verdict on the question; if it was missed, start to ask what was frozen."""
        turns = (*self._heard, Turn(self._message, Reply(""), "ask", self._example.id))
        self.missed = is_missed(cast(Ask, self._asked.line).expect, verdict, turns)
        if self.missed:
            self._steps.ladder.missed.append(self)
            if self._frozen:
                self._start()
        else:
            for *_, payment in self._frozen:
                payment.fail()

    def _start(self) -> None:
        self._begun = True
        self._steps.start(self._answer())

    async def _answer(self) -> None:
        for rung, call, _ in self._frozen:
            await self._ask(rung, call)

    async def here(self, turns: int) -> None:
        """Ask the rungs of a missed question, if that has not begun.

        Args:
            turns: The turns that the agent has heard at this place; if it has not, it is restored.
        """
        calls = self._steps.calls
        if not self.missed or self._begun or not (rungs := list(self.open())):
            return
        await calls.return_to(self._message, turns)
        if calls.agent.forks == "snapshot":
            await self.freeze()
            self._start()
            return
        for rung in rungs:
            call, _ = await calls.freeze(rung.message)
            await self._ask(rung, call)

    async def _ask(self, rung: Rung, call: Callable[[], Awaitable[Reply]]) -> None:
        ladder, (talk,) = self._steps.ladder, self.planned.on(rung.name).talks
        with Recorder(self._log_of(rung)) as recorder:
            files = ladder.files[rung.name]
            calls = self._steps.calls.beside(recorder, files, talk.name, ladder.charged[rung.name])
            await ladder.say(asked_of(ladder.plan, rung.name), talk._replace(frozen=call), calls, recorder)

    def _log_of(self, rung: Rung) -> Path:
        return self._steps.ladder.homes[rung.name] / "isolated" / f"{self.planned.name}.jsonl"


class Steps(Beside):
    """The ladder in one conversation."""

    def __init__(self, ladder: Ladder, calls: Caller) -> None:
        """Prepare to ask the agent of these calls. Asks nothing."""
        super().__init__()
        self.ladder, self.calls = ladder, calls
