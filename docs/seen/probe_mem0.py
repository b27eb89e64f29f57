"""Probes of mem0ai on Qdrant's local mode: uv run --no-project --with mem0ai==2.2.1 docs/seen/probe_mem0.py"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probing import DIMENSIONS, again, killed, main, outside_hosts, provider, written

QUIET = {"MEM0_TELEMETRY": "False"}


def _facts(*texts: str) -> Callable[..., str]:
    told = iter(texts)
    return lambda messages, body: json.dumps(
        {"memory": [{"id": "0", "text": next(told), "attributed_to": "user"}]}
    )


@contextmanager
def _memory(*texts: str, reply: Callable[..., Any] | None = None, folder: str = "store") -> Iterator[Any]:
    with provider(reply or _facts(*texts)) as url:
        from mem0 import Memory

        model = {"model": "m", "api_key": "k", "openai_base_url": url}
        place = str(Path(folder).resolve())
        yield Memory.from_config(
            {
                "llm": {"provider": "openai", "config": model},
                "embedder": {"provider": "openai", "config": {**model, "embedding_dims": DIMENSIONS}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {
                        "path": f"{place}/qdrant",
                        "on_disk": True,
                        "embedding_model_dims": DIMENSIONS,
                    },
                },
                "history_db_path": f"{place}/history.db",
            }
        )


def _texts(memory: Any, **options: Any) -> list[str]:
    return [row["memory"] for row in memory.get_all(filters={"user_id": "u"}, **options)["results"]]


def update() -> str:
    with _memory("The boat is called Ariel.", "The boat is called Zebedee now.") as memory:
        memory.add("My boat is called Ariel.", user_id="u")
        memory.add("My boat is called Zebedee now.", user_id="u")
        texts = _texts(memory)
    assert len(texts) == 2, texts
    return f"add() of a changed fact adds a second one: {texts}"


def delete() -> str:
    with _memory("The boat is called Ariel.") as memory:
        added = memory.add("My boat is called Ariel.", user_id="u")["results"][0]["id"]
        memory.delete(added)
        left, history = _texts(memory), [row["old_memory"] for row in memory.history(added)]
    assert not left and any(history)
    return f"gone from the store; its history still has {history[-1]!r}"


def limit() -> str:
    with _memory() as memory:
        for number in range(30):
            memory.add(f"fact number {number}", user_id="u", infer=False)
        ignored = len(memory.search("fact number", filters={"user_id": "u"}, limit=3)["results"])
        found = len(memory.search("fact number", filters={"user_id": "u"}, top_k=3)["results"])
        listed = len(_texts(memory))
    assert (ignored, found, listed) == (20, 3, 20)
    return f"of 30, search(limit=3) gives {ignored}, search(top_k=3) {found}, get_all() {listed}"


def threshold() -> str:
    with _memory() as memory:
        memory.add(
            "The boat that was bought is called Zebedee and lies in Brighton.", user_id="u", infer=False
        )
        rows = {
            query: len(memory.search(query, filters={"user_id": "u"})["results"])
            for query in ("what is the boat called", "which vessel do I own")
        }
    assert list(rows.values()) == [1, 0], rows
    return f"found of 1 with another wording: {rows}"


def cutoffs() -> str:
    cut = {"message": {"content": '{"memory": [{"id": "0", "text": "The bo'}, "finish_reason": "length"}
    with _memory(reply=lambda messages, body: cut) as memory:
        added = memory.add("My boat is called Ariel.", user_id="u")["results"]
        left = _texts(memory)
    assert added == left == []
    return "an extraction that is cut off adds nothing and raises nothing"


def ties() -> str:
    def order(memory: Any) -> list[int]:
        rows = memory.search("the tea is cold", filters={"user_id": "u"}, top_k=5)["results"]
        return [row["metadata"]["turn"] for row in rows]

    with _memory() as memory:
        for turn in range(12):
            memory.add("the tea is cold", user_id="u", infer=False, metadata={"turn": turn})
        before = order(memory)
        memory.vector_store.client.close()
    with _memory() as memory:
        after = order(memory)
    assert (before, after) == ([11, 10, 9, 8, 7], [0, 1, 2, 3, 4]), (before, after)
    return f"equal scores: turns {before}; reopened: {after}"


def files() -> str:
    with _memory("The boat is called Ariel.") as memory:
        memory.add("My boat is called Ariel.", user_id="u")
    found = written(Path("store").resolve())
    assert "~/.mem0/migrations_qdrant" in found, found
    return f"besides its folder: {found}"


def sends() -> str:
    with _memory("The boat is called Ariel.") as memory:
        memory.add("My boat is called Ariel.", user_id="u")
        memory.search("boat", filters={"user_id": "u"})
        time.sleep(8)  # its telemetry is sent in batches
    hosts = outside_hosts()
    assert hosts == ["raw.githubusercontent.com", "us.i.posthog.com"], hosts
    return f"hosts looked up by default: {hosts}"


def _write() -> str:
    with _memory("The boat is called Ariel.") as memory:
        memory.add("My boat is called Ariel.", user_id="u")
        print("added", flush=True)
        input()
    return ""


def _count() -> str:
    with _memory() as memory:
        return str(len(_texts(memory)))


def kill() -> str:
    return killed("1")


def two() -> str:
    with _memory("The boat is called Ariel.") as memory:
        memory.add("My boat is called Ariel.", user_id="u")
        said = again("_count")
    assert "already accessed" in said, said
    return f"a second process: {said}"


main(globals())
