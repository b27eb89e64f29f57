"""The grid of a sweep: every agent at every span with every seed on every suite."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from ltm_bench.core.errors import CannotCombine, ConfigError, nearest
from ltm_bench.core.seeds import Seed, parse_seeds, seeds_from
from ltm_bench.plan.agents import named_apart
from ltm_bench.plan.declaring import arguments
from ltm_bench.plan.folders import REPORTS, run_folder
from ltm_bench.plan.planning import make_plan, plan_of
from ltm_bench.plan.request import NewRun, Request
from ltm_bench.plan.tables import explain, read_toml
from ltm_bench.runner.ray.resources import EVERYBODY, Resources, read_resources
from ltm_bench.runner.sweep import Job

_ONE = arguments(Request)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What the runs of a sweep differ in: all combinations of these are run. The rest of a request is for all."""

    agents: Annotated[Sequence[Any], _ONE["agent"].option] = ()
    spans: Annotated[Sequence[str], _ONE["span"].option] = ()
    seeds: Annotated[Sequence[Seed], _ONE["seed"].option._replace(parse=parse_seeds)] = ()
    suites: Annotated[Sequence[str], _ONE["suite"].option] = ()

    def requests(self, common: Request, repeats: int = 1) -> Iterator[Request]:
        """Yield the requests, in the order of the grid. Each seed stands for `repeats` seeds, from itself on."""
        seeds = [each for seed in self.seeds or (common.seed,) for each in seeds_from(seed, repeats)]
        for suite in dict.fromkeys(self.suites or (common.suite,)):
            for span in dict.fromkeys(self.spans or (common.span,)):
                for agent in dict.fromkeys(self.agents):
                    for seed in dict.fromkeys(seeds):
                        yield replace(common, suite=suite, span=span, agent=agent, seed=seed)


class Shard(NamedTuple):
    """A part of a sweep: every so many of its runs, from one on, so that all parts are alike."""

    number: int
    """From 1 on."""
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Parse `N/M`. Raises ValueError."""
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, re.ASCII)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError("write N/M, such as 3/16 for the third of sixteen parts")
        return cls(int(found[1]), int(found[2]))


class Jobs(NamedTuple):
    """The runs of a sweep."""

    jobs: Sequence[Job]
    """In the order of the grid."""
    skipped: Sequence[str]
    """A line for each combination that cannot be run, with the reason."""


def jobs_of(
    grid: Grid,
    common: Request | None = None,
    *,
    repeats: int = 1,
    calls: Mapping[str, Any] | None = None,
    reports: Path = REPORTS,
    new: NewRun | None = None,
    shard: Shard | None = None,
) -> Jobs:
    """Plan the runs of a sweep.

    Args:
        grid: What they differ in.
        common: What they have in common.
        repeats: How many seeds each seed stands for.
        calls: Settings of agents' calls, which override their own and are not recorded.
        reports: The folder for the runs.
        new: A prefix for their names, and whether each starts beside one of the same name.
        shard: Which part of them; None for all.

    Raises:
        ConfigError: Something cannot be used at all, or no combination can be run. Nothing has been written.
    """
    if not grid.agents:
        raise ConfigError("sweep: no agent is named; use --agent, or agents = […] in the file")
    grid, new = replace(grid, agents=named_apart(grid.agents)), new or NewRun()
    prefix = "" if new.name is None else f"{new.name}-"
    jobs, skipped = [], {}
    requests = list(grid.requests(common or Request(), repeats))
    if shard is not None and shard.number > len(requests):
        raise ConfigError(
            f"--shard {shard.number}/{shard.of}: the sweep has {len(requests)} runs; use at most that many parts"
        )
    for request in requests if shard is None else requests[shard.number - 1 :: shard.of]:
        try:
            plan = make_plan(request, calls)
        except CannotCombine as error:
            at = "" if request.span is None else f" at {request.span}"
            skipped[f"{request.suite}{at}, {request.agent}, seed {request.seed}"] = error
        else:
            fresh = new.fresh or (new.name is None and plan.agents.at_hand)
            jobs.append(Job(plan, run_folder(prefix + plan.name, fresh=fresh, reports=reports)))
    if not jobs:
        raise next(iter(skipped.values()))
    [(twice, times)] = Counter(job.folder for job in jobs).most_common(1)
    if times > 1:
        raise ConfigError(f"sweep: two of its runs would be {twice}; name their agents differently")
    return Jobs(jobs, [f"{name}: skipped: {error}" for name, error in skipped.items()])


def resources_in(path: Path | None, agents: Sequence[str], everybody: str | None) -> dict[str, Resources]:
    """Return what runs need from a cluster's node, by agent; `*` is for all.

    Args:
        path: The sweep's file, which may have tables `[resources.AGENT]`.
        agents: The sweep's agents.
        everybody: The default for agents without a table, as `NAME=N,…`.

    Raises:
        ConfigError: A table cannot be used.
    """
    try:
        tables = TypeAdapter(dict[str, Resources]).validate_python(
            {} if path is None else read_toml(path).get("resources", {})
        )
    except ValidationError as error:
        raise explain(path or Path(), error, Resources.model_fields, "resources") from error
    for name in tables:
        if agents and name not in (EVERYBODY, *agents):
            raise ConfigError(
                f"{path}: resources.{name}: this sweep has no such agent{nearest(name, agents)} "
                f"(for all: [resources.'{EVERYBODY}'])"
            )
    return tables if everybody is None else tables | {EVERYBODY: read_resources(everybody)}


def remake(folder: Path, calls: Mapping[str, Any] | None = None) -> Job:
    """Return the job of a run's folder, on a machine other than the one that planned it. Raises ManifestDiffers."""
    return Job(plan_of(folder, calls), folder)
