"""Any MCP memory server, over stdio or HTTP, and a core model that answers (extra `mcp`).

    --agent mcp -A core=openai:gpt-6-luna -A command="npx -y @modelcontextprotocol/server-memory@2026.8.31"

The core sees the server's tools and uses them as it likes, in up to `rounds` rounds per reply; whatever it does not
store is lost once it no longer fits into its `window`. If `store` and `search` are named, the core has no choice: the
first tool stores every turn, and the core gets what the second finds for a message.

A server that is started here and keeps its files in {home} belongs to the run: resuming resets it to the state of the
log, it can be forked, and every user has their own. A server at a URL is shared by all; if it has heard more than the
log, the run cannot be resumed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ltm_bench import CannotResume, Finding, Memory, Message, Reply, Turn, Usage
from ltm_bench.adapters import (
    SYSTEM,
    Address,
    ConfigError,
    Core,
    DurableAgent,
    Folder,
    FolderJournal,
    Ledger,
    McpRoles,
    McpServer,
    McpTools,
    SdkChatModel,
    at_least,
    core_agent,
    files_after,
    installed,
    is_about,
    items_in,
    object_set,
    operating,
    require_scripted,
    sendable,
    stamp,
    user_folder,
    users_in,
)

_SYSTEM = (
    f"{SYSTEM} You see only the latest part of the conversation. What is older is gone, unless you stored it with your "
    "tools, which are your memory: store at once what may be asked for or has to be done later, keep it up to date, "
    "and look it up before you say that you do not know."
)

_DESCRIBED = 6000
"""Maximum tokens, in the core's own, for the descriptions of a server's tools in a prompt."""


class Mcp(DurableAgent):
    """A core model with a memory behind MCP.

    Args:
        core: The adapter that answers, and its model, e.g. `openai:gpt-6-luna`.
        command: The command that starts the server; {home} in it is the folder for the server's files.
        url: The server's URL, if it is not started here.
        variables: Environment variables for the started server, as JSON; {home} is filled in.
        passed_on: Names of our environment variables to pass on to it, separated by commas.
        headers: HTTP headers and the environment variables that hold their values, `Authorization=MY_TOKEN`.
        store: The tool that stores a turn; without it, the core uses the tools as it likes.
        store_arguments: Its arguments, as JSON with {text}, {message}, {reply}, {time}, {turn} and {user}.
        search: The tool that finds memories near to a message.
        search_arguments: Its arguments, as JSON with {query}, {limit}, {time} and {user}.
        listing: The tool that lists everything.
        listing_arguments: Its arguments, as JSON with {user}.
        forgetting: The tool that deletes one of the listed items.
        forgetting_arguments: Its arguments, as JSON with the item's fields; {item} is an element of a list in it.
        base_url: The core's API, if not the provider's.
        window: Maximum tokens of the core's prompt; a quarter of them is for the tools.
        rounds: Maximum rounds of tool calls per reply.
        memories: Number of memories searched for per message.
        recent: Number of newest turns that the core sees verbatim, if `store` and `search` are named.
        timeout: Seconds to wait for one answer of the server, or of the core.
        max_retries: Retries of a failed request to the core.
    """

    can_reopen = True

    def __init__(
        self,
        *,
        core: str,
        command: str = "",
        url: str = "",
        variables: str = "{}",
        passed_on: str = "",
        headers: str = "",
        store: str = "",
        store_arguments: str = "",
        search: str = "",
        search_arguments: str = "",
        listing: str = "",
        listing_arguments: str = "{}",
        forgetting: str = "",
        forgetting_arguments: str = "{}",
        base_url: str | None = None,
        window: int = 32_000,
        rounds: int = 6,
        memories: int = 20,
        recent: int = 4,
        timeout: float = 60.0,
        max_retries: int = 4,
    ) -> None:
        at_least("mcp", window=(window, 4096), rounds=(rounds, 1), memories=(memories, 1), recent=(recent, 0))
        if bool(command) == bool(url):
            raise ConfigError("mcp: set either command, which starts a server, or url, where one is")
        if bool(store) != bool(search):
            raise ConfigError(
                "mcp: name both store and search, or neither: then the core uses the tools as it likes"
            )
        own = object_set("mcp", "variables", variables)
        named = dict(each.strip().partition("=")[::2] for each in headers.split(",") if each.strip())
        self._address = Address(
            command,
            url,
            {name: str(value) for name, value in own.items()},
            [each.strip() for each in passed_on.split(",") if each.strip()],
            named,
        )
        self._roles = McpRoles(
            store=(store, store_arguments),
            search=(search, search_arguments),
            listing=(listing, listing_arguments),
            forgetting=(forgetting, forgetting_arguments),
        )
        self._local = "{home}" in command or any("{home}" in str(value) for value in own.values())
        self._spare, self._rounds, self._limit, self._newest = window // 4, rounds, memories, recent
        self._timeout = timeout
        settings = {"base_url": base_url, "timeout": timeout, "max_retries": max_retries}
        self._chosen = Core(core, settings, window) if store else None
        self.uses = memories if store else None
        self._core = core
        self._settings: dict[str, Any] = {**settings, "window": window - self._spare, "system": _SYSTEM}
        self._model = self._new_chat()  # a wrong setting fails at once
        asked = self._model or self._chosen
        assert asked is not None
        self.connections, self.metered = asked.connections, asked.metered
        self.writes_in_reply = self._chosen is None
        self.forks = "snapshot" if self._local or self._chosen is not None else "no"
        self.keeps_users = self._local or "{user}" in store_arguments
        self._minds: dict[str | None, _Mind] = {}
        self._last: Turn | None = None

    # The server

    async def open(self, home: Path) -> None:
        """Start the server, or connect to it."""
        self._home = home
        self._ledger = Ledger(home / "heard.jsonl")
        self._journal = FolderJournal(home / "written.jsonl")
        await self._mind(None)

    async def _mind(self, user: str | None) -> _Mind:
        """Return a user's part of this agent: a server, if the run owns it, and a conversation with the core."""
        key = user if self.keeps_users else None
        if key not in self._minds:
            shared = self._minds.get(None) if not self._local else None
            folder = Folder(
                self._home / "server" if user is None else user_folder(self._home, user, "server")
            )
            if self._restored and self._local:
                folder.write({})  # leftovers of an abandoned conversation
            mind = _Mind(folder, self._new_chat(), deque(maxlen=self._newest))
            if mind.chat is not None:
                await mind.chat.open(self._home)
            mind.server = shared.server if shared is not None else await self._started(folder)
            self._minds[key] = mind
        return self._minds[key]

    def _new_chat(self) -> SdkChatModel | None:
        if self._chosen is not None:
            return None
        chat = core_agent(self._core, self._settings)
        if not isinstance(chat, SdkChatModel) or type(chat).calls is SdkChatModel.calls:
            raise ConfigError(
                f"mcp: core = {self._core!r} calls no tools; use openai_chat, openai_responses or anthropic_chat, or "
                "name the tools with store and search"
            )
        return chat

    async def _started(self, folder: Folder) -> McpServer:
        server = McpServer(self._address, folder.root, self._timeout)
        await server.start()
        try:
            self._roles.check(server)
        except ConfigError:
            await server.stop()
            raise
        return server

    def _read(self, mind: _Mind) -> dict[str, bytes]:
        return mind.folder.read() if self._local else {}

    async def _reset(self, mind: _Mind, files: Mapping[str, bytes]) -> None:
        """Restart a server of the run's own with these files."""
        if self._local:
            await mind.server.stop()
            mind.folder.write(files)
            mind.server = await self._started(mind.folder)

    # The agent

    async def reopen(self, home: Path, turns: Sequence[Turn], since: int) -> None:
        """Go on with what the server kept, and tell it what it missed since."""
        await self.open(home)
        for user in users_in(home, "server"):
            await self._mind(user)
        self._restored = True
        count = len(self._ledger.heard)
        if self._chosen is None:
            require_scripted(turns[count:], "what the core had stored is missing")
        for turn in turns[since:count]:
            await self._take(turn)
        for turn in turns[count:]:
            await self.observe(turn)

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Reset the run's own server to these turns, and tell it what it has not heard.

        Raises CannotResume if the server is not the run's own and has heard more, or if the core cannot be asked again
        to store what is missing.
        """
        turns = list(turns)
        agreed = self._ledger.agreed(turns)
        if not self._local and not self._ledger.clean(agreed):
            raise CannotResume(
                f"the MCP server {self._address} has heard more than the log; start the run again, with --fresh"
            )
        if self._chosen is None:
            require_scripted(turns[agreed:], "what the core had stored is missing")
        if self._local:
            self._ledger.cut(agreed)
            files = files_after(self._journal.cut(turns[:agreed]))
            for stale in [*self._home.glob("server-*"), *self._home.glob("fork-*")]:
                if stale.is_dir():
                    shutil.rmtree(stale)
            self._restored = True
            for user in (None, *(user for user in files if user is not None)):
                await self._reset(await self._mind(user), files.get(user, {}))
        self._restored = True
        for turn in turns[:agreed]:
            await self._take(turn)
        for turn in turns[agreed:]:
            await self.observe(turn)

    async def _take(self, turn: Turn) -> None:
        """Add a turn to those that the core sees."""
        mind = await self._mind(turn.message.user)
        mind.recent.append(turn)
        if mind.chat is not None:
            mind.chat.take(turn.message, turn.reply)
        self._last = turn

    async def observe(self, turn: Turn) -> None:
        """Store a turn on the server, if a tool is named for that; the core sees it among the newest."""
        await self._ready()
        mind = await self._mind(turn.message.user)
        self._ledger.begin(turn.message.turn)
        if self._chosen is not None:
            before = self._read(mind)
            with operating("write"):
                await self._store(mind, turn)
            self._journal.note(turn, turn.message.user, before, self._read(mind))
        self._ledger.finish(turn)
        await self._take(turn)

    async def _store(self, mind: _Mind, turn: Turn) -> None:
        message = turn.message
        said = f"User: {message.text}" + (f"\nYou: {turn.reply.text}" if turn.reply.text.strip() else "")
        values = {
            "text": sendable(f"[{stamp(message.at)}]\n{said}"),
            "message": sendable(message.text),
            "reply": sendable(turn.reply.text),
            "time": message.at.isoformat(),
            "turn": message.turn,
            "user": message.user or "",
        }
        await self._roles.use(mind.server, "store", values)

    async def reply(self, message: Message) -> Reply:
        """Answer from the memory, and store what is worth storing; on failure, nothing has been stored."""
        await self._ready()
        mind = await self._mind(message.user)
        if self._chosen is not None:
            prompt = await self._looked_up(mind, message)
            with operating("answer") as done:
                reply = await self._chosen.reply(self._home / "core", prompt)
                done.used(reply.usage)
            await self.observe(Turn(message, reply))
            return reply
        assert mind.chat is not None
        before = self._read(mind)
        self._ledger.begin(message.turn)
        try:
            reply = await self._answer(mind.chat, message, mind.server)
        except BaseException:  # any failure, cancellation included
            await self._reset(mind, before)
            raise
        turn = Turn(message, reply)
        self._journal.note(turn, message.user, before, self._read(mind))
        self._ledger.finish(turn)
        await self._take(turn)
        return reply

    async def _answer(self, chat: SdkChatModel, message: Message, server: McpServer) -> Reply:
        prompt = chat.frozen(message, continues=True)
        return await chat.answer(prompt, McpTools(server, self._rounds, self._room))

    @property
    def _room(self) -> int:
        """Maximum tokens, by our counter, for tool calls and their answers."""
        return max(256, (self._spare - _DESCRIBED // 2) // 2)

    async def _looked_up(self, mind: _Mind, message: Message) -> Message:
        """Return the core's prompt, with what the server finds for a message."""
        assert self._chosen is not None
        with operating("retrieve"):
            found = await self._search(mind, message.query, self._limit, message)
        return replace(message, text=self._chosen.prompt(message, found, mind.recent))

    async def _search(
        self, mind: _Mind, query: str, limit: int, message: Message | None = None
    ) -> list[Memory]:
        values = {
            "query": sendable(query),
            "limit": limit,
            "time": "" if message is None else message.at.isoformat(),
            "user": (message.user if message is not None else None) or "",
        }
        text, data = await self._roles.use(mind.server, "search", values)
        return [Memory(said) for said, _ in items_in(data if data is not None else text)][:limit]

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze what the server finds, or a copy of its files for the core to use."""
        if self.forks == "no":
            return await super().fork(message)
        await self._ready()
        mind, core = await self._mind(message.user), self._chosen
        if core is not None:
            prompt = await self._looked_up(mind, message)

            async def answer_from_it() -> Reply:
                with operating("answer") as done:
                    reply = await core.reply_apart(self._home / "core", prompt)
                    done.used(reply.usage)
                return reply

            return answer_from_it
        chat = mind.chat
        assert chat is not None
        frozen, files = chat.frozen(message), self._read(mind)

        async def answer() -> Reply:
            with tempfile.TemporaryDirectory(prefix="fork-", dir=self._home) as place:
                folder = Folder(Path(place) / "server")
                folder.write(files)
                server = await self._started(folder)
                try:
                    return await chat.answer(frozen, McpTools(server, self._rounds, self._room))
                finally:
                    await server.stop()

        return answer

    def reserve(self, message: Message) -> Usage | None:
        """Return the most that a reply can use: in every round a full prompt and a full answer."""
        if self._chosen is not None:
            return self._chosen.reserve(message)
        mind = self._minds.get(message.user if self.keeps_users else None)
        chat = self._model if mind is None else mind.chat
        most = None if chat is None else chat.reserve(message)
        if most is None:
            return None
        requests = self._rounds + 1
        prompt = most.prompt and most.prompt + self._spare + _DESCRIBED + most.output
        return Usage.of([replace(most, cache_write=prompt, uncached=0)] * requests)

    # Its memory

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return what the named tool finds."""
        if "search" not in self._roles:
            raise NotImplementedError("mcp: name a tool that searches (search)")
        return await self._search(await self._mind(None), query, limit)

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over what the named tool lists, for every user."""
        if "listing" not in self._roles:
            raise NotImplementedError("mcp: name a tool that lists everything (listing)")
        for user, mind in list(self._minds.items()):
            for text, _ in await self._listed(user, mind):
                yield Memory(text, user=user)

    async def _listed(self, user: str | None, mind: _Mind) -> list[tuple[str, Mapping[str, Any]]]:
        text, data = await self._roles.use(mind.server, "listing", {"user": user or ""})
        return items_in(data if data is not None else text)

    async def forget(self, query: str) -> int:
        """Delete, one by one, the listed items about something."""
        if not ("listing" in self._roles and "forgetting" in self._roles):
            raise NotImplementedError("mcp: name tools that list and delete (listing, forgetting)")
        gone = 0
        for user, mind in list(self._minds.items()):
            before = self._read(mind)
            for text, fields in await self._listed(user, mind):
                if is_about(text, query):
                    await self._roles.use(mind.server, "forgetting", {**fields, "user": user or ""})
                    gone += 1
            if self._last is not None:
                self._journal.note(self._last, user, before, self._read(mind))
        return gone

    async def examine(self) -> Sequence[Finding]:
        """Check whether the client is installed."""
        return [installed("mcp", "mcp")]

    async def close(self) -> None:
        """Stop the servers that were started here, and close all connections."""
        for server in {id(mind.server): mind.server for mind in self._minds.values()}.values():
            await server.stop()
        for mind in self._minds.values():
            if mind.chat is not None:
                await mind.chat.close()
        if self._chosen is not None:
            await self._chosen.close()


class _Mind:
    """A user's part of the agent."""

    server: McpServer

    def __init__(self, folder: Folder, chat: SdkChatModel | None, recent: deque[Turn]) -> None:
        self.folder, self.chat, self.recent = folder, chat, recent
