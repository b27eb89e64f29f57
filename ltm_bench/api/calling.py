"""`run` and `resume` as they are called from Python, with their blocking and async forms. The command line needs none.

Every function with both forms (`run`, `arun`) does the same in both; the blocking ones also work where an event loop is
running already, as in a notebook.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, replace
from functools import wraps
from inspect import getdoc, signature
from textwrap import fill
from typing import Annotated, Any, ParamSpec, TypeVar, cast, get_type_hints

from ltm_bench.api.options import Options
from ltm_bench.api.running import execute, start
from ltm_bench.api.runs import Run
from ltm_bench.plan.declaring import Given, Option, arguments
from ltm_bench.plan.folders import find_run
from ltm_bench.plan.planning import plan_of
from ltm_bench.plan.request import Conduct, NewRun, Request
from ltm_bench.runner.progress import Progress

_SECTION = re.compile(r"^(Returns|Raises):", re.MULTILINE)

T = TypeVar("T")
P = ParamSpec("P")
D = TypeVar("D")


def taking(
    declaration: Callable[P, D],
) -> Callable[[Callable[[D], Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Return a decorator: the function gets the fields of a declaration as its parameters, and in its docstring."""
    declared = arguments(cast(type, declaration))

    def decorate(main: Callable[[D], Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @wraps(main)
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            asked = declaration(*args, **kwargs)
            getattr(asked, "said", Given()).update(took.bind(*args, **kwargs).arguments)
            return await main(asked)

        took = signature(declaration)
        known = [each for each in took.parameters.values() if each.name in declared]
        parameters = [each.replace(annotation=declared[each.name].kind) for each in known]
        returned = get_type_hints(main)["return"]
        vars(call)["__signature__"] = took.replace(parameters=parameters, return_annotation=returned)
        call.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": returned}
        lines = (f"{each.name}: {declared[each.name].option.help}" for each in parameters)
        told = [fill(line, 108, initial_indent=" " * 4, subsequent_indent=" " * 8) for line in lines]
        call.__doc__ = _SECTION.sub("\n".join(["Args:", *told, "", r"\g<0>"]), getdoc(main) or "", count=1)
        return call

    return decorate


def blocking(main: Callable[P, Coroutine[Any, Any, T]], name: str) -> Callable[P, T]:
    """Return the blocking form of a function: it runs in this thread, or in another one if an event loop runs here."""

    @wraps(main)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(main(*args, **kwargs))
        with ThreadPoolExecutor(max_workers=1) as pool:
            return pool.submit(lambda: asyncio.run(main(*args, **kwargs))).result()

    call.__name__ = call.__qualname__ = name
    return call


Report = Annotated[
    Callable[[Progress], None] | None, Option("Called with a `Progress` after every turn.", terminal=False)
]


@dataclass(frozen=True, kw_only=True)
class RunArguments(NewRun, Conduct, Request):
    """The parameters of `run`."""

    progress: Report = None


@dataclass(frozen=True)
class ResumeArguments(Conduct):
    """The parameters of `resume`."""

    run: Annotated[
        str | os.PathLike[str] | None,
        Option("Its name or folder; the newest one in `reports` if left out.", terminal=False),
    ] = None
    _: KW_ONLY
    progress: Report = None


@taking(RunArguments)
async def arun(asked: RunArguments) -> Run:
    """Run one conversation with an agent, score it and write its page. Continues a run that was interrupted.

    The agent may also be an object: an `Agent` or its class, or a function, a class or an object that takes a message
    and returns the reply. One that cannot be imported by its name is asked in a new run, unless `name` says in which.

    Returns:
        The complete run.

    Raises:
        ConfigError: An argument is invalid.
        RunIncomplete: The run stopped early, and can be resumed; `AgentError` if the agent could not reply.
        BudgetReached: The next call could exceed `max_cost`.
        LogError: The folder holds another run, a damaged one, or one in use by another process.
    """
    options = replace(Options.of(asked), progress=asked.progress)
    return await start(asked, options, name=asked.name, fresh=asked.fresh)


run = blocking(arun, "run")


@taking(ResumeArguments)
async def aresume(asked: ResumeArguments) -> Run:
    """Resume an interrupted run exactly where it stopped. No logged reply is asked for again.

    What is not given is as it was when the run was begun: limit, gateway, reader, judges, controls and so on. What the
    run has cost so far counts towards `max_cost`.

    Raises:
        ConfigError: There is no such run, or it would be protected less than when it was begun, and `without` does not
            say so.
        ManifestDiffers: A scenario or the adapter has changed since.
        RunIncomplete, BudgetReached: As for `run`.
    """
    options = replace(Options.of(asked), progress=asked.progress)
    folder = find_run(None if asked.run is None else os.fspath(asked.run), options.reports)
    return await execute(plan_of(folder, asked.calls), folder, options)


resume = blocking(aresume, "resume")
