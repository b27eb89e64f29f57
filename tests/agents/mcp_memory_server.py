"""A small MCP memory server for tests: lines in a file, found by a long word in common.

Over stdio it implements just enough of the protocol itself, so that it starts at once; over HTTP it uses the library.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

kept = Path(sys.argv[1])


def _lines() -> list[str]:
    return [json.loads(line) for line in kept.read_text("utf-8").splitlines()] if kept.exists() else []


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 4}


def add_memory(content: str) -> str:
    """Store a text."""
    with kept.open("a", encoding="utf-8") as file:
        file.write(json.dumps(content) + "\n")
    return "Stored."


def search_memory(query: str, limit: int = 10) -> list[str]:
    """Return texts that share a word."""
    if query == "fail":
        raise ValueError("it does not like that")
    if query == "hang":
        time.sleep(30)
    return [each for each in _lines() if _words(each) & _words(query)][:limit]


def list_memories() -> list[str]:
    """Return all texts."""
    return _lines()


def delete_memory(content: str) -> str:
    """Delete a text."""
    left = [each for each in _lines() if each != content]
    kept.write_text("".join(json.dumps(each) + "\n" for each in left), "utf-8")
    return "Deleted."


TOOLS: list[Callable[..., Any]] = [add_memory, search_memory, list_memories, delete_memory]


def described(tool: Callable[..., Any]) -> dict[str, Any]:
    text = {"content": {"type": "string"}, "query": {"type": "string"}, "limit": {"type": "integer"}}
    names = [name for name in tool.__annotations__ if name != "return"]
    schema = {
        "type": "object",
        "properties": {name: text[name] for name in names},
        "required": [name for name in names if name != "limit"],
    }
    return {"name": tool.__name__, "description": tool.__doc__, "inputSchema": schema}


def answer(method: str, given: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            info = {"name": "lines", "version": "1"}
            return {
                "protocolVersion": given["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        case "tools/list":
            return {"tools": [described(tool) for tool in TOOLS]}
        case "tools/call":
            [tool] = [tool for tool in TOOLS if tool.__name__ == given["name"]]
            try:
                said = tool(**given.get("arguments", {}))
            except ValueError as error:
                return {"content": [{"type": "text", "text": str(error)}], "isError": True}
            texts = [said] if isinstance(said, str) else said
            content = [{"type": "text", "text": text} for text in texts]
            return {"content": content, "structuredContent": {"result": said}}
    raise LookupError(method)


def serve() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            try:
                said = {"result": answer(asked["method"], asked.get("params") or {})}
            except LookupError as error:
                said = {"error": {"code": -32601, "message": f"no method {error}"}}
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        from mcp.server import MCPServer

        server = MCPServer("lines")
        for tool in TOOLS:
            server.tool()(tool)
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        serve()
