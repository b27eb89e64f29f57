"""The forked questions of one conversation: answered concurrently beside it, without a trace in it.

A fork is frozen at its point of the conversation, and answered whenever its answer arrives. Replies go into a side file
at once, and into the log at the end, in order of id: equal replies give equal logs, in whatever order they arrive.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from ltm_bench.core.messages import Message
from ltm_bench.core.tokens import Counter
from ltm_bench.log.events import Answered, Forked
from ltm_bench.log.forks import ForkFile
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.outgoing import CallResult


class Beside:
    """What is asked beside a conversation while that goes on."""

    def __init__(self) -> None:
        self._running: list[asyncio.Task[None]] = []

    def start(self, asking: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin to ask."""
        self._running.append(asyncio.create_task(asking))
        return self._running[-1]

    async def ended(self) -> None:
        """Wait for all answers. Raises the first error, if any."""
        # All of them first: one that fails must not cost the others, which are paid for.
        for outcome in await asyncio.gather(*self._running, return_exceptions=True):
            if outcome is not None:
                raise outcome

    async def settle(self, *, cancel: bool) -> None:
        """Wait for pending answers when the conversation must stop, or cancel them; ask nothing more."""
        for task in self._running if cancel else ():
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


class Forks(Beside):
    """The forks of one conversation."""

    def __init__(self, calls: Caller, file: ForkFile, counter: Counter) -> None:
        """Prepare. Asks nothing.

        Args:
            calls: The agent.
            file: Keeps replies until they are in the log.
            counter: Counts the tokens of replies.
        """
        super().__init__()
        self._calls = calls
        self._file = file
        self._counter = counter
        self._answers: dict[int, Answered] = {}

    def known(self, forked: Forked) -> Answered | None:
        """Return a fork's reply from before an interruption."""
        answered = self._file.answer_to(forked)
        if answered is not None:
            self._answers[forked.id] = answered
            self._calls.replayed(forked.id, answered.said)
        return answered

    async def ask(
        self,
        forked: Forked,
        message: Message,
        then: Callable[[CallResult], None],
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Have the agent freeze its prompt, and answer later; if its forks are barriers, before this returns.

        Args:
            forked: The fork.
            message: The question.
            then: Called with the answer, once that is kept.
            before: Called when everything has settled, before the agent gets the question.
        """
        frozen = asyncio.Event()
        task = self.start(self._answer(forked, message, frozen, then, before))
        await frozen.wait()
        if self._calls.agent.forks == "barrier":
            # or its failure would show at the end, when the agent has heard too much to be asked again
            await task

    async def _answer(
        self,
        forked: Forked,
        message: Message,
        frozen: asyncio.Event,
        then: Callable[[CallResult], None],
        before: Callable[[], Awaitable[None]] | None,
    ) -> None:
        def record() -> int:
            self._file.asks(forked)
            return forked.tokens

        doubtful = self._file.under_way(forked)
        answer = await self._calls.fork(message, record, frozen, doubtful=doubtful, before=before)
        reply = answer.reply
        answered = Answered(
            id=forked.id,
            reply=reply.text,
            tokens=self._counter.count(reply.text),
            finish=reply.finish,
            usage=reply.usage,
        )
        self._file.answers(answered)  # before all else: it was paid for
        self._answers[forked.id] = answered
        self._calls.note_beside(forked.id, answer)
        if not self._calls.agent.free:
            # In a thread, and each reply by itself: the conversation goes on, and a crash loses no paid reply.
            await asyncio.to_thread(self._file.sync)
        then(answer)

    async def finish(self) -> list[Answered]:
        """Wait for all answers, and return them in order of id. Raises the first fork's error, if any."""
        await self.ended()
        return [self._answers[number] for number in sorted(self._answers)]
