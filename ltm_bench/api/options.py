"""How a run is carried out: nothing here is part of its identity."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ltm_bench.api.runs import Run
from ltm_bench.core.budget import Budget
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.conversations import CONCURRENT
from ltm_bench.runner.estimate import Estimate
from ltm_bench.runner.progress import Progress

_log = logging.getLogger("ltm_bench")
_log.addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Options:
    """How a run is carried out. None of this is part of its identity."""

    reports: Path = REPORTS
    budget: Budget = field(default_factory=Budget)
    judges: Sequence[str] = ()
    cache: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    """Tags kept in environment.json, added to those the run already has."""
    connections: int = CONCURRENT
    """Maximum concurrent calls to the agent, for isolated examples and forked questions."""
    progress: Callable[[Progress], None] | None = None
    notify: Callable[[str], None] = _log.info
    """Called with single lines that a person at a terminal should read."""
    foresee: Callable[[Plan, Estimate | None], None] | None = None
    """Called with a forecast before a run starts; None if the run is too long to forecast quickly."""
    watch: Callable[[Plan, Path], None] | None = None
    """Called with the plan and the folder before the first turn of an unfinished run."""
    stopped: Callable[[Run], None] | None = None
    """Called with the partial run when a run must stop, before the error is raised."""
