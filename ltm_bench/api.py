"""Runs the benchmark from Python: plan, run, score, publish. Nothing here prints.

    from ltm_bench import run

    result = run(agent="vector_memory", span="32k", scenarios=["colours"], examples=20)
    result.score, result.interval, result.verdict
    result.report("page.html")

The command line, sweeps and notebooks go through the same functions. Every function with a blocking and an async form
(`run`, `arun`) does the same in both; the blocking ones also work where an event loop is running already, as in a
notebook.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property, wraps
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ltm_bench.adapters.http import caching
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached, ConfigError, LtmBenchError, RunIncomplete
from ltm_bench.core.messages import Message, Verdict
from ltm_bench.core.pricing import dollars
from ltm_bench.core.tokens import DEFAULT
from ltm_bench.judge.asking import have_judged
from ltm_bench.judge.judges import Judge, find_judges
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import logs, read_events, read_manifest
from ltm_bench.plan.folders import REPORTS, find_run, run_folder
from ltm_bench.plan.planning import Plan, make_plan, plan_of, reference_examples
from ltm_bench.plan.request import CallSettings, Request
from ltm_bench.plan.scenarios import abouts
from ltm_bench.plugins.agents import agent_class
from ltm_bench.runner.holding import Held, hold
from ltm_bench.runner.observer import Observer, Silent
from ltm_bench.runner.progress import Progress, Tracker
from ltm_bench.runner.references import score_alone
from ltm_bench.runner.runs import CONCURRENT
from ltm_bench.score.fold import score_run
from ltm_bench.score.judgements import judgements, overrides
from ltm_bench.score.results import ExampleResult, Results, ScenarioResult
from ltm_bench.score.statistics import Interval

if TYPE_CHECKING:
    from ltm_bench.score.comparison import Comparison

T = TypeVar("T")
P = ParamSpec("P")

REFERENCES = ("goldfish", "perfect")
"""The floor and the ceiling, whose scores stand beside every run's."""

CACHE = "answers.sqlite"
"""Where providers' answers are kept, in the folder of reports, if they are."""

_log = logging.getLogger("ltm_bench")
_log.addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Run:
    """A run: its folder, what it is, and what it came to."""

    folder: Path
    manifest: Manifest
    results: Results

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def complete(self) -> bool:
        """Whether every question was asked, answered and judged."""
        return self.results.complete

    @property
    def score(self) -> float | None:
        """Sum over scenarios of their mean scores; None while the run is incomplete."""
        return self.results.score

    @property
    def out_of(self) -> int:
        """The highest score possible: the number of scenarios."""
        return self.results.out_of

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the score; None while the run is incomplete, or with one example a scenario."""
        return self.results.interval

    @property
    def verdict(self) -> str:
        """The headline in words, such as `above chance`."""
        return self.results.verdict

    @property
    def scenarios(self) -> Sequence[ScenarioResult]:
        """Each scenario's score."""
        return self.results.scenarios

    @property
    def examples(self) -> Sequence[ExampleResult]:
        """Each example, with its needles, questions, replies and verdicts."""
        return self.results.examples

    def report(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the page of the run, and return where: into its folder unless another file is named."""
        target = self.folder / "report.html" if path is None else Path(path)
        from ltm_bench.report.publishing import replace_file

        replace_file(target, self._page.encode("utf-8", "replace"))
        return target

    def rows(self) -> list[dict[str, Any]]:
        """Return a flat row for every question, with everything that is known of it."""
        from ltm_bench.export.rows import rows

        return [dict(row) for row in rows(self.results)]

    def frame(self) -> Any:
        """Return `rows()` as a data frame of pandas or, where that is not installed, of polars. Raises ConfigError."""
        try:
            import pandas
        except ImportError:
            pass
        else:
            return pandas.DataFrame(self.rows())
        try:
            import polars
        except ImportError as error:
            raise ConfigError(
                "frame() needs pandas or polars, and neither is installed; rows() needs neither"
            ) from error
        return polars.DataFrame(self.rows(), infer_schema_length=None)

    @cached_property
    def _page(self) -> str:
        from ltm_bench.report.page import render_page

        return render_page(self.results, self.manifest)

    def _repr_html_(self) -> str:
        """Show the run's page in a notebook."""
        return (
            f'<iframe title="{escape(self.name)}" srcdoc="{escape(self._page)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 40rem; border: 1px solid #ccc"></iframe>'
        )


def _blocking(main: Callable[P, Coroutine[Any, Any, T]], name: str) -> Callable[P, T]:
    """Return the blocking form of a function: it runs in this thread, or in another where an event loop runs here."""

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


async def arun(
    agent: str = "vector_memory",
    span: str | int = "32k",
    *,
    suite: str = "standard",
    scenarios: Sequence[str] = (),
    examples: int | None = None,
    seed: int = 0,
    isolated: bool = False,
    filler: str = "scripted",
    tokenizer: str = DEFAULT,
    settings: Mapping[str, Any] | None = None,
    base_url: str | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
    name: str | None = None,
    fresh: bool = False,
    reports: str | os.PathLike[str] = REPORTS,
    max_cost: Decimal | float | None = None,
    judges: Sequence[str] = (),
    cache: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Hold one conversation with an agent, score it and write its page. Continues a run that was interrupted.

    Args:
        agent: A preset, an adapter, a path to an adapter's file, or `python:MODULE:NAME`.
        span: Tokens between what is told and what is asked: `120k`, `1M`, or a number.
        suite: What is asked: the name of a suite, or `goodai:FOLDER`.
        scenarios: Only these scenarios, instead of all of the suite.
        examples: Examples per scenario, instead of the suite's.
        seed: The same seed gives the same conversation.
        isolated: Every example in a conversation of its own, without filler.
        filler: `scripted` (the agent only observes it), `live` (it answers), `triviaqa:PATH`, or `live,triviaqa:PATH`.
        tokenizer: The encoding that measures spans.
        settings: Of the agent.
        base_url: A compatible server for the agent's adapter.
        parameters: Of scenarios, by name, instead of the suite's: `{"counting_stars": {"stars": 32}}`.
        timeout: Seconds to wait for one reply, instead of the agent's own setting.
        max_retries: How often a failed request is sent again, instead of the agent's own setting.
        name: Of the folder in `reports`; named after suite, span, agent and seed if left out.
        fresh: Start beside a run of the same name.
        reports: The folder in which runs land.
        max_cost: US dollars that are never exceeded.
        judges: Agents that decide where text alone cannot tell.
        cache: Keep providers' answers in `reports`, and answer the same requests from there.
        progress: Called with a `Progress` after every turn.

    Returns:
        The run, complete.

    Raises:
        ConfigError: An argument cannot be used.
        RunIncomplete: The run stopped early, and can be resumed; `AgentError` if the agent could not reply.
        BudgetReached: The next call could exceed `max_cost`.
        LogError: The folder holds another run, a damaged one, or one that another process works on.
    """
    request = Request(
        agent=agent,
        span=span,
        suite=suite,
        scenarios=scenarios,
        examples=examples,
        seed=seed,
        isolated=isolated,
        filler=filler,
        tokenizer=tokenizer,
        settings=settings or {},
        base_url=base_url,
        parameters=parameters or {},
        timeout=timeout,
        max_retries=max_retries,
    )
    options = Options(
        reports=Path(reports), budget=_budget(max_cost), judges=judges, cache=cache, progress=progress
    )
    return await start(request, options, name=name, fresh=fresh)


run = _blocking(arun, "run")


async def aresume(
    run: str | os.PathLike[str] | None = None,
    *,
    timeout: float | None = None,
    max_retries: int | None = None,
    reports: str | os.PathLike[str] = REPORTS,
    max_cost: Decimal | float | None = None,
    judges: Sequence[str] = (),
    cache: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Continue a run that was interrupted, exactly where it stopped. No logged reply is asked for again.

    Args:
        run: Its name or folder; the newest one in `reports` if left out.
        timeout: Seconds to wait for one reply, instead of the agent's own setting.
        max_retries: How often a failed request is sent again, instead of the agent's own setting.
        reports: The folder in which runs land.
        max_cost: US dollars that are never exceeded, what the run has cost so far included.
        judges: Agents that decide where text alone cannot tell.
        cache: Keep providers' answers in `reports`, and answer the same requests from there.
        progress: Called with a `Progress` after every turn.

    Raises:
        ConfigError: There is no such run.
        ManifestDiffers: A scenario or the adapter has changed since.
        RunIncomplete, BudgetReached: As for `run`.
    """
    options = Options(
        reports=Path(reports), budget=_budget(max_cost), judges=judges, cache=cache, progress=progress
    )
    folder = find_run(None if run is None else os.fspath(run), options.reports)
    return await execute(plan_of(folder, CallSettings(timeout, max_retries)), folder, options)


resume = _blocking(aresume, "resume")


def load_run(run: str | os.PathLike[str] | None = None, *, reports: str | os.PathLike[str] = REPORTS) -> Run:
    """Return a run that exists, scored from its log as today's matchers score. Nothing is written.

    Args:
        run: Its name or folder; the newest one in `reports` if left out.
        reports: The folder in which runs land.

    Raises:
        ConfigError: There is no such run.
        LogError: Its log is damaged.
    """
    folder = find_run(None if run is None else os.fspath(run), Path(reports))
    manifest = read_manifest(folder)
    return Run(folder, manifest, score_run(folder, manifest, about=abouts(manifest)))


def compare(*runs: Run | str | os.PathLike[str], reports: str | os.PathLike[str] = REPORTS) -> Comparison:
    """Compare runs: scores over spans, differences by example, and what sets the runs apart. No agent is asked.

    Args:
        runs: Runs, their names, or their folders.
        reports: The folder in which names are looked up.

    Raises:
        ConfigError: There is no such run, or no run was given.
    """
    from ltm_bench.score.comparison import Run as Scored
    from ltm_bench.score.comparison import compare as compare_scored

    if not runs:
        raise ConfigError("compare() needs at least one run; give runs, names or folders")
    loaded = [each if isinstance(each, Run) else load_run(each, reports=reports) for each in runs]
    return compare_scored([Scored(each.manifest, each.results) for each in loaded])


def _ignore(_: str) -> None:
    """Hear of something, and do nothing."""


@dataclass(frozen=True)
class Options:
    """How a run is carried out. None of this is part of what it is."""

    reports: Path = REPORTS
    budget: Budget = field(default_factory=Budget)
    judges: Sequence[str] = ()
    cache: bool = False
    progress: Callable[[Progress], None] | None = None
    notify: Callable[[str], None] = _log.info
    """Told, in one line each, of what a person at a terminal should know."""
    watch: Callable[[Plan, Path], None] | None = None
    """Told of the plan and the folder before the first turn of a run that is not finished."""
    stopped: Callable[[Run], None] | None = None
    """Told of a run that had to stop, as far as it got, before the error is raised."""


async def start(request: Request, options: Options, *, name: str | None, fresh: bool) -> Run:
    """Plan what was asked for, and carry it out in its folder.

    Args:
        request: What was asked for.
        options: How it is carried out.
        name: Of the run's folder; named after what it is if left out.
        fresh: Start beside a run of the same name.
    """
    plan = make_plan(request)
    folder = run_folder(plan.manifest, name, fresh=fresh, reports=options.reports)
    return await execute(plan, folder, options)


async def execute(plan: Plan, folder: Path, options: Options) -> Run:
    """Carry out a plan in its folder, or find it finished; then score it, ask judges, and write what came of it.

    A run that had to stop is published as far as it got before the error is raised.
    """
    judges = find_judges(options.judges)
    check_price(plan.agents.sample, options.budget.limit, plan.manifest.agent.name)
    _check_records(folder)
    failure: LtmBenchError | None = None
    held = Held(False, {})

    def observer(already: bool) -> Observer:
        if not already and options.watch is not None:
            options.watch(plan, folder)
        return Silent() if options.progress is None else Tracker(plan, options.budget, options.progress)

    try:
        with caching(options.reports / CACHE if options.cache else None):
            held = await hold(
                plan,
                folder,
                budget=options.budget,
                observer=observer,
                notify=options.notify,
                concurrent=1 if plan.agents.sample.interactive else CONCURRENT,
            )
    except (RunIncomplete, BudgetReached) as error:
        failure = error
    if failure is not None:
        try:
            results = await published(folder, plan, {})
        except (OSError, ConfigError):  # a full disk has no room for the page either
            raise failure from None
        if options.stopped is not None:
            options.stopped(Run(folder, plan.manifest, results))
        raise failure
    results = await published(folder, plan, held.verdicts)
    if held.already:
        options.budget.spent += Decimal(str(results.costs.dollars or 0))
        options.notify(f"{folder} is finished already; --fresh starts beside it.")
    return await _judged(Run(folder, plan.manifest, results), plan, judges, options)


async def _judged(run: Run, plan: Plan | None, judges: Sequence[Judge], options: Options) -> Run:
    if not await have_judged(run.folder, run.results, judges, budget=options.budget, notify=options.notify):
        return run
    return Run(run.folder, run.manifest, await published(run.folder, plan, {}, run.manifest))


async def rescore(folder: Path, options: Options) -> Run:
    """Score a run again from its log, and publish it. Its agent is not asked; judges are, where some are named."""
    manifest = read_manifest(folder)
    judges = find_judges(options.judges)
    run = Run(folder, manifest, await published(folder, None, {}, manifest))
    return await _judged(run, None, judges, options)


async def published(
    folder: Path,
    plan: Plan | None,
    verdicts: Mapping[tuple[str, int], Verdict],
    manifest: Manifest | None = None,
) -> Results:
    """Score a run and write everything that is derived from its log.

    Args:
        folder: The run folder.
        plan: Of the run, where it was just carried out.
        verdicts: What the matchers said already, by example and turn.
        manifest: Of the run, where there is no plan.
    """
    from ltm_bench.report.publishing import publish

    if plan is not None:
        manifest, about, examples = plan.manifest, plan.about, plan.examples
    else:
        manifest = manifest or read_manifest(folder)
        about, examples = abouts(manifest), reference_examples(manifest)
    references = {
        name: await score_alone(examples, agent_class(name), manifest.suite.start)
        for name in (REFERENCES if examples else ())
    }
    return publish(folder, manifest, about=about, references=references, verdicts=verdicts)


def check_price(agent: Agent, limit: Decimal | None, name: str) -> None:
    """Raise ConfigError if a limit cannot be held, because the price of an agent is unknown."""
    if limit is None:
        return
    most = agent.reserve(Message("Hello", datetime(2026, 1, 1, tzinfo=UTC), 0))
    if not agent.free and (most is None or dollars(most) is None):
        raise ConfigError(
            f"--max-cost {limit} cannot be held: the price of agent {name} is unknown; leave it out to run all the same"
        )


def _check_records(run: Path) -> None:
    """Read everything that a run rests on, before anything is added to it. Raises LogError for damage."""
    first = run / "events.jsonl"
    if not first.is_file() or not first.stat().st_size:
        return
    judgements(run)
    overrides(run)
    for path in logs(run):
        for _ in read_events(path):
            pass


def _budget(limit: Decimal | float | None) -> Budget:
    return Budget(None if limit is None else Decimal(str(limit)))
