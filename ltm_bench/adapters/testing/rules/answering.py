"""What an agent says and knows: of its own conversation, and of no other."""

from dataclasses import asdict

from ltm_bench.adapters.testing.talk import BOAT, PARROT, TEACHER, Absent, Broken, Stage
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
