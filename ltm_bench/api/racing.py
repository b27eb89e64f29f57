"""Races: agents on the same examples, round by round of seeds, until the data tells them apart."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from itertools import count
from pathlib import Path
from typing import Any

from ltm_bench.api.calling import blocking
from ltm_bench.api.continuing import together
from ltm_bench.api.options import Options
from ltm_bench.api.publication import publish_job
from ltm_bench.api.running import check_price, equipped
from ltm_bench.api.runs import Run
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import (
    AgentError,
    BudgetReached,
    ConfigError,
    LtmBenchError,
    RunIncomplete,
    nearest,
)
from ltm_bench.core.seeds import seeds_from
from ltm_bench.judge.judges import find_judges, find_reader
from ltm_bench.plan.agents import named_apart
from ltm_bench.plan.declaring import Given
from ltm_bench.plan.request import Conduct, NewRun, Request
from ltm_bench.report.publishing import replace_file
from ltm_bench.report.race_page import render_race
from ltm_bench.runner.grid import Grid, jobs_of
from ltm_bench.runner.observer import Observer, Silent
from ltm_bench.runner.sweep import Job, SweepObserver, sweep
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.racing import End, Race, Rules

MOST = 40
"""Maximum number of rounds, by default."""

TRIES = 3
"""How often a round with an agent's error is tried."""


class Quiet:
    """Observes a round without a terminal."""

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._notify = notify

    def begun(self, job: Job, *, already: bool) -> Observer:
        """Observe nothing."""
        return Silent()

    def noted(self, job: Job, line: str) -> None:
        """Pass a note on."""
        self._notify(f"{job.folder.name}: {line}")

    def done(self, job: Job, problem: LtmBenchError | None) -> None:
        """Pass a problem on."""
        if problem is not None:
            self.noted(job, str(problem))


Watch = Callable[[Sequence[Job], Budget], AbstractContextManager[SweepObserver]]
"""Returns the observer of a round's runs."""


def quickly(request: Request) -> Request:
    """Return a request in the quick mode, unless it says otherwise. A race gives that up for who cannot be asked so."""
    asked = Request()
    names = ("questions", "acknowledge", "filler")
    own = any(getattr(request, name) != getattr(asked, name) for name in names)
    return request if own or request.isolated else replace(request, quick=True)


class RunningRace:
    """The course of a race: its rounds, each a run of every agent that still races."""

    def __init__(
        self,
        agents: Sequence[str],
        request: Request,
        options: Options,
        new: NewRun,
        most: int,
        least: float | None,
    ) -> None:
        """Plan the first round. Raises ConfigError.

        Args:
            agents: Their names, two or more, each once.
            request: The arguments of every run; its seed is that of the first round.
            options: How the runs are carried out; one budget for all.
            new: Where they go.
            most: Maximum number of rounds.
            least: The smallest difference that matters, in points; None for a tenth of the highest score.
        """
        if len(agents) < 2 or len(set(agents)) < len(agents):
            raise ConfigError(f"race {' '.join(agents)}: name two different agents, or more")
        self._request, self._options, self._new = quickly(request), options, new
        self._quick = request.quick
        self._named = {
            str(each): each for each in agents
        }  # a name may have an object, which a race does not keep
        jobs = self._jobs(agents, 0)
        options = self._options
        for job in jobs:
            if not options.gateway:
                check_price(job.plan.agents.sample, options.budget.limit, job.plan.manifest.agent.name)
            find_reader(options.reader, job.plan.manifest.agent)
        find_judges(options.judges)
        manifest = jobs[0].plan.manifest
        self.scenarios = [entry.examples for entry in manifest.suite.scenarios]
        """The number of examples of each scenario in a round."""
        highest = len(self.scenarios)
        if least is not None and least > highest:
            raise ConfigError(f"--least {least:g}: more than the highest possible score, {highest}")
        self.race = Race.of(agents, Rules(most=most, least=least or 0.1 * highest))
        self.race.suite, self.race.out_of = manifest.suite.title, highest
        self.race.span = None if manifest.suite.isolated else manifest.span

    def _jobs(self, agents: Sequence[str], number: int) -> Sequence[Job]:
        """Plan the runs of a round."""
        found = jobs_of(
            Grid(agents=[self._named[each] for each in agents]),
            replace(self._request, seed=seeds_from(self._request.seed, number + 1)[-1]),
            calls=self._options.calls,
            reports=self._options.reports,
            new=self._new,
        )
        if found.skipped and self._request.quick and not self._quick:
            self._options.notify("all are asked in-line, since not every agent can be asked with --quick")
            self._request = replace(self._request, quick=False)
            return self._jobs(agents, number)
        if found.skipped:
            raise ConfigError(found.skipped[0].replace("skipped: ", ""))
        jobs, self._options = together(found.jobs, self._options)
        return jobs

    async def rounds(self, watch: Watch) -> AsyncIterator[Race]:
        """Carry out round after round; yield the race after each, and at its end. Raises RunIncomplete."""
        runs: dict[str, list[Scored]] = {agent: [] for agent in self.race.agents}
        costs: list[float | None] = []
        for number in count():
            jobs = self._jobs(self.race.racing, number)
            try:
                done = await self._round(jobs, watch)
            except BudgetReached:
                self.race.end = End.BUDGET
            else:
                for agent, run in zip(self.race.racing, done, strict=True):
                    runs[agent].append(Scored(run.manifest, run.results))
                    costs += [run.results.costs.dollars, run.results.costs.judge_dollars]
                self.race.take(runs)
            budget = self._options.budget
            if budget.limit is not None:
                self.race.dollars = float(budget.spent)
            else:  # nothing has counted what finished runs have cost
                self.race.dollars = None if None in costs else sum(each or 0.0 for each in costs)
            yield self.race
            if self.race.end is not None:
                return

    async def _round(self, jobs: Sequence[Job], watch: Watch) -> list[Run]:
        """Carry out a round; what an agent's error stopped is resumed, not left out."""
        options = self._options
        with equipped(options), watch(jobs, options.budget) as observer:
            ended = await sweep(
                jobs,
                options.budget,
                observer,
                connections=options.connections,
                limit=options.run_timeout,
                retries=TRIES - 1,
            )
        problems = [each.problem for each in ended if each.problem is not None]
        if problems:
            raise next((each for each in problems if not isinstance(each, AgentError)), problems[0])
        runs = [await publish_job(each.job, each.verdicts, options) for each in ended]
        for run in runs:
            if not run.complete:
                raise RunIncomplete(f"{run.name} is not complete; the same command continues")
        return runs

    def write(self, page: Path | None = None) -> Path:
        """Write the race's page, and return where."""
        prefix = "race" if self._new.name is None else self._new.name
        target = page or self._options.reports / f"{prefix}.html"
        links = {
            name: os.path.relpath(self._options.reports / name / "report.html", target.parent)
            for names in self.race.runs.values()
            for name in names
        }
        replace_file(target, render_race(self.race, links).encode("utf-8", "replace"))
        return target


async def arace(
    *agents: Any,
    most: int = MOST,
    least: float | None = None,
    progress: Callable[[Race], None] | None = None,
    **asked: Any,
) -> Race:
    """Race agents on the same examples, round by round of seeds, until the data tells them apart.

    Every round is an ordinary run of each agent, with the next seed. Repeating the call continues.

    Args:
        agents: Two agents or more: names, functions, classes or objects.
        most: Maximum number of rounds.
        least: The smallest difference that matters, in points; a tenth of all points if left out.
        progress: Called with the race after every round.
        asked: The parameters of `run`, but for the agent; `quick` unless another mode is named.

    Returns:
        The race, with its decisions; its page is in the reports folder.

    Raises:
        ConfigError: An argument is invalid.
        RunIncomplete: An agent failed several times in one round, or a judge did; the race can be repeated.
    """
    kinds = {each.name: kind for kind in (Request, Conduct, NewRun) for each in fields(kind)}
    del kinds["agent"], kinds["said"]
    if unknown := [name for name in asked if name not in kinds]:
        raise ConfigError(f"race({unknown[0]}=…): unknown{nearest(unknown[0], kinds)}")
    parts = {kind: {name: asked[name] for name in asked if kinds[name] is kind} for kind in kinds.values()}
    options = Options.of(Conduct(**parts[Conduct], said=Given(asked)))
    course = RunningRace(
        named_apart(agents), Request(**parts[Request]), options, NewRun(**parts[NewRun]), most, least
    )
    async for race in course.rounds(lambda jobs, budget: nullcontext(Quiet(options.notify))):
        if progress is not None:
            progress(race)
    course.write()
    return course.race


race = blocking(arace, "race")
