"""The tools of an MCP server by what a memory uses them for: their names, and what each is given."""

from collections.abc import Mapping
from typing import Any

from ltm_bench.adapters.mcp_server import McpServer
from ltm_bench.adapters.settings import object_set
from ltm_bench.adapters.templates import filled
from ltm_bench.core.errors import ConfigError


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
