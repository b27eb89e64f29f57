"""What an agent knows in a resumed run: what is in the log, and nothing else."""

import asyncio
import time

from ltm_bench.adapters.testing.talk import BOAT, PARROT, TEACHER, Absent, Broken, Stage, Talk, ToldFact
from ltm_bench.core.errors import CannotResume
from ltm_bench.core.messages import Turn

_UNDER_WAY = 0.1
"""Seconds after which a message to a server that hangs is interrupted."""


async def sessions(stage: Stage) -> str:
    """Require that a session observed at once is known as well as one observed turn by turn, and restored only once."""
    async with stage.talk("apart") as talk:
        if not talk.agent.takes_sessions:
            raise Absent("has no observe_session: it observes sessions turn by turn")
        for fact in (PARROT, BOAT):
            await talk.observe(fact.told)
        knew = [fact for fact in (PARROT, BOAT) if await talk.knows(fact)]
    async with stage.talk("home") as talk:
        await talk.observe_session(PARROT, BOAT)
        log, held = list(talk.turns), await talk.count()
        if lost := [fact.word for fact in knew if not await talk.knows(fact)]:
            raise Broken(
                f"it knows {_list(lost)} when observed turn by turn, but not when it takes a session"
            )
    for home in ("home", "elsewhere"):
        async with stage.talk(home) as talk:
            await _restored(talk, log)
            if (again := await talk.count()) != held:
                raise Broken(
                    f"restored {_in(home)}, its store has {again} memories of a session, but had {held} before"
                )
            if lost := [fact.word for fact in knew if not await talk.knows(fact)]:
                raise Broken(f"restored {_in(home)}, it no longer knows {_list(lost)}, told in a session")
    return (
        f"observes a session at once, and knows {_list([fact.word for fact in knew]) or 'nothing, as before'}"
    )


async def restoring(stage: Stage) -> str:
    """Require that a resumed run knows what is in its log, and nothing that was said after the log ends."""
    async with stage.talk("undisturbed") as talk:
        if not talk.agent.can_be_told:
            raise Absent(
                "cannot be told what was said before: a resumed run continues with what the agent kept itself"
            )
        await _told_and_shown(talk)
        knew = [fact for fact in (PARROT, BOAT) if await talk.knows(fact)]
    async with stage.talk("home") as talk:
        await _told_and_shown(talk)
        log = list(talk.turns)
        await talk.tell(TEACHER)  # killed before the log has it
    said = []
    for home in ("home", "elsewhere"):
        async with stage.talk(home) as talk:
            try:
                await talk.restore(log)
            except CannotResume as error:
                said.append(f"{home}: refused: {error}")
                continue
            if lost := [fact.word for fact in knew if not await talk.knows(fact)]:
                raise Broken(f"restored {_in(home)}, it no longer knows {_list(lost)}")
            if await talk.knows(TEACHER):
                raise Broken(f"restored {_in(home)}, it knows {TEACHER.word}, which is not in the log")
    if len(said) == 2:
        raise Absent(said[0])
    return "; ".join([f"knows again {_list([fact.word for fact in knew]) or 'nothing, as before'}", *said])


async def _told_and_shown(talk: Talk) -> None:
    """Tell it one fact, and let it observe another, if it can."""
    await talk.tell(PARROT)
    await (talk.observe(BOAT.told) if talk.agent.observes else talk.tell(BOAT))


async def missed(stage: Stage) -> str:
    """Require that a resumed run observes a scripted turn at the end of its log that it had not observed before."""
    for told in ((PARROT,), ()):
        async with stage.talk(f"undisturbed-{len(told)}") as talk:
            if not talk.agent.observes:
                raise Absent("does not observe: it is asked everything, filler included")
            await talk.tell(*told)
            await talk.observe(BOAT.told)
            knew = await talk.knows(BOAT)
        home = f"home-{len(told)}"
        async with stage.talk(home) as talk:
            await talk.tell(*told)
            log = list(talk.turns)
            last = talk.scripted(BOAT.told)  # killed before the agent has it
        if log:
            async with stage.talk(home) as talk:
                await _restored(talk, log)
        async with stage.talk(home) as talk:
            try:
                await talk.restore([*log, last])
            except CannotResume as error:
                raise Broken(
                    f"a run killed before its agent observed the log's last turn cannot be resumed: {error}"
                ) from None
            if knew and not await talk.knows(BOAT):
                raise Broken(f"in a resumed run it never observes {BOAT.word}, the end of the log")
    return "observes the end of the log if it had not before"


def _in(home: str) -> str:
    return "in its own folder" if home == "home" else "in an empty folder"


def _list(words: list[str]) -> str:
    return ", ".join(words)


async def cancellation(stage: Stage) -> str:
    """Require that an interrupted reply ends in time, and that a resumed run knows nothing of it."""
    async with stage.talk("undisturbed") as talk:
        await talk.tell(PARROT)
        knew = await talk.knows(PARROT)
    async with stage.talk("home") as talk:
        began = time.perf_counter()
        await talk.tell(PARROT)
        took = time.perf_counter() - began
        log = list(talk.turns)
        told = talk.agent.can_be_told
        ended = await _interrupted(talk, BOAT, 0.0)
    async with stage.talk("home") as talk:
        await _restored(talk, log)
        ended |= await _interrupted(talk, BOAT, took / 2)
    if stage.server is not None:
        async with stage.talk("home") as talk:
            await _restored(talk, log)
            with stage.failing("hang", seconds=2 * stage.within):
                ended |= await _interrupted(talk, BOAT, _UNDER_WAY)
    async with stage.talk("home") as talk:
        await _restored(talk, log)
        if told and knew and not await talk.knows(PARROT):
            raise Broken(f"after a reply was interrupted, a resumed run no longer knows {PARROT.word}")
        if told and await talk.knows(BOAT):
            raise Broken("a resumed run knows what was said in a reply that was interrupted")
    return "ends at once, and leaves no trace" if ended else "it had answered before it could be interrupted"


async def _interrupted(talk: Talk, fact: ToldFact, seconds: float) -> bool:
    """Interrupt a reply; return False if it was already given."""
    task = asyncio.ensure_future(talk.agent.reply(talk.message(fact.told)))
    await asyncio.sleep(seconds)
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=talk.within)
    if not done:
        raise Broken(f"a reply that was interrupted did not end within {talk.within:g} seconds")
    if not task.cancelled():
        task.result()  # raises what it raised
    return task.cancelled()


async def _restored(talk: Talk, log: list[Turn]) -> None:
    try:
        await talk.restore(log)
    except CannotResume as error:
        raise Absent(f"a run that was interrupted cannot be resumed: {error}") from None
