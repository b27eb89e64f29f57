"""Any agent that speaks the Agent Client Protocol, as editors do: Gemini CLI, OpenCode, Qwen Code (extra `acp`).

    --agent acp -A command="qwen --acp --auth-type openai" --gateway --upstream openai=https://api.openai.com/v1

Its program is started once for every user, in a folder of the run that is also its home, and gets each message as a
prompt of one session; a resumed run loads that session again. What its files hold after every turn is recorded, so a
resumed run gets those of its log back. What its calls cost, only the gateway knows.

**The program runs as you, and may do what you may.** What it asks a permission for is refused, unless `allow` names
that kind of tool; but which tools it asks for is its own choice. Run it in a container.
"""

import asyncio
import json
import shlex
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ltm_bench import AgentError, CannotResume, Finding, Finish, Message, Reply
from ltm_bench.adapters import (
    ConfigError,
    ProgramAgent,
    content_of,
    end_program,
    exit_of,
    json_of,
    last_of,
    need,
    object_set,
    program_environment,
    scrubbed,
    too_long,
)

_STARTING = 120.0
"""Seconds for a program to start and to say what it can do; some download parts of themselves first."""

_PATIENCE = 5.0
"""Seconds for a program to end a turn that was cancelled."""

_HANDED_OVER = 32_000
"""Characters of missed turns that are handed over at once."""

_ENDINGS = {
    "end_turn": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "max_turn_requests": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
}
"""How a reply ended, by the protocol's reason to stop."""


class Acp(ProgramAgent):
    """One program and one session for each user.

    Args:
        command: The program and its arguments, as typed in a shell (no shell is used).
        variables: Environment variables for it, as JSON; {home} is filled in with its home.
        files: Whether it may read and write text files through us; only in its own folder.
        allow: The kinds of tools that it may use if it asks, separated by commas: read, edit, delete, move, search,
            execute, think, fetch, other.
        timeout: Seconds for one reply, all tool calls included.
    """

    FOLDER = "program"
    LOCKS = ".git/*.lock"
    NAME = "the program"
    APART = frozenset(
        (".cache", ".npm", "node_modules")
    )  # what it has downloaded, which can be 100 MB for a user

    def __init__(
        self,
        *,
        command: str,
        variables: str = "{}",
        files: bool = True,
        allow: str = "",
        timeout: float = 600.0,
    ) -> None:
        super().__init__(_HANDED_OVER)
        self._words = shlex.split(command)
        if not self._words:
            raise ConfigError("acp: command is empty; name the program that speaks the protocol")
        self._variables = object_set("acp", "variables", variables)
        self._may, self._timeout, self._offers = _split(allow), timeout, files
        self._open: dict[str | None, _Session] = {}

    async def open(self, home: Path) -> None:
        """Look for the program. Raises ConfigError if it or the extra is missing."""
        await super().open(home)
        need("acp", "acp")
        if (found := shutil.which(self._words[0])) is None:
            raise ConfigError(f"acp: there is no program {self._words[0]!r}; name one with command")
        self._program = Path(found).absolute()  # it starts in another folder

    async def _say(self, user: str | None, text: str) -> Reply:
        if user not in self._open:
            await self._begin(user)
        session = self._open[user]
        async with self._explained(session, self._timeout):
            said, why = await session.prompt(text, self._timeout)
        if (ending := _ENDINGS.get(why)) is None:
            raise AgentError(
                f"{self._words[0]} ended its turn with {scrubbed(why)[:80]!r}, and not with an answer"
            )
        return Reply(said, finish=ending)

    async def _begin(self, user: str | None) -> None:
        """Start a user's program; go on with the session that its folder names, or begin one."""
        root = self._folder(user).root
        kept = root / "session"
        for each in (root / "home", root / "work", self._home / "tmp"):
            each.mkdir(parents=True, exist_ok=True)
        try:
            process = await asyncio.create_subprocess_exec(
                self._program,
                *self._words[1:],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=root / "work",
                env=self._environment(root),
                limit=self.max_bytes,
                start_new_session=True,  # what it starts ends with it
            )
        except OSError as error:
            raise AgentError(f"{self._words[0]} cannot be started: {error.strerror or error}") from error
        self._open[user] = session = _Session(process, root / "work", self._may, self.max_bytes)
        async with self._explained(session, _STARTING):
            id_ = content_of(kept).decode() if kept.exists() else ""
            async with asyncio.timeout(_STARTING):
                began = await session.begin(id_, files=self._offers)
            if not began:
                raise CannotResume(
                    f"{self._words[0]} cannot load a session, so that it would answer as if nothing had been said; "
                    "start again with --fresh"
                )
            kept.write_text(began, "utf-8")

    def _environment(self, root: Path) -> dict[str, str]:
        """Return the variables of a program: its home is in the run's folder."""
        own = {
            name: str(value).replace("{home}", str(root / "home")) for name, value in self._variables.items()
        }
        home = {"HOME": str(root / "home"), "TMPDIR": str(self._home / "tmp"), "TZ": "UTC"}
        return {
            **{name: value for name, value in program_environment().items() if not name.startswith("XDG_")},
            **home,
            **own,
        }

    @asynccontextmanager
    async def _explained(self, session: "_Session", seconds: float) -> AsyncIterator[None]:
        """Turn what a program does wrong into an AgentError of one line."""
        failed = need("acp", "acp").RequestError
        try:
            yield
        except TimeoutError:
            said = f"did not answer within {seconds:g} s"
        except failed as error:
            said = f"refused: {error}{_detail(error.data)}"
        except (ConnectionError, ValueError) as error:  # of the protocol's types, too
            said = session.wrong or await session.obituary() or f"is not understood: {error}"
        else:
            return
        raise AgentError(f"{self._words[0]} {' '.join(scrubbed(said).split())[:300]}")

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze the program's files. Raises AgentError if it could not go on with its session afterwards."""
        session = self._open.get(message.user)
        if session is not None and not session.loads:
            raise AgentError(
                f"{self._words[0]} cannot load a session, so that it would forget the conversation after a forked "
                "question; use --questions in-line"
            )
        return await super().fork(message)

    async def _stop(self, user: str | None) -> None:
        if (session := self._open.pop(user, None)) is not None:
            await session.end()

    async def close(self) -> None:
        """End the programs; their files stay in the run's folder."""
        for user in list(self._open):
            await self._stop(user)
        shutil.rmtree(self._home / "tmp", ignore_errors=True)

    async def examine(self) -> Sequence[Finding]:
        """Send the program one message, as a run does, and say what it can do."""
        said = await self.reply(Message("Hello, can you hear me?", datetime(2026, 1, 5, 9, tzinfo=UTC), 0))
        session = self._open[None]
        return [
            Finding(True, f"{self._words[0]} is {session.name}; it says {said.text!r:.100}"),
            Finding(True, "it can load a session, so that a run can be resumed")
            if session.loads
            else Finding(True, "it cannot load a session: no run of it can be resumed", lacks=True),
        ]


class _Session:
    """A program, the connection to it, and its session. It is the protocol's transport, and its client."""

    def __init__(
        self, process: asyncio.subprocess.Process, folder: Path, may: Sequence[str], most: int
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process, self._in, self._out = process, process.stdin, process.stdout
        self._last_words = asyncio.create_task(last_of(process.stderr))
        self._folder, self._may, self._most = folder, may, most
        self._said: list[str] = []
        self._size, self._id = 0, ""
        self.wrong, self.name, self.loads = "", "", False

    async def begin(self, session: str, *, files: bool) -> str:
        """Begin a session, or go on with one; return its id, or nothing if the program cannot go on."""
        acp = need("acp", "acp")
        self._connection = acp.connect_to_agent(self, self)
        able = need("acp", "acp.schema")
        offered = able.FileSystemCapabilities(read_text_file=files, write_text_file=files)
        about = await self._connection.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=able.ClientCapabilities(fs=offered, terminal=False),
            client_info=able.Implementation(name="ltm-bench", version="1"),
        )
        self.name = (
            scrubbed(f"{about.agent_info.name} {about.agent_info.version}") if about.agent_info else "unnamed"
        )
        self.loads = bool(about.agent_capabilities and about.agent_capabilities.load_session)
        place = str(self._folder)
        if not session:
            self._id = (await self._connection.new_session(cwd=place, mcp_servers=[])).session_id
        elif self.loads:
            await self._connection.load_session(cwd=place, session_id=session, mcp_servers=[])
            self._id = session
        return self._id

    async def prompt(self, text: str, seconds: float) -> tuple[str, str]:
        """Send a prompt; return what the program said until it stopped, and why it did."""
        self._said, self._size = [], 0
        block = need("acp", "acp").text_block(text)
        turn = asyncio.create_task(self._connection.prompt(session_id=self._id, prompt=[block]))
        ended = asyncio.create_task(exit_of(self._process))
        try:
            await asyncio.wait([turn, ended], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                await asyncio.wait([turn], timeout=_PATIENCE)  # what it said before
                if not turn.done():
                    raise ConnectionError
            if not turn.done():
                with suppress(ConnectionError):
                    await self._connection.cancel(session_id=self._id)
                await asyncio.wait([turn], timeout=_PATIENCE)
                raise TimeoutError
            return "".join(self._said).strip(), str((await turn).stop_reason)
        finally:
            turn.cancel()
            ended.cancel()

    async def obituary(self) -> str:
        """Say how the program ended; empty if it lives."""
        with suppress(TimeoutError):
            code = await asyncio.wait_for(exit_of(self._process), _PATIENCE)
            last = (await self._last()).decode("utf-8", "replace").strip().splitlines()
            return f"ended with code {code}{f', saying: {last[-1]}' if last else ''}"
        return ""

    async def _last(self) -> bytes:
        """Return its last words; nothing if what it has started still holds its standard error."""
        await asyncio.wait([self._last_words], timeout=_PATIENCE)
        return self._last_words.result() if self._last_words.done() else b""

    async def end(self) -> None:
        """Kill the program, and what it has started."""
        await end_program(self._process)
        self._last_words.cancel()
        if hasattr(self, "_connection"):
            await self._connection.close()

    # As the transport

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        self._in.write(json.dumps(message).encode() + b"\n")
        await self._in.drain()

    async def receive(self) -> dict[str, Any] | None:
        """Return the next request or answer; None at the end, or if there is more than may be read."""
        while True:
            try:
                line = await self._out.readline()
            except ValueError:
                line, self._size = b"", self._most + 1
            if self._size > self._most:
                self.wrong = f"sent too much: {too_long(self._most)}"
                return None
            if not line:
                return None
            try:
                message = json_of(line)
            except ValueError:
                continue  # some print other things
            if isinstance(message, dict) and message.get("method") != "session/update":
                return message
            self._hear(message.get("params") if isinstance(message, dict) else None)

    def _hear(self, told: Any) -> None:
        """Take a notification: of all that a program tells about its turn, only what it says is kept."""
        update = told.get("update") if isinstance(told, dict) else None
        if not isinstance(update, dict) or told.get("sessionId") != self._id:
            return
        content, kind = update.get("content"), update.get("sessionUpdate")
        text = content.get("text") if isinstance(content, dict) and kind == "agent_message_chunk" else None
        # what it says before and after it uses a tool are two paragraphs
        said = text if isinstance(text, str) else "\n\n" if kind == "tool_call" and self._said else ""
        self._said.append(said)
        self._size += len(said)

    async def close(self) -> None:
        """Close the program's input."""
        self._in.close()

    # As the client

    async def request_permission(self, options: Sequence[Any], tool_call: Any, **_: Any) -> Any:
        """Allow what is named, once; refuse everything else."""
        able = need("acp", "acp.schema")
        wanted = "allow_once" if (tool_call.kind or "other") in self._may else "reject_once"
        for option in options:
            if option.kind == wanted:
                chosen = able.AllowedOutcome(outcome="selected", option_id=option.option_id)
                return able.RequestPermissionResponse(outcome=chosen)
        return able.RequestPermissionResponse(outcome=able.DeniedOutcome(outcome="cancelled"))

    @contextmanager
    def _inside(self, path: str) -> Iterator[Path]:
        """Give a path in the program's folder; refuse any other, and what goes wrong there."""
        try:
            found = (self._folder / path).resolve()
            found.relative_to(self._folder.resolve())
            yield found
        except (OSError, ValueError) as error:
            refused = need("acp", "acp").RequestError
            raise refused.invalid_params({"details": f"{path}: {error}"[:300]}) from None

    async def read_text_file(
        self, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> Any:
        """Read a file, or some of its lines."""
        with self._inside(path) as found:
            text = content_of(found, self._most).decode("utf-8", "replace")
        lines = text.splitlines(keepends=True)[max(0, (line or 1) - 1) :]
        return need("acp", "acp.schema").ReadTextFileResponse(content="".join(lines[:limit]))

    async def write_text_file(self, path: str, content: str, **_: Any) -> None:
        """Write a file."""
        with self._inside(path) as found:
            found.parent.mkdir(parents=True, exist_ok=True)
            found.write_text(content, "utf-8")


def _split(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _detail(data: Any) -> str:
    """Return what an error says beside its message."""
    return (
        f" ({data.get('details') or data.get('message') or data})" if isinstance(data, dict) and data else ""
    )
