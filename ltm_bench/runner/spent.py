"""Where a run stands, by its folder: whether it is finished, and what it has cost so far."""

from collections.abc import Set
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import LogError
from ltm_bench.log.calls import Place, read_calls, spent_on
from ltm_bench.log.events import Replied
from ltm_bench.log.forks import answers_in
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, is_finished, read_events, read_manifest
from ltm_bench.plan.planning import Plan


class Cost(NamedTuple):
    """What a run has cost so far."""

    logged: Decimal = Decimal()
    """For its logged replies with known prices."""
    charged: Decimal = Decimal()
    """In addition, at most: for attempts without a usage, for calls cut off by a crash, and through the gateway."""
    replies: Set[Place] = frozenset()
    """Replies whose cost is in `charged`, because they have no usage."""
    unkept: int = 0
    """Replies whose calls are known by the log alone."""

    @property
    def total(self) -> Decimal:
        """All of it."""
        return self.logged + self.charged


def cost_of(folder: Path, manifest: Manifest | None = None) -> Cost:
    """Return what a run has cost so far, from its logs and their side files.

    Raises:
        LogError: A log is damaged.
    """
    manifest, found = manifest or read_manifest(folder), read_calls(folder)
    for path in conversations(folder, manifest):
        if path.exists():
            name = path.stem if manifest.suite.isolated else None
            turns = ((event.turn, event.usage) for event in read_events(path) if isinstance(event, Replied))
            forks = ((number, answered.usage) for number, answered in answers_in(path).items())
            for number, usage in chain(turns, forks):
                found.take_reply((name, number), usage)
    calls, unkept = found.every, sum(each.usage is not None for each, *_ in found.alone.values())
    # Of a reply that says what it used, all calls are logged, unless no list has its price.
    logged = [each for each in calls if each.usage is not None and not each.passed]
    total, known = spent_on(calls), spent_on(logged)
    charged = {
        (each.conversation, each.turn)
        for each in calls
        if each.turn is not None and each.dollars is not None and not (each.lost or each.passed)
    }
    return Cost(known, total - known, charged | found.opened, unkept)


def cost_before(plan: Plan, folder: Path, budget: Budget) -> Cost:
    """Return what a run has cost; 0 if its log cannot be read, since it cannot continue.

    A limit is for all runs of a sweep or a race, the finished ones too; without one, their logs are not read.
    """
    if budget.limit is None and finished(plan, folder):
        return Cost()
    try:
        return cost_of(folder, plan.manifest)
    except LogError:
        return Cost()


def finished(plan: Plan, folder: Path) -> bool:
    """Whether all conversations of a plan are finished."""
    if plan.manifest.asks is not None:  # which they are, only the log of the run says whose questions it asks
        return False
    if not plan.manifest.suite.isolated:
        return is_finished(folder / "events.jsonl")
    names = (example.id.replace("/", "-") for example in plan.examples)
    return all(is_finished(folder / "isolated" / f"{name}.jsonl") for name in names)
