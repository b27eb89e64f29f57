"""A small MCP memory server for tests, over stdio or HTTP: lines in a file, found by a long word in common."""

import json
import re
import sys
from pathlib import Path

from mcp.server import MCPServer

server = MCPServer("lines")
kept = Path(sys.argv[1])


def _lines() -> list[str]:
    return [json.loads(line) for line in kept.read_text("utf-8").splitlines()] if kept.exists() else []


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 4}


@server.tool()
def add_memory(content: str) -> str:
    """Store a text."""
    with kept.open("a", encoding="utf-8") as file:
        file.write(json.dumps(content) + "\n")
    return "Stored."


@server.tool()
def search_memory(query: str, limit: int = 10) -> list[str]:
    """Return texts that share a word."""
    if query == "fail":
        raise ValueError("it does not like that")
    return [each for each in _lines() if _words(each) & _words(query)][:limit]


@server.tool()
def list_memories() -> list[str]:
    """Return all texts."""
    return _lines()


@server.tool()
def delete_memory(content: str) -> str:
    """Delete a text."""
    left = [each for each in _lines() if each != content]
    kept.write_text("".join(json.dumps(each) + "\n" for each in left), "utf-8")
    return "Deleted."


if __name__ == "__main__":
    if len(sys.argv) > 2:
        server.run("streamable-http", port=int(sys.argv[2]))
    else:
        server.run()
