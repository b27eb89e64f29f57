"""Guards a run against its adapter: whatever that raises becomes an error from which the run can be resumed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ltm_bench.core.budget import Halted
from ltm_bench.core.errors import AgentError, LtmBenchError, described
from ltm_bench.core.keys import scrubbed
from ltm_bench.core.messages import Finish, Reply
from ltm_bench.log.events import is_usage
from ltm_bench.plugins.files import line_in_plugin

T = TypeVar("T")


async def guarded(call: Callable[[], Awaitable[T]], turn: int) -> T:
    """Return what a call to the agent returns. Raises AgentError, which names the turn, for whatever it raises.

    Only errors of ours pass, and what ends this task from outside: an interruption, a cancellation, an empty budget.
    """
    try:
        return await call()
    except (KeyboardInterrupt, GeneratorExit, Halted):
        raise
    except LtmBenchError as error:
        # An adapter's own message can quote a provider, and the provider the key.
        error.args = tuple(scrubbed(each) if isinstance(each, str) else each for each in error.args)
        raise
    except asyncio.CancelledError as error:
        if _cancelled():
            raise
        raise _failed(turn, error) from error  # of a task or a scope of the adapter's own
    except BaseExceptionGroup as error:
        if error.subgroup(KeyboardInterrupt) is not None:
            raise KeyboardInterrupt from error
        raise _failed(turn, error) from error
    except BaseException as error:  # an adapter can raise anything, and call exit()
        raise _failed(turn, error) from error


def _cancelled() -> bool:
    """Whether this task has been cancelled from outside."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _failed(turn: int, error: BaseException) -> AgentError:
    where = f" ({line})" if (line := line_in_plugin(error)) else ""
    return AgentError(f"the agent failed at turn {turn}: {scrubbed(described(error) + where)}")


def unusable(reply: object) -> str:
    """Return why an adapter's return value cannot be recorded as a reply; empty if it can."""
    if not isinstance(reply, Reply):
        return f"{type(reply).__name__}, not a Reply"
    if not isinstance(reply.text, str):
        return f"a Reply whose text is {type(reply.text).__name__}, not a string"
    if not isinstance(reply.finish, Finish):
        return f"a Reply whose finish is {reply.finish!r:.60}, not one of Finish ({', '.join(Finish)})"
    if reply.usage is not None and not is_usage(reply.usage):
        return f"a Reply whose usage is {reply.usage!r:.200}, not a Usage of whole numbers from 0"
    return ""
