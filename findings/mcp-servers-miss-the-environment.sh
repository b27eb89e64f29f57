#!/usr/bin/env bash
# mcp 2.3.0: a server started over stdio does not see what the client's environment holds.
#
# Guess:     a child process has its parent's environment, so MEMORY_FILE_PATH or a key that is exported is there.
# Behaviour: unless `env` is given, `stdio_client` passes six names at most (HOME, LOGNAME, PATH, SHELL, TERM, USER); what
#            `env` names is added to those. A variable that only the parent has is not there, without a word.
# Output:    MEMORY_FILE_PATH in the client: set; in the server: not set; with env={...}: set
# Matters:   a memory server that reads its place from the environment falls back to its default, one file for all runs: the
#            second run remembers the first one's conversation. The same command typed by hand behaves otherwise.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0
cat > "$folder/server.py" <<'PYTHON'
import os

from mcp.server import MCPServer

server = MCPServer("memory")

@server.tool()
def place() -> str:
    """Where the memories are kept."""
    return os.environ.get("MEMORY_FILE_PATH", "not set")

server.run("stdio")
PYTHON
MEMORY_FILE_PATH=/data/run-7.json "$folder/venv/bin/python" - "$folder" <<'PYTHON'
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def place(env=None):
    server = StdioServerParameters(command=sys.executable, args=[f"{sys.argv[1]}/server.py"], env=env)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        return (await session.call_tool("place", {})).content[0].text

alone = asyncio.run(place())
named = asyncio.run(place({"MEMORY_FILE_PATH": "/data/run-7.json"}))
print(f"MEMORY_FILE_PATH in the server: {alone}; with env: {named}")
assert (alone, named) == ("not set", "/data/run-7.json"), "changed"
PYTHON
