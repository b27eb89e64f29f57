"""An agent that is a program with files of its own in the run's folder, for each user its own.

After every turn, what it changed in its files is recorded: a resumed run gets those of its log back, and a forked
question leaves none. Such a program cannot take a turn that was answered elsewhere, so an observed turn is handed over
with the next message.
"""

import asyncio
import os
import shutil
import signal
import sys
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from ltm_bench.adapters.files import user_folder, users_in
from ltm_bench.adapters.memories.durable import DurableAgent, require_scripted
from ltm_bench.adapters.memories.folder_journal import Change, Folder, FolderJournal, files_after
from ltm_bench.adapters.text import pieces, sendable, stamped
from ltm_bench.core.clock import stamp
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message, Reply, Turn

_LOOK, _LOOKS = 0.05, 600
"""Seconds between two checks whether the files are at rest, and the number of checks."""

_MEANWHILE = "Before the next message, this was said. It has been answered: only take note of it.\n\n"
_PART = "The rest follows. Reply with OK."


class ProgramAgent(DurableAgent, ABC):
    """Base of these agents. `_home` is set by `open`, before anything else."""

    forks = "barrier"
    keeps_users = True
    writes_in_reply = True
    can_reopen = True

    FOLDER: ClassVar[str]
    """The folder of the only user there is, and the beginning of the names of the others'."""
    LOCKS: ClassVar[str]
    """The pattern of files that exist while the program changes others."""
    NAME: ClassVar[str]
    """What the program is called in errors."""
    APART: ClassVar[Set[str]] = frozenset()
    """Names of folders in which it remembers nothing: what they hold stays, and is not recorded."""

    def __init__(self, longest: int) -> None:
        """Set up; `longest` is the number of characters of missed turns that are handed over at once."""
        self._longest = longest
        self._pending: defaultdict[str | None, list[Turn]] = defaultdict(list)
        self._recorded: dict[str | None, Mapping[str, bytes]] = {}
        self._newest: Turn | None = None
        self._lock = asyncio.Lock()

    async def open(self, home: Path) -> None:
        """Find the journal."""
        self._home = home.resolve()  # the program runs in another folder
        self._journal = FolderJournal(home / "written.jsonl")

    @abstractmethod
    async def _say(self, user: str | None, text: str) -> Reply:
        """Send a text to a user's program, and wait for the end of its turn. Raises AgentError."""

    @abstractmethod
    async def _stop(self, user: str | None) -> None:
        """End a user's program before anything else changes its files."""

    def _folder(self, user: str | None) -> Folder:
        """Return the folder of a user's program."""
        home = self._home / self.FOLDER if user is None else user_folder(self._home, user, self.FOLDER)
        return Folder(home, self.APART)

    async def reply(self, message: Message) -> Reply:
        """Let the program answer. On failure, all its files are restored."""
        await self._ready()
        user = message.user
        async with self._lock:
            before = await self._files(user)
            try:
                reply = await self._answer(user, self._told(message))
                self._newest = Turn(message, reply)
                await self._record(user)
            except BaseException:  # any failure, cancellation included
                await self._put(user, before)
                raise
            self._pending.pop(user, None)
        return reply

    async def _files(self, user: str | None) -> dict[str, bytes]:
        """Return a user's files once the program, which may lock them after a turn, has finished with them."""
        folder = self._folder(user)
        for _ in range(_LOOKS):
            # Its work after a turn may begin at any moment, and a lock that was kept would never be released.
            if (files := folder.read_at_rest(self.LOCKS)) is not None:
                return files
            await asyncio.sleep(_LOOK)
        raise AgentError(f"{self.NAME} does not leave its files alone; resume the run")

    async def _record(self, user: str | None) -> None:
        """Record what has changed in a user's files, so that a resumed run has those of its log."""
        if self._newest is not None:
            files = await self._files(user)
            self._journal.note(self._newest, user, self._recorded.get(user, {}), files)
            self._recorded[user] = files

    async def _answer(self, user: str | None, told: Iterable[str]) -> Reply:
        """Send a text to a user's program, in parts; return its reply to the last part, and the usage of all parts."""
        replies = [await self._say(user, text) for text in told]
        used = [each.usage for each in replies if each.usage is not None]
        known = len(used) == len(replies)
        return Reply(replies[-1].text, sum(used[1:], used[0]) if known else None, replies[-1].finish)

    def _told(self, message: Message) -> Iterator[str]:
        """Return what to send for a message: first the turns that the program missed, in parts that fit its window."""
        missed = "\n\n".join(
            f"[{stamp(turn.message.at)}]\nUser: {turn.message.text}\nYou: {turn.reply.text}"
            for turn in self._pending.get(message.user, ())
        )
        *early, last = [*pieces(missed, self._longest)] or [""]
        for part in early:
            yield f"{_MEANWHILE}{part}\n\n{_PART}"
        yield sendable(f"{_MEANWHILE}{last}\n\n{stamped(message)}" if last else stamped(message))

    async def observe(self, turn: Turn) -> None:
        """Keep a turn, to hand it over with the user's next message."""
        await self._ready()
        self._pending[turn.message.user].append(turn)

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Give every program the files that it had after these turns.

        Raises CannotResume if they are gone: only the program could write them again.
        """
        turns, there = list(turns), self._journal.exists
        if not there:
            require_scripted(turns, f"what the agent had written is missing ({self._journal.path})")
        kept = self._journal.cut(turns)
        if there:
            await self.close()
            for stale in self._home.glob(f"{self.FOLDER}*"):
                shutil.rmtree(stale)
        self._pending.clear()
        self._recorded = dict(files_after(kept))
        for user, files in self._recorded.items():
            await self._put(user, files)
        self._hold(turns, kept)

    def _hold(self, turns: Iterable[Turn], changes: Iterable[Change]) -> None:
        """Hand over, with the next message, the turns after the last one at which each program's files changed."""
        heard = {change.user: change.turn for change in changes}  # the last one of each stays
        for turn in turns:
            if turn.message.turn > heard.get(turn.message.user, -1):
                self._pending[turn.message.user].append(turn)
            self._newest = turn
        self._restored = True

    async def reopen(self, home: Path, turns: Sequence[Turn], since: int) -> None:
        """Go on with every program's files as they are. What no program was handed yet is still to come."""
        await self.open(home)
        for user in (None, *users_in(self._home, self.FOLDER)):
            self._recorded[user] = await self._files(user)
        self._hold(turns, self._journal.read())

    async def _put(self, user: str | None, files: Mapping[str, bytes]) -> None:
        """Give a user's program these files."""
        await self._stop(user)
        self._folder(user).write(files)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze the program's files; the answer is given in its folder, which is then restored.

        A copy would not do: a program knows the path of its memory, and would write into the real one.
        """
        await self._ready()
        user, told = message.user, list(self._told(message))

        async def answer() -> Reply:
            async with self._lock:
                files = await self._files(user)
                try:
                    return await self._answer(user, told)
                finally:
                    await self._put(user, files)

        return answer


async def last_of(stream: asyncio.StreamReader) -> bytes:
    """Read a stream to its end, so that the program never waits for us, and keep the last of it."""
    last = b""
    while piece := await stream.read(65536):
        last = (last + piece)[-4096:]
    return last


async def end_program(process: asyncio.subprocess.Process) -> None:
    """Kill a program that leads its own session, and what it has started: that may outlive it."""
    with suppress(ProcessLookupError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()
    await exit_of(process)
    process._transport.close()  # type: ignore[attr-defined]  # what it has started elsewhere may hold its pipes open


async def exit_of(process: asyncio.subprocess.Process) -> int:
    """Return a program's exit code once it has ended. `process.wait` waits for the ends of its pipes, too."""
    while process.returncode is None:
        await asyncio.sleep(_LOOK)
    return process.returncode
