"""Guards a run against its adapter: whatever that raises becomes an error from which the run can be resumed."""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ltm_bench.core.budget import Halted
from ltm_bench.core.errors import AgentError, LtmBenchError, described
from ltm_bench.core.keys import cleaned, scrubbed
from ltm_bench.core.limits import TooLong, too_long
from ltm_bench.core.messages import Finish, Reply
from ltm_bench.log.events import is_usage
from ltm_bench.plugins.files import line_of_user

T = TypeVar("T")

_log = logging.getLogger("ltm_bench")


async def guarded(call: Callable[[], Awaitable[T]], turn: int | None = None) -> T:
    """Return what a call to the agent returns, without keys. Raises AgentError, which names the turn if there is one.

    Only errors of ours pass, and what ends this task from outside: an interruption, a cancellation, an empty budget.
    """
    try:
        return cleaned(await call())  # before anybody sees it: a log is shown and passed on
    except (KeyboardInterrupt, GeneratorExit, Halted, TooLong):
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


def _failed(turn: int | None, error: BaseException) -> AgentError:
    where = "" if turn is None else f" at turn {turn}"
    _log.debug("the agent failed%s\n%s", where, traced(error))
    return AgentError(f"the agent failed{where}: {placed(error)}")


def placed(error: BaseException) -> str:
    """Return what an adapter raised, in one line, with the last line of a user's code that it passed."""
    where = f" ({line})" if (line := line_of_user(error)) else ""
    return scrubbed(described(error) + where)


def traced(error: BaseException) -> str:
    """Return the traceback of what an adapter raised, without keys."""
    return scrubbed("".join(traceback.format_exception(error)))


def unusable(reply: object, most: int) -> str:
    """Return why an adapter's return value cannot be recorded as a reply of at most these bytes; empty if it can."""
    if not isinstance(reply, Reply):
        return f"{type(reply).__name__}, not a Reply"
    if not isinstance(reply.text, str):
        return f"a Reply whose text is {type(reply.text).__name__}, not a string"
    if 4 * len(reply.text) > most and len(reply.text.encode("utf-8", "surrogatepass")) > most:
        return f"a Reply of {len(reply.text):,} characters: {too_long(most)}"
    if not isinstance(reply.finish, Finish):
        return f"a Reply whose finish is {reply.finish!r:.60}, not one of Finish ({', '.join(Finish)})"
    if reply.usage is not None and not is_usage(reply.usage):
        return f"a Reply whose usage is {reply.usage!r:.200}, not a Usage of whole numbers from 0"
    return ""
