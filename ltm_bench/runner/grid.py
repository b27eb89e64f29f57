"""The grid of a sweep: every agent at every span with every seed on every suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.plan.folders import REPORTS, run_folder
from ltm_bench.plan.planning import make_plan, plan_of
from ltm_bench.plan.request import CallSettings, Request
from ltm_bench.plan.tables import read_toml
from ltm_bench.plan.values import parse_parameters, parse_settings
from ltm_bench.runner.ray.resources import EVERYBODY, Resources, read_resources
from ltm_bench.runner.sweep import Job


class Grid(BaseModel):
    """The runs of a sweep, as given by its file and flags."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agents: list[str] = Field(default_factory=list)
    spans: list[str] = Field(default_factory=list)
    """Each suite's own by default, usually 32k."""
    seeds: list[int] = Field(default_factory=lambda: [0])
    suites: list[str] = Field(default_factory=lambda: ["standard"])
    examples: int | None = Field(default=None, ge=1)
    isolated: bool = False
    """Run every example alone, without filler."""
    questions: str = "in-line"
    """As `--questions`."""
    acknowledge: str = "live"
    """As `--acknowledge`."""
    quick: bool = False
    """As `--quick`."""
    settings: list[str] = Field(default_factory=list)
    """Settings for all agents, as `-A`."""
    parameters: list[str] = Field(default_factory=list)
    """Parameters for all suites, as `-P`."""
    base_url: str | None = None
    resources: dict[str, Resources] = Field(default_factory=dict)
    """What a run needs from a cluster's node, by agent; `*` is for all. Ignored without a cluster."""

    def requests(self, calls: CallSettings) -> list[Request]:
        """Return the requests, in the order of the grid."""
        settings: dict[str, Any] = parse_settings(self.settings)
        parameters = parse_parameters(self.parameters)
        return [
            Request(
                span=span,
                agent=agent,
                suite=suite,
                examples=self.examples,
                seed=seed,
                isolated=self.isolated,
                questions=self.questions,
                acknowledge=self.acknowledge,
                quick=self.quick,
                settings=settings,
                base_url=self.base_url,
                parameters=parameters,
                timeout=calls.timeout,
                max_retries=calls.max_retries,
            )
            for suite in dict.fromkeys(self.suites)
            for span in dict.fromkeys(self.spans or (None,))
            for agent in dict.fromkeys(self.agents)
            for seed in dict.fromkeys(self.seeds)
        ]


def read_grid(path: Path) -> Grid:
    """Read a sweep's file. Raises ConfigError with file and key."""
    content = read_toml(path)
    try:
        grid = Grid.model_validate(content)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        if problem["type"] == "extra_forbidden":
            known = list(Grid.model_fields if len(problem["loc"]) == 1 else Resources.model_fields)
            raise ConfigError(
                f"{path}: unknown key {where!r}{nearest(where, known)} (known: {', '.join(known)})"
            ) from error
        raise ConfigError(f"{path}: {where} = {problem['input']!r:.60}: {problem['msg'].lower()}") from error
    for name in grid.resources:
        if grid.agents and name not in (EVERYBODY, *grid.agents):
            raise ConfigError(
                f"{path}: resources.{name}: this sweep has no such agent{nearest(name, grid.agents)} "
                f"(for all: [resources.'{EVERYBODY}'])"
            )
    return grid


def with_resources(grid: Grid, given: str | None) -> Grid:
    """Return a grid with default resources for agents without a table of their own."""
    if given is None:
        return grid
    everybody = {EVERYBODY: read_resources(given)}
    return grid.model_copy(update={"resources": grid.resources | everybody})


def jobs_of(
    grid: Grid,
    calls: CallSettings,
    reports: Path = REPORTS,
    *,
    name: str | None = None,
    fresh: bool = False,
) -> list[Job]:
    """Return the runs of a sweep, in the order of the grid.

    Args:
        grid: The grid.
        calls: How calls are made.
        reports: The folder for the runs.
        name: A prefix for the runs' names.
        fresh: Start every run beside one of the same name.

    Raises:
        ConfigError: Something cannot be planned. Nothing has been written.
    """
    if not grid.agents:
        raise ConfigError("sweep: no agent is named; use --agent, or agents = […] in the file")
    plans = [make_plan(request) for request in grid.requests(calls)]
    prefix = "" if name is None else f"{name}-"
    jobs = [Job(plan, run_folder(prefix + plan.name, fresh=fresh, reports=reports)) for plan in plans]
    folders = [job.folder for job in jobs]
    twice = next((folder for folder in folders if folders.count(folder) > 1), None)
    if twice is not None:
        raise ConfigError(f"sweep: two of its runs would be {twice}; name their agents differently")
    return jobs


def remake(folder: Path) -> Job:
    """Return the job of a run's folder, on a machine other than the one that planned it. Raises ManifestDiffers."""
    return Job(plan_of(folder), folder)
