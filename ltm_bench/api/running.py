"""Plans a request, runs it in its folder, and publishes it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.adapters.routing import serving
from ltm_bench.api.continuing import asking, check_server, continued, resuming
from ltm_bench.api.controlling import again_for, again_lines, ask_again, left_to_ask, spent_before
from ltm_bench.api.options import Options
from ltm_bench.api.publication import publish
from ltm_bench.api.runs import Run
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import BudgetReached, ConfigError, RunIncomplete
from ltm_bench.core.keys import read_key
from ltm_bench.core.messages import Message
from ltm_bench.core.pricing import dollars
from ltm_bench.judge.judges import find_judges, find_reader
from ltm_bench.log.environment import record_facts
from ltm_bench.log.reader import logs, read_events
from ltm_bench.plan.folders import run_folder
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.report.words import plural
from ltm_bench.runner.conversation import Verdicts
from ltm_bench.runner.conversations import run_locked
from ltm_bench.runner.estimate import forecast
from ltm_bench.runner.measured import seconds_per_reply
from ltm_bench.runner.observer import Observer, Silent
from ltm_bench.runner.outlook import outlook
from ltm_bench.runner.progress import Tracker
from ltm_bench.runner.spent import cost_before
from ltm_bench.score.audits.judgements import blind_readings, judgements, ratings

if TYPE_CHECKING:
    from ltm_bench.adapters.gateway.server import Gateway

CACHE = "answers.sqlite"
"""The file in the reports folder that keeps providers' answers, if they are kept."""


async def start(request: Request, options: Options, *, name: str | None, fresh: bool) -> Run:
    """Plan a request, and carry it out in its folder.

    Args:
        request: The arguments of the run.
        options: How it is carried out.
        name: The run folder's name; derived from the run by default.
        fresh: Start a new run beside one of the same name.
    """
    plan = make_plan(request, options.calls)
    # what it answers from may be another object than last time, which no name tells
    fresh = fresh or (name is None and plan.agents.at_hand)
    folder = run_folder(plan.name if name is None else name, fresh=fresh, reports=options.reports)
    return await execute(plan, folder, options)


async def execute(plan: Plan, folder: Path, options: Options) -> Run:
    """Carry out a plan in its folder unless it is finished; then score it, ask judges, and write the results.

    If the run must stop, the partial run is published before the error is raised.
    """
    options = continued(options, folder)
    check_server(plan, folder, options)
    find_judges(options.judges)  # before anything is paid for
    find_reader(options.reader, plan.manifest.agent)
    kinds = again_for(plan, options)
    if plan.agents.single and (kinds or (options.ladder and plan.agents.sample.forks == "no")):
        raise ConfigError(  # now, since its one conversation may be a dear one
            f"{plan.manifest.agent.name} is one agent, for one conversation, and what is asked again needs another; "
            "pass its class, or a function that makes it"
        )
    plan = asking(plan, folder, options)
    if not options.gateway:
        check_price(plan.agents.sample, options.budget.limit, plan.manifest.agent.name)
    _check_records(folder)
    said = ""
    verdicts: Verdicts | None = {}

    def observer(already: bool) -> Observer:
        record_facts(folder, options.tags, outlook=said)
        if not already:
            for note in plan.notes:
                options.notify(note)
            if options.watch is not None:
                options.watch(plan, folder)
        return Silent() if options.progress is None else Tracker(plan, options.budget, options.progress)

    try:
        with equipped(options):
            if not (folder / "events.jsonl").exists():
                said = await _foreseen(plan, options)
            for line in await again_lines(plan, left_to_ask(plan, folder, options)):
                options.notify(line)
            options.budget.count(spent_before(plan, folder, options))
            verdicts = await run_locked(
                plan,
                folder,
                budget=options.budget,
                observer=observer,
                notify=options.notify,
                concurrent=1 if plan.agents.sample.interactive else options.connections,
                limit=options.run_timeout,
                # behind a gateway, their calls could not be told from the run's
                ladder=options.ladder and not options.gateway,
            )
            if verdicts is None:
                options.budget.count(cost_before(plan, folder, options.budget).total)
            if kinds:
                await ask_again(plan, folder, options)
    except (RunIncomplete, BudgetReached) as failure:
        resumable = f"The run can be resumed: {resuming(folder, options, failure)}"
        try:
            partial = await publish(folder, plan)
        except (OSError, ConfigError):  # a full disk has no room for the page either
            options.notify(resumable)
            raise failure from None
        if options.stopped is not None:
            options.stopped(partial)
        options.notify(resumable)
        raise
    if verdicts is None and not kinds:
        asked = options.judges or options.reader  # which may be paid for
        (options.notify if asked else options.reused or options.notify)(
            f"{folder} is finished already; --fresh starts a new run beside it."
        )
    return await publish(folder, plan, verdicts, options=options)


async def _foreseen(plan: Plan, options: Options) -> str:
    """Forecast a run that has not begun, and show it; return what to say of the agent's window."""
    found = None
    if options.foresee is not None or plan.agents.sample.usage_model() is not None:
        latency = seconds_per_reply(plan.manifest.agent, plan.manifest.span, options.reports)
        found = await forecast(plan, latency)
    said = outlook(plan, found)
    if options.foresee is not None:
        options.foresee(plan, found)
    return said


@contextmanager
def equipped(options: Options) -> Iterator[None]:
    """Keep providers' answers inside the block, and serve a gateway, if the options say so.

    Raises ConfigError if one of them cannot be used.
    """
    cache = options.reports / CACHE if options.cache else None
    with ExitStack() as equipment:
        if cache is not None:
            from ltm_bench.adapters.http.answers import caching

            equipment.enter_context(caching(cache))
        if options.gateway:
            from ltm_bench.adapters.gateway.server import KEY_VARIABLE, Gateway
            from ltm_bench.adapters.gateway.upstreams import upstreams

            served, key = upstreams(options.upstream), read_key(KEY_VARIABLE)
            through = Gateway(served, options.budget, cache=cache, key=key, passed=options.gateway_env)
            if options.gateway_port and not key:
                options.notify(
                    f"--gateway-port: an agent that is not started from here needs a key for the gateway; export "
                    f"{KEY_VARIABLE} with one of your own, which is the agent's OPENAI_API_KEY then."
                )
            equipment.enter_context(serving(through, options.gateway_port))
            equipment.callback(_note_unseen, through, options.notify)
        elif options.upstream or options.gateway_port or options.gateway_env:
            raise ConfigError("--upstream, --gateway-port and --gateway-env are for a gateway; add --gateway")
        yield


def _note_unseen(through: "Gateway", notify: Callable[[str], None]) -> None:
    if through.unseen:
        notify(
            f"No call arrived at the gateway in {plural(through.unseen, 'conversation')}: if the agent calls a "
            "provider, see docs/gateway.md for how to point it there."
        )


def check_price(agent: Agent, limit: Decimal | None, name: str) -> None:
    """Raise ConfigError if an agent's price is unknown, so that a limit cannot be guaranteed."""
    if limit is None or agent.free:
        return
    most = agent.reserve(Message("Hello", datetime(2026, 1, 1, tzinfo=UTC), 0))
    if most is None or dollars(most) is None:
        unsaid = f"agent {name} does not say what a reply uses at most (its adapter has no reserve())"
        why = unsaid if most is None else f"the price of agent {name} is unknown"
        raise ConfigError(
            f"--max-cost {limit} cannot be guaranteed: {why}; run without --max-cost, or resume with --without max-cost"
        )


def _check_records(run: Path) -> None:
    """Read all records of a run before adding to them. Raises LogError if one is damaged."""
    first = run / "events.jsonl"
    if not first.is_file() or not first.stat().st_size:
        return
    blind_readings(run)
    judgements(run)
    ratings(run)
    for path in logs(run):
        for _ in read_events(path):
            pass
