"""Claude with its memory tool: it writes what it wants to remember to files in the run's folder, and reads them again.

The SDK's own helper manages the files. Whatever no longer fits into `window` survives only there. The window is small
on purpose: a large one would leave nothing to remember. For every reply Claude may call the tool in up to `rounds`
rounds; usage covers all its requests. Every user has their own folder and conversation.

Observed turns stay in its window until they drop out; no file is written for them.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAsyncLocalFilesystemMemoryTool

from ltm_bench import Memory, Message, Reply, Turn, Usage
from ltm_bench.adapters import (
    SYSTEM,
    Change,
    DurableAgent,
    Files,
    Folder,
    FolderJournal,
    Tool,
    ToolAnswer,
    Toolbox,
    Window,
    agent_class,
    at_least,
    aware_time,
    is_about,
    require_scripted,
    stamped,
    user_folder,
)

if TYPE_CHECKING:
    from agents.anthropic_chat import AnthropicChat  # noqa: TID251  # type checkers know the file by this name
else:
    AnthropicChat = agent_class("anthropic_chat")

_SYSTEM = (
    f"{SYSTEM} You see only the latest part of the conversation. What is older is gone, unless you wrote it into your "
    "memory directory: write down at once what may be asked for or has to be done later, keep it up to date, and look "
    "it up before you say that you do not know."
)

_PROMPTED = 3000
"""Maximum of Claude's tokens for the tool's description and Anthropic's own instructions for it."""


class AnthropicMemory(DurableAgent, AnthropicChat):
    """A conversation with one model that keeps files about it.

    Args:
        system: The system message.
        window: Maximum tokens of a prompt, in the model's own; a quarter of them is for the tool.
        rounds: How often the model may use its memory for one reply.
        settings: Those of `anthropic_chat`.
    """

    writes_in_reply = True
    keeps_users = True
    can_reopen = True
    lacks_settings = frozenset({"compact_at"})

    def __init__(
        self, *, system: str = _SYSTEM, window: int = 32_000, rounds: int = 6, **settings: Any
    ) -> None:
        at_least("anthropic_memory", rounds=(rounds, 1), window=(window, 4096))
        self._rounds, self._spare = rounds, window // 4
        super().__init__(system=system, window=window - self._spare, **settings)
        self._conversations: dict[str | None, Window] = {}
        self._written: dict[tuple[str | None, str, str], Change] = {}
        self._newest: Turn | None = None

    # The files

    async def open(self, home: Path) -> None:
        """Make the client, and set the folder of the files."""
        await super().open(home)
        self._home = home
        self._journal = FolderJournal(home / "written.jsonl")

    def _folder(self, user: str | None) -> Folder:
        """Return the folder of a user's files; the SDK's helper keeps them in `memories`."""
        base = self._home / "files" if user is None else user_folder(self._home, user, "files")
        return Folder(base / "memories")

    def _note(self, change: Change, files: Files) -> None:
        """Record for every line in a user's files when it was written."""
        for path in change.edits:
            for line in files.get(path, b"").decode("utf-8", "replace").splitlines():
                self._written.setdefault((change.user, path, line.strip()), change)

    # The agent

    def _turn_to(self, user: str | None) -> None:
        """Continue a user's own conversation."""
        if user not in self._conversations:
            self._conversations[user] = self._new_conversation()
        self._conversation = self._conversations[user]

    async def reply(self, message: Message) -> Reply:
        """Answer, and write what is worth keeping to the files. On failure, restore them."""
        await self._ready()
        self._turn_to(message.user)
        folder = self._folder(message.user)
        before = folder.read()
        try:
            reply = await self.answer(self.frozen(message, continues=True), self._toolbox(folder))
        except BaseException:  # any failure, cancellation included
            folder.write(before)
            raise
        self._keep_changes(Turn(message, reply), message.user, before, folder.read())
        self._take(Turn(message, reply))
        return reply

    def _toolbox(self, folder: Folder) -> _MemoryTool:
        return _MemoryTool(folder, self._rounds, int(self._spare / self._ratio))

    def _keep_changes(self, turn: Turn, user: str | None, before: Files, after: Files) -> None:
        """Record the changes, so that a resumed run has the files that match its log."""
        if (change := self._journal.note(turn, user, before, after)) is not None:
            self._note(change, after)

    async def observe(self, turn: Turn) -> None:
        """Add a turn to the window; the files stay as they are."""
        await self._ready()
        self._take(turn)

    def _take(self, turn: Turn) -> None:
        self._turn_to(turn.message.user)
        self.take(turn.message, turn.reply)
        self._newest = turn

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Return to the conversation and the files as they were after these turns.

        Raises CannotResume if the files are gone: only Claude could write them again.
        """
        self._restored, there, replied = True, self._journal.exists, list[Turn]()
        self._conversations.clear()
        self._written.clear()

        def taken() -> Iterator[Turn]:
            for turn in turns:
                self._take(turn)
                if turn.answered == "agent":
                    replied[:] = [turn]
                yield turn

        kept = self._journal.cut(taken())
        if not there:
            require_scripted(replied, f"what Claude had written down is missing ({self._journal.path})")
        files = self._noted(kept)
        for stale in (*self._home.glob("files*"), *self._home.glob("fork-*")):
            shutil.rmtree(stale)
        for user, own in files.items():
            self._folder(user).write(own)

    async def reopen(self, home: Path, turns: Sequence[Turn], since: int) -> None:
        """Go on with the files as they are, and a new conversation of what was said since."""
        await self.open(home)
        self._restored = True
        self._noted(self._journal.read())
        self._newest = turns[-1] if turns else None
        for turn in turns[since:]:
            self._take(turn)

    def _noted(self, changes: Iterable[Change]) -> dict[str | None, dict[str, bytes]]:
        """Record when every line was written, by changes; return every user's files after them."""
        files: dict[str | None, dict[str, bytes]] = {}
        for change in changes:
            files[change.user] = change.done(files.get(change.user, {}))
            self._note(change, files[change.user])
        return files

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze the conversation and the files; the answer writes to a copy."""
        await self._ready()
        self._turn_to(message.user)
        prompt, files = self.frozen(message), self._folder(message.user).read()

        async def answer() -> Reply:
            with tempfile.TemporaryDirectory(prefix="fork-", dir=self._home) as place:
                folder = Folder(Path(place) / "memories")
                folder.write(files)
                return await self.answer(prompt, self._toolbox(folder))

        return answer

    def reserve(self, message: Message) -> Usage:
        """Return the most that a reply can use: in every round, the whole prompt newly cached and a full answer."""
        self._turn_to(message.user)
        prompt = self._conversation.most_tokens(stamped(message))
        if not prompt:
            return self._unused()
        requests = self._rounds + 1
        each = prompt + self._spare + self._max_output + _PROMPTED
        one = Usage(cache_write=each, output=self._max_output, model=self.model, provider=self.provider)
        return Usage.of([one] * requests)

    def usage_model(self) -> None:
        """Return nothing: how often a model uses its memory cannot be simulated; `reserve` gives the upper bound."""
        return

    # Its memory

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over the lines of all files."""
        for user in sorted({user for user, _, _ in self._written}, key=str):
            folder = self._folder(user)
            for path, content in folder.read().items():
                for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
                    if text := line.strip():
                        of = self._written.get((user, path, text))
                        at, turn = (None, None) if of is None else (aware_time(of.at), of.turn)
                        name = f"{folder.root.parent.name}/{path}:{number}"
                        yield Memory(text, at, turn, id=name, user=user)

    async def forget(self, query: str) -> int:
        """Delete the lines that mention something from all files; the window still shows recent turns."""
        gone = 0
        for user in sorted({user for user, _, _ in self._written}, key=str):
            folder = self._folder(user)
            before, after = folder.read(), dict[str, bytes]()
            for path, content in before.items():
                lines = content.splitlines(keepends=True)
                left = [line for line in lines if not is_about(line.decode("utf-8", "replace"), query)]
                gone += len(lines) - len(left)
                if left:
                    after[path] = b"".join(left)
            if after != before and self._newest is not None:
                folder.write(after)
                self._keep_changes(self._newest, user, before, after)
        return gone


class _MemoryTool(Toolbox):
    """The memory tool, executed by the SDK's helper."""

    tools = (Tool("memory", native={"type": "memory_20250818", "name": "memory"}),)

    def __init__(self, folder: Folder, rounds: int, room: int) -> None:
        self._helper = BetaAsyncLocalFilesystemMemoryTool(str(folder.root.parent))
        self.rounds, self.room = rounds, room

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        try:
            return ToolAnswer(str(await self._helper.call(dict(arguments))))
        except ToolError as error:
            return ToolAnswer(str(error), failed=True)
        except (OSError, AttributeError, TypeError, ValueError, NotImplementedError) as error:
            # The helper raises these for missing arguments or arguments of the wrong type.
            return ToolAnswer(
                f"{type(error).__name__}: {error}".replace(str(self._helper.base_path), ""), failed=True
            )
