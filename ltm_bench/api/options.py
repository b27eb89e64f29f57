"""How a run is carried out: nothing here is part of its identity."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from decimal import Decimal
from pathlib import Path

from ltm_bench.api.runs import Run
from ltm_bench.core.budget import Budget
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.planning import Plan
from ltm_bench.plan.request import Conduct
from ltm_bench.runner.estimate import Estimate
from ltm_bench.runner.progress import Progress

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
    reused: Callable[[str], None] | None = None
    """Called instead of `notify` with the line that says that nothing was run."""
    stopped: Callable[[Run], None] | None = None
    """Called with the partial run when a run must stop, before the error is raised."""
    beside: str = ""
    """What a command that resumes a run has to say besides, each after a space."""
    budget: Budget = field(default_factory=Budget)
    """What may be spent by all that is done with these options, and with those that are made of them."""

    def __post_init__(self) -> None:
        """Limit the budget, unless it has a limit."""
        if self.max_cost is not None and self.budget.limit is None:
            self.budget.limit = Decimal(str(self.max_cost))

    @classmethod
    def of(cls, conduct: Conduct) -> Options:
        """Return options without anybody who is told."""
        given = {each.name: getattr(conduct, each.name) for each in fields(Conduct)}
        return cls(**given | {"reports": Path(conduct.reports)})
