"""Probes of LangMem's tool on LangGraph's store in memory, with the packages named:

uv run --no-project --with langmem==0.0.30 --with langgraph==1.2.24 docs/seen/probe_langmem.py
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from probing import DIMENSIONS, again, killed, main, outside_hosts, vector, written

_SPACE = ("memories",)


def _store(*, index: bool = True) -> Any:
    from langgraph.store.memory import InMemoryStore

    if not index:
        return InMemoryStore()
    return InMemoryStore(index={"dims": DIMENSIONS, "embed": lambda texts: [vector(text) for text in texts]})


def _tool(store: Any) -> Any:
    from langmem import create_manage_memory_tool

    return create_manage_memory_tool(_SPACE, store=store)


def _texts(store: Any, query: str | None = None, **options: Any) -> list[str]:
    return [item.value["content"] for item in store.search(_SPACE, query=query, **options)]


def update() -> str:
    store = _store()
    tool, unknown = _tool(store), uuid.UUID(int=7)
    said = tool.invoke({"action": "update", "id": str(unknown), "content": "My boat is called Ariel."})
    texts = _texts(store)
    assert said == f"updated memory {unknown}" and texts == ["My boat is called Ariel."], (said, texts)
    return "by id; an unknown id: 'updated memory …', and a new one is stored"


def delete() -> str:
    store = _store()
    said = _tool(store).invoke({"action": "delete", "id": str(uuid.UUID(int=7))})
    assert said.startswith("Deleted memory"), said
    return "by id; an unknown id: 'Deleted memory …'"


def ties() -> str:
    store = _store()
    for number in range(12):
        store.put(_SPACE, str(number), {"content": "the tea is cold", "turn": number})
    order = [item.value["turn"] for item in store.search(_SPACE, query="the tea is cold", limit=5)]
    return f"equal scores: {order} of 0 to 11"


def limit() -> str:
    store = _store()
    for number in range(30):
        store.put(_SPACE, str(number), {"content": f"fact number {number}"})
    given, asked = len(_texts(store, "fact")), len(_texts(store, "fact", limit=3))
    assert (given, asked) == (10, 3)
    return f"of 30: {given} unless limit is given, with limit=3 {asked}"


def threshold() -> str:
    store, without = _store(), _store(index=False)
    for each in (store, without):
        for number, text in enumerate(("the tea is cold", "the boat is Ariel", "cats sleep")):
            each.put(_SPACE, str(number), {"content": text})
    ranked, plain = _texts(store, "boat"), _texts(without, "boat", limit=1)
    assert len(ranked) == 3 and ranked[0] == "the boat is Ariel" and plain == ["the tea is cold"], (
        ranked,
        plain,
    )
    return f"none: {len(ranked)} of 3 come; without an index, limit=1 gives {plain[0]!r} for 'boat'"


def cutoffs() -> str:
    store = _store()
    store.put(_SPACE, "1", {"content": "word " * 200_000 + "Ariel"})
    return f"none in the store: a text of {len(_texts(store, 'Ariel')[0])} characters comes whole"


def files() -> str:
    _tool(_store()).invoke({"content": "My boat is called Ariel."})
    found = written(Path("store").resolve())
    assert not found, found
    return "none: all is in memory"


def sends() -> str:
    _tool(_store()).invoke({"content": "My boat is called Ariel."})
    hosts = outside_hosts()
    assert not hosts, hosts
    return "nothing, as long as LangSmith's variables are not set"


def _write() -> str:
    _tool(_store()).invoke({"content": "My boat is called Ariel."})
    print("added", flush=True)
    input()
    return ""


def _count() -> str:
    return str(len(_texts(_store())))


def kill() -> str:
    return killed("0")


def two() -> str:
    _tool(_store()).invoke({"content": "My boat is called Ariel."})
    count = again("_count")
    assert count == "0", count
    return f"a second process sees {count} of 1"


main(globals())
