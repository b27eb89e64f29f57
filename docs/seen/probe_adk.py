"""Probes of google-adk's InMemoryMemoryService: uv run --no-project --with google-adk==2.13.0 docs/seen/probe_adk.py"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from probing import again, killed, main, outside_hosts, written

_WHO = {"app_name": "a", "user_id": "u"}


async def _add(service: Any, *texts: str) -> list[str]:
    from google.adk.events import Event
    from google.genai import types

    events = [Event(author="user", content=types.Content(parts=[types.Part(text=text)])) for text in texts]
    for event in events:
        event.id = Event.new_id()
    await service.add_events_to_memory(**_WHO, session_id="s", events=events)
    return [event.id for event in events]


async def _found(service: Any, query: str) -> list[str]:
    return [
        each.content.parts[0].text for each in (await service.search_memory(**_WHO, query=query)).memories
    ]


def _service() -> Any:
    from google.adk.memory import InMemoryMemoryService

    return InMemoryMemoryService()


def update() -> str:
    async def act() -> list[str]:
        service = _service()
        await _add(service, "My boat is called Ariel.", "My boat is called Zebedee now.")
        return await _found(service, "What is my boat called?")

    found = asyncio.run(act())
    assert found[0].endswith("Ariel."), found
    return f"nothing is updated: {found}"


def delete() -> str:
    async def act() -> tuple[int, int]:
        from google.adk.events import Event
        from google.genai import types

        service = _service()
        (name,) = await _add(service, "My boat is called Ariel.")
        await service.delete_memory(**_WHO, memory_id=name)
        gone = len(await _found(service, "boat"))
        event = Event(
            id=name, author="user", content=types.Content(parts=[types.Part(text="My boat is Zebedee.")])
        )
        await service.add_events_to_memory(**_WHO, session_id="s", events=[event])
        return gone, len(await _found(service, "boat"))

    gone, anew = asyncio.run(act())
    assert (gone, anew) == (0, 0)
    return f"found after delete_memory(): {gone}; another text under the same id: {anew}"


def ties() -> str:
    async def act() -> list[str]:
        service = _service()
        await _add(service, *(f"tea number {number}" for number in range(12)))
        return await _found(service, "tea")

    found = asyncio.run(act())
    assert found == [f"tea number {number}" for number in range(10)], found
    return f"the oldest first: {found[0]} … {found[-1]} of 12"


def limit() -> str:
    import inspect

    parameters = sorted(inspect.signature(_service().search_memory).parameters)
    assert parameters == ["app_name", "query", "user_id"], parameters
    return f"search_memory takes {parameters}; ten at most"


def threshold() -> str:
    async def act() -> dict[str, int]:
        service = _service()
        await _add(service, "My boat is called Ariel.", "The tea is cold.", "I like cats.")
        queries = ("Which boats do I own?", "What is the vessel called?", "Is it the time?")
        return {query: len(await _found(service, query)) for query in queries}

    found = asyncio.run(act())
    assert found == {"Which boats do I own?": 1, "What is the vessel called?": 2, "Is it the time?": 2}, found
    return f"one word in common, stop words too: {found}"


def cutoffs() -> str:
    async def act() -> int:
        service = _service()
        await _add(service, "word " * 200_000 + "Ariel")
        return len((await _found(service, "Ariel"))[0])

    return f"none: a text of {asyncio.run(act())} characters comes whole"


def files() -> str:
    asyncio.run(_add(_service(), "My boat is called Ariel."))
    found = written(Path("store").resolve())
    assert not found, found
    return "none: all is in memory"


def sends() -> str:
    asyncio.run(_add(_service(), "My boat is called Ariel."))
    hosts = outside_hosts()
    assert not hosts, hosts
    return "nothing"


def _write() -> str:
    asyncio.run(_add(_service(), "My boat is called Ariel."))
    print("added", flush=True)
    input()
    return ""


def _count() -> str:
    return str(len(asyncio.run(_found(_service(), "boat"))))


def kill() -> str:
    return killed("0")


def two() -> str:
    asyncio.run(_add(_service(), "My boat is called Ariel."))
    count = again("_count")
    assert count == "0", count
    return f"a second process sees {count} of 1"


main(globals())
