"""What an agent says and knows: of its own conversation, and of no other; and what it does when its server fails."""

import time
from dataclasses import asdict

from ltm_bench.adapters.testing.talk import BOAT, PARROT, TEACHER, Absent, Broken, Stage, Talk
from ltm_bench.core.errors import AgentError, LtmBenchError
from ltm_bench.core.keys import known_values
from ltm_bench.core.messages import Usage

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
    return f"no file{' and no error' if said else ''} has the key of {', '.join(sorted(keys.values()))}"


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
