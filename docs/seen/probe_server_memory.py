"""Probes of the MCP server of memories in a graph, with its program in SERVER:

npm install @modelcontextprotocol/server-memory@2026.8.31
SERVER=node_modules/.bin/mcp-server-memory uv run --no-project --with mcp==2.3.0 docs/seen/probe_server_memory.py
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from probing import killed, main, written

NEEDS = {"SERVER": str(Path(os.environ["SERVER"]).absolute())}


@asynccontextmanager
async def _server(*, place: bool = True) -> AsyncIterator[Callable[..., Coroutine[Any, Any, Any]]]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    path = {"MEMORY_FILE_PATH": str(Path("store.jsonl").resolve())} if place else {}
    server = StdioServerParameters(
        command=os.environ["SERVER"], args=[], env={"PATH": os.environ["PATH"], **path}
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def call(name: str, **arguments: Any) -> Any:
            result = await session.call_tool(name, arguments)
            text = result.content[0].text
            return json.loads(text) if text[:1] in "[{" else text

        yield call


def _entity(name: str, *observations: str) -> dict[str, Any]:
    return {"name": name, "entityType": "thing", "observations": list(observations)}


async def _names(call: Any, query: str) -> list[str]:
    return [each["name"] for each in (await call("search_nodes", query=query))["entities"]]


def _run(act: Callable[[Any], Coroutine[Any, Any, Any]], *, place: bool = True) -> Any:
    async def go() -> Any:
        async with _server(place=place) as call:
            return await act(call)

    return asyncio.run(go())


def update() -> str:
    async def act(call: Any) -> Any:
        await call("create_entities", entities=[_entity("boat", "is called Ariel")])
        created = await call("create_entities", entities=[_entity("boat", "is called Zebedee")])
        graph = await call("read_graph")
        return created, graph["entities"][0]["observations"]

    created, kept = _run(act)
    assert created == [] and kept == ["is called Ariel"], (created, kept)
    return f"create_entities of a known name keeps {kept} and returns {created}; nothing replaces"


def delete() -> str:
    async def act(call: Any) -> Any:
        await call("create_entities", entities=[_entity("boat", "is called Ariel")])
        unknown = await call("delete_entities", entityNames=["none"])
        await call("delete_entities", entityNames=["boat"])
        return unknown, (await call("read_graph"))["entities"]

    unknown, left = _run(act)
    assert left == []
    assert "successfully" in unknown, unknown
    return f"by name; an unknown one: {unknown!r}"


def ties() -> str:
    async def act(call: Any) -> Any:
        await call("create_entities", entities=[_entity(name, "the tea is cold") for name in ("c", "a", "b")])
        return await _names(call, "tea")

    found = _run(act)
    assert found == ["c", "a", "b"], found
    return f"no ranking; as they were created: {found}"


def limit() -> str:
    async def act(call: Any) -> Any:
        await call("create_entities", entities=[_entity(f"fact {number}") for number in range(300)])
        return len(await _names(call, "fact"))

    found = _run(act)
    assert found == 300, found
    return f"none: {found} of 300 come"


def threshold() -> str:
    async def act(call: Any) -> Any:
        await call("create_entities", entities=[_entity("boat", "is called Ariel")])
        queries = ("boat", "called ariel", "boat ariel", "boats")
        return {query: len(await _names(call, query)) for query in queries}

    found = _run(act)
    assert list(found.values()) == [1, 1, 0, 0], found
    return f"the query as one substring: {found}"


def cutoffs() -> str:
    async def act(call: Any) -> Any:
        await call("create_entities", entities=[_entity("boat", "word " * 200_000)])
        return len((await call("open_nodes", names=["boat"]))["entities"][0]["observations"][0])

    return f"none: an observation of {_run(act)} characters comes whole"


def files() -> str:
    async def act(call: Any) -> Any:
        await call("create_entities", entities=[_entity("boat", "is called Ariel")])

    folder = Path(os.environ["SERVER"]).resolve().parent
    before = set(folder.parent.rglob("memory.jsonl"))
    _run(act, place=False)
    new = set(folder.parent.rglob("memory.jsonl")) - before
    for path in new:
        path.unlink()
    found = [f"{path.parent.parent.name}/{path.parent.name}/{path.name}" for path in new]
    assert found, written(Path("store.jsonl"))
    return f"without MEMORY_FILE_PATH: {found}"


def _write() -> str:
    async def act(call: Any) -> Any:
        await call("create_entities", entities=[_entity("boat", "is called Ariel")])
        print("added", flush=True)
        await asyncio.sleep(60)

    return str(_run(act))


def _count() -> str:
    async def act(call: Any) -> Any:
        return len((await call("read_graph"))["entities"])

    return str(_run(act))


def kill() -> str:
    return killed("1")


def two() -> str:
    async def act() -> tuple[int, int]:
        async with _server() as one, _server() as other:
            for number in range(40):
                await asyncio.gather(
                    one("create_entities", entities=[_entity(f"one {number}")]),
                    other("create_entities", entities=[_entity(f"other {number}")]),
                )
            return 80, len((await one("read_graph"))["entities"])

    told, kept = asyncio.run(act())
    assert kept < told, kept
    return f"both write, without a lock: of {told} entities {kept} are kept"


main(globals())
