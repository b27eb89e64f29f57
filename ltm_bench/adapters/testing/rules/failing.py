"""What an agent does when its server fails: it gives up in time, and says no key."""

import time

from ltm_bench.adapters.testing.talk import PARROT, Absent, Broken, Stage, Talk
from ltm_bench.core.errors import AgentError, LtmBenchError
from ltm_bench.core.keys import known_values


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
