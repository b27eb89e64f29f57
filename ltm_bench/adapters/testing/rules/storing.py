"""What an agent's store holds: it can be searched and listed, per user, and forgets on request."""

from collections.abc import Mapping

from ltm_bench.adapters.testing.talk import BOAT, PARROT, TEACHER, Absent, Broken, Stage, Talk, ToldFact
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import CannotResume

_FORGOTTEN = "parrot"


async def retrieval(stage: Stage) -> str:
    """Require that retrieval returns memories, and no more than were asked for."""
    async with stage.talk("home") as talk:
        await talk.tell(PARROT)
        await talk.agent.settle()
        found = await talk.recall(PARROT.question)
    return f"{len(found)} for {PARROT.question!r}{_first(found[0].text if found else '')}"


async def listing(stage: Stage) -> str:
    """Require that its store lists memories, each of them once."""
    async with stage.talk("home") as talk:
        await talk.tell(PARROT, BOAT)
        await talk.agent.settle()
        found = await talk.memories()
    ids = [memory.id for memory in found if memory.id is not None]
    if len(set(ids)) < len(ids):
        raise Broken("memories() gives two memories with the same id")
    return f"{len(found)} in the store{_first(found[0].text if found else '')}"


def _first(text: str) -> str:
    return f", the first {text!r:.60}" if text else ""


async def users(stage: Stage) -> str:
    """Require that two users of one conversation know nothing of each other."""
    async with stage.talk("home") as talk:
        if not talk.agent.keeps_users:
            raise Absent("does not keep users apart")
        for name, fact in (("Ada", PARROT), ("Ben", BOAT)):
            await talk.say(fact.told, name)
        for name, foreign in (("Ada", BOAT), ("Ben", PARROT)):
            if foreign.word in await talk.answers(foreign, name):
                raise Broken(f"{name} is told {foreign.word}, which only the other user said")
        try:
            for memory in await talk.memories():
                owner = {PARROT.word: "Ada", BOAT.word: "Ben"}
                for word, name in owner.items():
                    if word in memory.text and memory.user != name:
                        raise Broken(
                            f"{name}'s memory {memory.text!r:.60} is listed as that of {memory.user!r}"
                        )
        except Absent:
            pass
    return "two users know nothing of each other"


async def reopening(stage: Stage) -> str:
    """Require that an agent that was closed and opened again knows what it kept, and nothing that it was to forget."""
    async with stage.talk("home") as talk:
        if not talk.agent.can_reopen:
            raise Absent("keeps nothing by itself when it is closed")
        await talk.tell(PARROT, BOAT)
        held = {fact: await talk.holds(fact) for fact in (PARROT, BOAT)}
        try:
            await _forgotten(talk, held)
            held[PARROT] = False
        except Absent:
            pass
        log = list(talk.turns)
    async with stage.talk("home", log) as talk:
        for fact, before in held.items():
            if (now := await talk.holds(fact)) != before:
                raise Broken(
                    f"{fact.word} {'is' if now else 'is not'} in the store after it was opened again"
                )
        await talk.say(TEACHER.told)
    return "goes on from what it kept"


async def forgetting(stage: Stage) -> str:
    """Require that forgotten memories are gone for all users and in a resumed run, and that the others remain."""
    async with stage.talk("home") as talk:
        if type(talk.agent).forget is Agent.forget:
            raise Absent("nothing can be deleted on request")
        await talk.tell(PARROT, BOAT)
        held = {fact: await talk.holds(fact) for fact in (PARROT, BOAT)}
        count = await _forgotten(talk, held)
        if held[PARROT] and not count:
            raise Broken("forget() deleted something, but returned 0")
        log = list(talk.turns)
    async with stage.talk("home") as talk:
        try:
            await talk.restore(log)
        except CannotResume:
            pass
        else:
            await _left(talk, held, f"in a run resumed after forget({_FORGOTTEN!r})")
    async with stage.talk("users") as talk:
        if talk.agent.keeps_users:
            for name, fact in (("Ada", PARROT), ("Ben", BOAT)):
                await talk.say(fact.told, name)
            await _forgotten(talk, {fact: await talk.holds(fact) for fact in (PARROT, BOAT)})
    return f"deleted {count} on request, and kept the rest"


async def _forgotten(talk: Talk, held: Mapping[ToldFact, bool | None]) -> int:
    """Let an agent forget one of two facts, and return the number of memories that it says it deleted."""
    try:
        count = await talk.call("forget()", talk.agent.forget(_FORGOTTEN))
    except NotImplementedError:
        raise Absent("nothing can be deleted on request") from None
    if not isinstance(count, int) or isinstance(count, bool):
        raise Broken(f"forget() returned {type(count).__name__}, not the number of memories that it deleted")
    await _left(talk, held, f"after forget({_FORGOTTEN!r})")
    return count


async def _left(talk: Talk, held: Mapping[ToldFact, bool | None], when: str) -> None:
    """Require the one fact to be gone, and the other one to be where it was."""
    if await talk.holds(PARROT):
        raise Broken(f"{when} {PARROT.word} is still in the store")
    if held[BOAT] and not await talk.holds(BOAT):
        raise Broken(f"{when} {BOAT.word} is gone too, which has nothing to do with parrots")
