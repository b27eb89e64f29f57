"""One MCP server, started here or reached by HTTP: its tools, their calls, its shutdown (extra `mcp`).

`McpRoles` has the tools of a server by what a memory uses them for: their names, and what each is given.
"""

import asyncio
import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ltm_bench.adapters.settings import object_set
from ltm_bench.adapters.templates import filled
from ltm_bench.adapters.text import sendable
from ltm_bench.adapters.tools import Tool, ToolAnswer, Toolbox
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.extras import need
from ltm_bench.core.keys import read_key, scrubbed

_STARTING = 120.0
"""Seconds for a server to start; `npx` downloads its package first."""


@dataclass(frozen=True)
class Address:
    """Where a server is: a command that starts it, or a URL."""

    command: str = ""
    url: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for a command's process, besides the few always passed on."""
    passed_on: Sequence[str] = ()
    """Names of our own environment variables to pass on, such as keys."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """HTTP headers, and the environment variables that hold their values."""

    def __str__(self) -> str:
        return scrubbed(self.url or self.command)

    async def transport(self, home: Path, stack: AsyncExitStack) -> Any:
        """Return the client's transport; {home} in a command is replaced by the folder where its process keeps files.

        Args:
            home: That folder; a log of the process's other output is kept beside it.
            stack: Closes what is opened here.
        """
        if self.url:
            httpx2 = need("mcp", "httpx2")
            values = {name: read_key(variable) for name, variable in self.headers.items()}
            if missing := [self.headers[name] for name, value in values.items() if not value]:
                raise ConfigError(f"mcp: headers: {missing[0]} is not set")
            client = await stack.enter_async_context(httpx2.AsyncClient(headers=values, timeout=_STARTING))
            return need("mcp", "mcp.client.streamable_http").streamable_http_client(
                self.url, http_client=client
            )
        stdio = need("mcp", "mcp.client.stdio")
        place = str(home.resolve())
        program, *arguments = (each.replace("{home}", place) for each in shlex.split(self.command))
        own = {name: value.replace("{home}", place) for name, value in self.variables.items()}
        own |= {name: value for name in self.passed_on if (value := read_key(name))}
        process = stdio.StdioServerParameters(command=program, args=arguments, env=own, cwd=home)
        log = stack.enter_context((home.parent / f"{home.name}.log").open("a", encoding="utf-8"))
        return stdio.stdio_client(process, errlog=log)


class McpServer:
    """A connected server. Its client runs in its own task, as the library requires."""

    def __init__(self, address: Address, home: Path, timeout: float) -> None:
        self._address, self._home, self._timeout = address, home, timeout
        self._task: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()
        self._client: Any = None
        self.tools: list[Tool] = []

    async def start(self) -> None:
        """Start it, or connect to it, and ask for its tools. Raises AgentError."""
        need("mcp", "mcp")  # imported here, not in the middle of a connection: it takes seconds
        self._home.mkdir(parents=True, exist_ok=True)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(ready))
        try:
            async with asyncio.timeout(_STARTING):
                await asyncio.shield(ready)
        except Exception as error:  # its library, process or network can raise anything
            await self.stop()
            raise self._failed("cannot be reached", error) from error
        except BaseException:  # interrupted: leave nothing running
            await self.stop()
            raise

    async def _live(self, ready: asyncio.Future[None]) -> None:
        try:
            async with AsyncExitStack() as stack:
                transport = await self._address.transport(self._home, stack)
                client = self._client = await stack.enter_async_context(need("mcp", "mcp").Client(transport))
                listed = await client.list_tools()
                self.tools = [
                    Tool(each.name, sendable(each.description or ""), dict(each.input_schema))
                    for each in listed.tools
                ]
                ready.set_result(None)
                await self._ended.wait()
        except BaseException as error:  # it reaches whoever waits for the start
            if not ready.done():
                ready.set_exception(error if isinstance(error, Exception) else AgentError("interrupted"))
                ready.exception()
            if not isinstance(error, Exception):
                raise

    async def call(self, name: str, arguments: Mapping[str, Any]) -> tuple[ToolAnswer, Any]:
        """Call a tool; return its text and its structured data. Raises AgentError."""
        try:
            async with asyncio.timeout(self._timeout):
                result = await self._client.call_tool(name, dict(arguments))
            text = "\n".join(part.text for part in result.content if part.type == "text")
            data = result.structured_content
            if data is None:
                with suppress(ValueError):
                    data = json.loads(text)
            return ToolAnswer(text, failed=bool(result.is_error)), data
        except Exception as error:  # every transport has its own
            raise self._failed(f"{name} failed", error) from error

    def _failed(self, what: str, error: Exception) -> AgentError | ConfigError:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, ConfigError):
            return error
        said = (
            f"no answer within {self._timeout:g} seconds" if isinstance(error, TimeoutError) else str(error)
        )
        return AgentError(scrubbed(f"mcp server {self._address}: {what}: {said or type(error).__name__}"))

    def rejected(self, name: str, said: str) -> AgentError:
        """Return the error for a call that the server rejected."""
        return AgentError(scrubbed(f"mcp server {self._address}: {name} was refused: {said:.300}"))

    async def stop(self) -> None:
        """End the connection, and the process if it was started here."""
        self._ended.set()
        if self._task is not None:
            task, self._task = self._task, None
            await asyncio.wait([task], timeout=10)
            if not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=10)


class McpTools(Toolbox):
    """A server's tools, as a model uses them."""

    def __init__(self, server: McpServer, rounds: int, room: int) -> None:
        self._server = server
        self.rounds, self.room = rounds, room

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that the server lists."""
        return self._server.tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Have the server execute a call."""
        answer, _ = await self._server.call(name, arguments)
        return answer


class McpRoles:
    """The tools that have a role, such as `search=("find_notes", '{"text": "{query}"}')`.

    Args:
        roles: For each role, the tool's name, empty if none has it, and its arguments as JSON with fields in braces;
            empty for a tool that needs a single text.

    Raises ConfigError if arguments are not a JSON object.
    """

    def __init__(self, **roles: tuple[str, str]) -> None:
        self._names = {role: name for role, (name, _) in roles.items()}
        self._arguments = {
            role: object_set("mcp", f"{role}_arguments", text) if text else None
            for role, (_, text) in roles.items()
        }

    def __contains__(self, role: str) -> bool:
        return bool(self._names[role])

    def check(self, server: McpServer) -> None:
        """Raise ConfigError if a server lacks one of the tools."""
        known = {tool.name for tool in server.tools}
        for role, name in self._names.items():
            if name and name not in known:
                raise ConfigError(
                    f"mcp: {role} = {name!r}: the server has no such tool ({', '.join(sorted(known))})"
                )

    async def use(self, server: McpServer, role: str, values: Mapping[str, Any]) -> tuple[str, Any]:
        """Call the tool of a role; return its text and its data. Raises AgentError if it fails."""
        name, template = self._names[role], self._arguments[role]
        if template is None:
            template = _guessed(server, role, name)
        (text, failed), data = await server.call(name, filled(template, values))
        if failed:
            raise server.rejected(name, text)
        return text, data


def _guessed(server: McpServer, role: str, name: str) -> dict[str, str]:
    """Return arguments for a tool that needs only a single text."""
    schema = next(tool.schema for tool in server.tools if tool.name == name)
    needed = list(schema.get("required", ()))
    if len(needed) != 1 or schema["properties"][needed[0]].get("type") != "string":
        raise ConfigError(
            f"mcp: {role} = {name!r}: say what it gets with {role}_arguments; it needs {', '.join(needed) or 'nothing'}"
        )
    return {needed[0]: "{text}" if role == "store" else "{query}"}
