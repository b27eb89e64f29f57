"""Plans a request, runs it, scores it, asks judges, and publishes the results."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path

from ltm_bench.api.runs import Run
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached, ConfigError, LtmBenchError, RunIncomplete, nearest
from ltm_bench.core.messages import Message, Verdict
from ltm_bench.core.pricing import dollars
from ltm_bench.core.tokens import counter
from ltm_bench.judge.judges import Judge, find_judges
from ltm_bench.log.environment import record_tags
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import logs, read_events, read_manifest
from ltm_bench.plan.folders import REPORTS, run_folder
from ltm_bench.plan.planning import Plan, make_plan, read_bank, reference_examples
from ltm_bench.plan.request import Conduct, Request
from ltm_bench.plan.scenarios import abouts
from ltm_bench.plugins.agents import agent_class
from ltm_bench.runner.conversation import Verdicts
from ltm_bench.runner.estimate import Estimate, forecast
from ltm_bench.runner.locking import run_locked
from ltm_bench.runner.measured import seconds_per_reply
from ltm_bench.runner.observer import Observer, Silent
from ltm_bench.runner.progress import Progress, Tracker
from ltm_bench.runner.references import Played, play, play_alone, total
from ltm_bench.score.audits.judgements import judgements, overrides
from ltm_bench.score.results.run import Results
from ltm_bench.script.scenario import Example

REFERENCES = ("goldfish", "perfect")
"""The baseline and the oracle, whose scores accompany every run's."""

ON_DEMAND = ("reciter", "parrot")
"""Optional further references; each needs its own conversation, which makes no calls."""

CACHE = "answers.sqlite"
"""The file in the reports folder that keeps providers' answers, if they are kept."""

_log = logging.getLogger("ltm_bench")
_log.addHandler(logging.NullHandler())


@dataclass(frozen=True, kw_only=True)
class Options(Conduct):
    """How a run is carried out, and who is told. None of this is part of its identity."""

    reports: Path = REPORTS
    progress: Callable[[Progress], None] | None = None
    notify: Callable[[str], None] = _log.info
    """Called with single lines that a person at a terminal should read."""
    foresee: Callable[[Plan, Estimate | None], None] | None = None
    """Called with a forecast before a run starts; None if the run is too long to forecast quickly."""
    watch: Callable[[Plan, Path], None] | None = None
    """Called with the plan and the folder before the first turn of an unfinished run."""
    stopped: Callable[[Run], None] | None = None
    """Called with the partial run when a run must stop, before the error is raised."""

    @classmethod
    def of(cls, conduct: Conduct) -> Options:
        """Return options without anybody who is told."""
        given = {each.name: getattr(conduct, each.name) for each in fields(Conduct)}
        return cls(**given | {"reports": Path(conduct.reports)})

    @cached_property
    def budget(self) -> Budget:
        """What may be spent by all that is done with these options."""
        return Budget(None if self.max_cost is None else Decimal(str(self.max_cost)))


async def start(request: Request, options: Options, *, name: str | None, fresh: bool) -> Run:
    """Plan a request, and carry it out in its folder.

    Args:
        request: The arguments of the run.
        options: How it is carried out.
        name: The run folder's name; derived from the run by default.
        fresh: Start a new run beside one of the same name.
    """
    plan = make_plan(request, options.calls)
    folder = run_folder(plan.name if name is None else name, fresh=fresh, reports=options.reports)
    return await execute(plan, folder, options)


async def execute(plan: Plan, folder: Path, options: Options) -> Run:
    """Carry out a plan in its folder unless it is finished; then score it, ask judges, and write the results.

    If the run must stop, the partial run is published before the error is raised.
    """
    judges = find_judges(options.judges)
    check_price(plan.agents.sample, options.budget.limit, plan.manifest.agent.name)
    _check_records(folder)
    if options.foresee is not None and not (folder / "events.jsonl").exists():
        latency = seconds_per_reply(plan.manifest.agent, plan.manifest.span, options.reports)
        options.foresee(plan, await forecast(plan, latency))
    failure: LtmBenchError | None = None
    verdicts: Verdicts | None = {}

    def observer(already: bool) -> Observer:
        record_tags(folder, options.tags or {})
        if not already:
            for note in plan.notes:
                options.notify(note)
            if options.watch is not None:
                options.watch(plan, folder)
        return Silent() if options.progress is None else Tracker(plan, options.budget, options.progress)

    try:
        with _caching(options):
            verdicts = await run_locked(
                plan,
                folder,
                budget=options.budget,
                observer=observer,
                notify=options.notify,
                concurrent=1 if plan.agents.sample.interactive else options.connections,
            )
    except (RunIncomplete, BudgetReached) as error:
        failure = error
    if failure is not None:
        resumable = f"The run can be resumed: ltm-bench resume {folder.name}"
        try:
            results = await published(folder, plan, {})
        except (OSError, ConfigError):  # a full disk has no room for the page either
            options.notify(resumable)
            raise failure from None
        if options.stopped is not None:
            options.stopped(Run(folder, plan.manifest, results))
        options.notify(resumable)
        raise failure
    results = await published(folder, plan, verdicts or {})
    if verdicts is None:
        options.budget.spent += Decimal(str(results.costs.dollars or 0))
        options.notify(f"{folder} is finished already; --fresh starts a new run beside it.")
    return await _judged(Run(folder, plan.manifest, results), plan, judges, options)


def _caching(options: Options) -> AbstractContextManager[None]:
    """Keep providers' answers inside the block, if the options say so."""
    if not options.cache:
        return nullcontext()
    from ltm_bench.adapters.http import caching

    return caching(options.reports / CACHE)


async def _judged(run: Run, plan: Plan | None, judges: Sequence[Judge], options: Options) -> Run:
    if not judges:
        return run
    from ltm_bench.judge.asking import have_judged

    if not await have_judged(run.folder, run.results, judges, budget=options.budget, notify=options.notify):
        return run
    return Run(run.folder, run.manifest, await published(run.folder, plan, {}, run.manifest))


async def rescore(folder: Path, options: Options) -> Run:
    """Re-score a run from its log, and publish it. Calls no agent; asks judges if any are named."""
    manifest = read_manifest(folder)
    judges = find_judges(options.judges)
    run = Run(folder, manifest, await published(folder, None, {}, manifest))
    return await _judged(run, None, judges, options)


async def published(
    folder: Path,
    plan: Plan | None,
    verdicts: Mapping[tuple[str, int], Verdict],
    manifest: Manifest | None = None,
    besides: Sequence[str] = (),
) -> Results:
    """Score a run and write everything that is derived from its log.

    Args:
        folder: The run folder.
        plan: The run's plan, if it was just carried out.
        verdicts: Verdicts that the matchers have already given, by example and turn.
        manifest: The run's manifest, if there is no plan.
        besides: References from `ON_DEMAND` to show beside the score.

    Raises:
        ConfigError: The reference is unknown, or can no longer be played.
    """
    from ltm_bench.report.publishing import publish

    if unknown := [name for name in besides if name not in ON_DEMAND]:
        name = unknown[0]
        raise ConfigError(
            f"unknown reference {name!r}{nearest(name, ON_DEMAND)} (known: {', '.join(ON_DEMAND)})"
        )

    if plan is not None:
        manifest, about, examples = plan.manifest, plan.about, plan.examples
    else:
        manifest = manifest or read_manifest(folder)
        about, examples = abouts(manifest), reference_examples(manifest)
    if besides and not examples:
        raise ConfigError(
            f"{folder}: its scenarios have changed since, so no other agent can be asked the same"
        )
    references = {
        name: total(await play_alone(examples, agent_class(name), manifest.suite.start))
        for name in (REFERENCES if examples else ())
    }
    for name in besides:
        references[name] = total(await _held(manifest, examples, agent_class(name)))
    return publish(folder, manifest, about=about, references=references, verdicts=verdicts)


async def _held(
    manifest: Manifest, examples: Sequence[Example], make_agent: Callable[[], Agent]
) -> list[Played]:
    """Run the conversation with an agent that costs nothing."""
    if manifest.suite.isolated:
        return await play_alone(examples, make_agent, manifest.suite.start)
    return await play(
        examples,
        make_agent(),
        span=manifest.span,
        seed=manifest.seed,
        counter=counter(manifest.tokenizer),
        bank=read_bank(manifest.filler.source),
        start=manifest.suite.start,
        stagger=manifest.suite.stagger,
        max_tokens=manifest.filler.max_tokens,
    )


def check_price(agent: Agent, limit: Decimal | None, name: str) -> None:
    """Raise ConfigError if an agent's price is unknown, so that a limit cannot be guaranteed."""
    if limit is None:
        return
    if agent.free:
        return
    most = agent.reserve(Message("Hello", datetime(2026, 1, 1, tzinfo=UTC), 0))
    if most is None:
        raise ConfigError(
            f"--max-cost {limit} cannot be guaranteed: agent {name} does not say what a reply uses at most (its "
            "adapter has no reserve()); run without --max-cost"
        )
    if dollars(most) is None:
        raise ConfigError(
            f"--max-cost {limit} cannot be guaranteed: the price of agent {name} is unknown; run without --max-cost"
        )


def _check_records(run: Path) -> None:
    """Read all records of a run before adding to them. Raises LogError if one is damaged."""
    first = run / "events.jsonl"
    if not first.is_file() or not first.stat().st_size:
        return
    judgements(run)
    overrides(run)
    for path in logs(run):
        for _ in read_events(path):
            pass
