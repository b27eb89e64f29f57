"""The rules for adapters, one function each. Each returns its finding in words.

A rule raises `Broken` if the agent does not keep it, and `Absent` if the agent lacks the hook. An agent that remembers
nothing keeps all of them: no rule demands a good memory, only that the agent keeps knowing what it knows, and does not
know what it must not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict

from ltm_bench.adapters.testing.talk import BOAT, PARROT, TEACHER, Absent, Broken, Stage, Talk, ToldFact
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError, CannotResume, LtmBenchError
from ltm_bench.core.keys import known_values
from ltm_bench.core.messages import Turn, Usage

Rule = Callable[[Stage], Awaitable[str]]

_UNDER_WAY = 0.1
"""Seconds after which a message to a server that hangs is interrupted."""

_FORGOTTEN = "parrot"

GREETING = "Hello! How are you today?"


async def answers(stage: Stage) -> str:
    """Require a reply with a text, and that the agent opens and closes in time."""
    async with stage.talk("home") as talk:
        reply = await talk.say(GREETING)
    return f"to {GREETING!r} it says {reply.text!r:.60}"


async def usage(stage: Stage) -> str:
    """Require consistent usage that does not exceed the reservation."""
    async with stage.talk("home") as talk:
        most = talk.agent.reserve(talk.message(PARROT.told))
        used = (await talk.say(PARROT.told)).usage
    if used is None:
        if talk.agent.free:
            return "none: the agent is free"
        raise Absent("a reply has no usage, so costs show as unknown")
    if not isinstance(used, Usage):
        raise Broken(f"a reply's usage is {type(used).__name__}, not Usage")
    figures = {name: value for name, value in asdict(used).items() if isinstance(value, int)}
    if min(figures.values()) < 0 or used.reasoning > used.output:
        raise Broken(f"the usage of a reply is inconsistent: {figures}")
    said = f"{used.prompt} tokens of prompt, {used.output} of output"
    if most is None:
        return said
    if used.prompt > most.prompt or used.output > most.output:
        raise Broken(
            f"a reply used {said}, but only {most.prompt} and {most.output} were reserved: --max-cost could be exceeded"
        )
    return f"{said}; {most.prompt} and {most.output} were reserved"


async def observing(stage: Stage) -> str:
    """Require that it knows what it observed as well as what it answered itself."""
    async with stage.talk("told") as talk:
        if not talk.agent.observes:
            raise Absent("does not observe: it is asked everything, filler included")
        await talk.tell(PARROT)
        knows = await talk.knows(PARROT)
    async with stage.talk("observed") as talk:
        await talk.observe(PARROT.told)
        if await talk.knows(PARROT) < knows:
            raise Broken("it knows what it answered, but not what it observed")
    return (
        "it knows what it observed" if knows else "it remembers neither what it answered nor what it observed"
    )


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


async def namespaces(stage: Stage) -> str:
    """Require that concurrent conversations know nothing of each other, and later ones nothing of earlier ones."""
    async with stage.talk("one") as one, stage.talk("other") as other:
        await one.tell(PARROT)
        await other.tell(BOAT)
        for talk, foreign in ((one, BOAT), (other, PARROT)):
            if await talk.knows(foreign):
                raise Broken(f"it knows {foreign.word}, which only another conversation was told")
    async with stage.talk("later") as later:
        for fact in (PARROT, BOAT):
            if await later.knows(fact):
                raise Broken(f"a new conversation knows {fact.word}, which only older ones were told")
    return "three conversations know nothing of each other"


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


async def waiting(stage: Stage) -> str:
    """Require that it gives up on an unresponsive server within the time limit of a call."""
    async with stage.talk("home") as talk:
        began = time.perf_counter()
        with stage.failing("hang", seconds=2 * stage.within):
            error = await _failure(talk, "a server that does not answer")
        took = time.perf_counter() - began
    return f"gives up after {took:.1f} seconds: {error!s:.60}"


async def scrubbing(stage: Stage) -> str:
    """Require that no error and no file contains a key, even if the server repeats it."""
    keys = known_values()
    if not keys:
        raise Absent("not tried: there is no key in the environment to look for")
    async with stage.talk("home") as talk:
        await talk.tell(PARROT)
    async with stage.talk("failed") as talk:
        said = []
        if stage.server is not None:
            for status in (401, 500):
                with stage.failing("error", status=status, message=f"refused: {' '.join(keys)}"):
                    said.append(await _failure(talk, f"HTTP {status}"))
    for key, variable in keys.items():
        if any(key in str(error) for error in said):
            raise Broken(f"the key of {variable} is in an error")
        for path in sorted(stage.folder.rglob("*")):
            if path.is_file() and key.encode() in path.read_bytes():
                raise Broken(f"the key of {variable} is in {path.relative_to(stage.folder)}")
    return f"no file{' and no error' if said else ''} has the key of {_list(sorted(keys.values()))}"


async def _failure(talk: Talk, what: str) -> AgentError:
    """Return the error raised instead of a reply. Raises Broken for a reply or any other error."""
    try:
        reply = await talk.say(PARROT.told)
    except AgentError as error:
        return error
    except (LtmBenchError, Broken):
        raise
    except Exception as error:  # an adapter can raise anything
        raise Broken(f"{what} raises {type(error).__name__}, not AgentError: {error}") from error
    raise Broken(f"{what} is not an error: it replies {reply.text!r:.60}")


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


async def forking(stage: Stage) -> str:
    """Require that a fork leaves no trace in the conversation, and knows nothing that is said after it."""
    async with stage.talk("home") as talk:
        if talk.agent.forks == "no":
            raise Absent("cannot be forked, so --questions forked and --quick are refused")
        await talk.tell(PARROT)
        before = await talk.holds(BOAT)
        await (await talk.fork(BOAT.told))()
        if before is not None and await talk.holds(BOAT):
            raise Broken("what was said beside the conversation is in the store")
        if BOAT.word in await talk.answers(BOAT):
            raise Broken("what was said beside the conversation became part of it")
        if talk.agent.forks == "snapshot":
            answer = await talk.fork(TEACHER.question)
            await talk.tell(TEACHER)
            if TEACHER.word in (await answer()).text:
                raise Broken("a fork knows what was said after it was made, so it is not a snapshot")
    return talk.agent.forks


def _list(words: list[str]) -> str:
    return ", ".join(words)


RULES: Mapping[str, Rule] = {
    "answers": answers,
    "usage": usage,
    "observe": observing,
    "session": sessions,
    "restore": restoring,
    "missed": missed,
    "namespaces": namespaces,
    "cancellation": cancellation,
    "waiting": waiting,
    "scrubbing": scrubbing,
    "recall": retrieval,
    "memories": listing,
    "users": users,
    "forget": forgetting,
    "fork": forking,
}
"""All rules, in the order in which they are tried."""
