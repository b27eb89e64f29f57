"""Synchronous code of a user's, called in a thread: the run goes on meanwhile, and need not wait for ever.

Python cannot end a thread. A call that took too long, or that nobody waits for any more, is left to itself: it ends
with the process, and nothing else is called where it may still be at work.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, ClassVar, Never
from weakref import WeakValueDictionary, finalize

from ltm_bench.core.errors import AgentError

_Jobs = SimpleQueue[Callable[[], None] | None]
"""What makes a call, and tells whoever waits for it; None ends the thread."""


class CallThread:
    """Makes one call after the other, all in the same thread: some objects know only the thread that made them.

    The thread begins with the first call, and ends when nobody has this object any more.
    """

    _shared: ClassVar[WeakValueDictionary[int, "CallThread"]] = WeakValueDictionary()
    _stuck: ClassVar[list["CallThread"]] = []
    """Those whose call did not end: whoever comes with the same object finds them."""

    def __init__(self, name: str, serves: object = None) -> None:
        """Set up; no thread is started yet.

        Args:
            name: What is called, for errors.
            serves: The object that is called, if it is shared; held, so that no other one gets its `id`.
        """
        self._name, self._serves = name, serves
        self._jobs: _Jobs | None = None
        self.left = False
        """Whether a call was left to itself, so that there are no others."""

    @classmethod
    def of(cls, name: str, serves: object) -> "CallThread":
        """Return the thread of an object that several conversations share."""
        found = cls._shared.get(id(serves))
        if found is None:
            found = cls._shared[id(serves)] = cls(name, serves)
        return found

    async def call(self, function: Callable[[], Any], seconds: float) -> Any:
        """Make a call when those before it have ended, and return or raise what it does.

        Args:
            function: The call.
            seconds: How long it may take, from its beginning on.

        Raises:
            AgentError: It took longer, or an earlier one was left to itself.
        """
        begun, ended = Future[None](), Future[tuple[Any, BaseException | None]]()
        call: Callable[[], Any] = partial(copy_context().run, function)

        def make() -> None:
            if ended.set_running_or_notify_cancel():  # unless whoever asked has given up before it began
                begun.set_result(None)
                try:
                    ended.set_result((self._refused() if self.left else call(), None))
                except BaseException as error:  # whatever a user's code raises is for whoever waits
                    ended.set_result((None, error))

        if self._jobs is None:
            self._jobs = SimpleQueue()
            finalize(self, self._jobs.put, None)
            Thread(target=_work, args=(self._jobs,), name="ltm-bench agent", daemon=True).start()
        self._jobs.put(make)
        if self.left:
            self._refuse(self._jobs)
        try:
            await asyncio.wait([asyncio.wrap_future(begun)])
            await asyncio.wait([asyncio.wrap_future(ended)], timeout=seconds)
        finally:
            if late := not ended.cancel() and not ended.done():
                self.left = True
                self._stuck.append(self)
                self._refuse(self._jobs)
        if late:
            raise too_slow(self._name, seconds)
        result, error = ended.result()
        if error is not None:
            raise error
        return result

    def _refuse(self, jobs: _Jobs) -> None:
        """Let those that wait behind a call that was left know."""
        while not jobs.empty():
            if (job := jobs.get()) is not None:
                job()

    def _refused(self) -> Never:
        raise AgentError(
            f"{self._name} is still in a call that did not end, and is not called again; start again in another "
            "process, or name a class, of which every conversation gets its own instance"
        )


def _work(jobs: _Jobs) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # it has whoever may end this thread by letting go of it


def too_slow(name: str, seconds: float) -> AgentError:
    """Return the error for a call that took too long."""
    return AgentError(
        f"{name} took more than {seconds:g} s for one call; if it needs longer, raise --timeout"
    )
