"""Live progress: a display on a terminal, an occasional plain line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ltm_bench.cli.console import err, safe
from ltm_bench.cli.forecasting import forecast_lines
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached, LtmBenchError
from ltm_bench.plan.planning import Plan
from ltm_bench.plan.values import spell_span
from ltm_bench.report.words import plural
from ltm_bench.runner.estimate import Estimate
from ltm_bench.runner.observer import Observer, Silent
from ltm_bench.runner.progress import Progress, Tracker

if TYPE_CHECKING:  # off a terminal nothing is drawn
    from rich.console import RenderableType
    from rich.live import Live
    from rich.progress import Progress as Bar

    from ltm_bench.runner.sweep import Job

PLAIN_SECONDS = 10.0
"""Seconds between lines off a terminal."""

LIVE_SECONDS = 0.1
"""Seconds between updates on a terminal."""


class Screen:
    """Shows the latest state from time to time: in place on a terminal, as a line elsewhere."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._shown = 0.0

    def begin(self, *, interactive: bool = False) -> None:
        """Start showing, unless the agent talks to a person at this terminal."""
        self._shown = time.monotonic() if self._live is None else 0.0
        if err().is_terminal and not interactive:
            from rich.live import Live

            self._live = Live(console=err(), auto_refresh=False, transient=True)
            self._live.start()
            self._shown = 0.0

    @property
    def due(self) -> bool:
        """Whether an update is due."""
        wait = PLAIN_SECONDS if self._live is None else LIVE_SECONDS
        return time.monotonic() - self._shown >= wait

    def show(self, line: str, picture: RenderableType | None = None) -> None:
        """Show a line; on a terminal, in place of the last one, with a picture above it."""
        self._shown = time.monotonic()
        if self._live is None:
            err().print(line)
            return
        from rich.console import Group
        from rich.text import Text

        text = Text(line, overflow="fold", no_wrap=False)  # a narrow terminal would cut it otherwise
        self._live.update(Group(picture, text) if picture is not None else text, refresh=True)

    def end(self, line: str | None) -> None:
        """Stop, leaving the last line."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        if line is not None:
            err().print(line)


class Remaining:
    """Estimates the time left, from the progress since `start`."""

    def __init__(self) -> None:
        self._from, self._since = 0.0, time.monotonic()

    def start(self, fraction: float) -> None:
        """Start measuring; earlier progress does not count."""
        self._from, self._since = fraction, time.monotonic()

    def left(self, fraction: float) -> str:
        """Return the time left, in words; empty if not known yet."""
        seconds = time.monotonic() - self._since
        if fraction <= self._from or seconds < 1:
            return ""
        left = seconds * (1 - fraction) / (fraction - self._from)
        return f"{int(left // 3600)}:{int(left // 60 % 60):02}:{int(left % 60):02} left"


class RunDisplay:
    """Shows one run's turns, tokens, examples, score so far, cost and time left."""

    def __init__(self) -> None:
        self._screen = Screen()
        self._last: Progress | None = None
        self._free = self._interactive = self._begun = False
        self._clock = Remaining()
        self._forecast: list[str] = []

    def foresee(self, plan: Plan, found: Estimate | None) -> None:
        """Keep a run's forecast, to be shown when it starts."""
        self._forecast = list(forecast_lines(plan, found))

    def begin(self, plan: Plan, folder: Path) -> None:
        """Name the run, print its forecast, and start showing it."""
        manifest = plan.manifest
        title = (manifest.agent.name, manifest.suite.title, f"span {spell_span(manifest.span)}")
        err().print(" · ".join((*title, plural(len(plan.examples), "example"), str(folder))))
        for line in self._forecast:
            err().print(safe(line))
        self._free, self._interactive = manifest.agent.free, plan.agents.sample.interactive
        self._begun = True
        self._clock.start(0.0)
        self._screen.begin(interactive=self._interactive)

    def __call__(self, progress: Progress) -> None:
        """Take the latest state."""
        self._last = progress
        if progress.replaying:
            self._clock.start(progress.fraction)
        if self._interactive or not self._screen.due:
            return
        left = "" if progress.done == progress.examples else self._clock.left(progress.fraction)
        line = self._line(progress)
        if err().is_terminal:
            bar = self._bar
            bar.update(bar.task_ids[0], completed=progress.fraction, left=left)
            self._screen.show(line, bar)
        else:
            self._screen.show(f"{progress.fraction:4.0%} · {line}{' · ' if left else ''}{left}")

    @cached_property
    def _bar(self) -> Bar:
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("{task.percentage:>3.0f} %"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[left]}"),
            console=err(),
        )
        bar.add_task("run", total=1.0, left="")
        return bar

    def end(self) -> None:
        """Stop, leaving the last state."""
        if self._begun:
            self._screen.end(None if self._last is None else self._line(self._last))
            self._begun = False

    def _line(self, progress: Progress) -> str:
        cost = money(progress.spent, free=self._free, known=progress.cost_known)
        return (
            f"{progress.turns:,} turns · {progress.tokens:,} tokens · {progress.done}/{progress.examples} examples · "
            f"score so far {progress.score:.2f}/{progress.out_of} · {cost}"
        )


def money(spent: Decimal, *, free: bool, known: bool) -> str:
    """Return the money spent, in words."""
    if free:
        return "free"
    if not spent:  # a 0 would look like a price
        return "nothing spent" if known else "cost unknown"
    return f"${spent:.4f}" + ("" if known else " + unknown")


class SweepDisplay:
    """Shows all runs of a sweep in one line: runs done, turns, cost, time left."""

    def __init__(self, jobs: Sequence[Job], budget: Budget) -> None:
        self._screen = Screen()
        self._budget = budget
        self._runs = len(jobs)
        self._free = all(job.plan.manifest.agent.free for job in jobs)
        self._running: set[Path] = set()
        self._progress: dict[Path, Progress] = {}
        self._before: set[Path] = set()  # finished before
        self._done = self._failed = self._unpaid = self._turns = self._examples = 0
        self._planned = sum(len(job.plan.examples) for job in jobs)
        self._began = time.monotonic()
        self._clock = Remaining()

    def __enter__(self) -> Self:
        """Start showing."""
        self._screen.begin()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, leaving the last line."""
        self._screen.end(self._line())

    def begun(self, job: Job, *, already: bool) -> Observer:
        """Count a run that starts, or was already finished."""
        self._running.add(job.folder)
        if already:
            self._before.add(job.folder)
            self._examples += len(job.plan.examples)
            self._clock.start(self._fraction)
            return Silent()
        return Tracker(job.plan, self._budget, partial(self._told, job.folder))

    def noted(self, job: Job, line: str) -> None:
        """Print a note about a run."""
        err().print(f"{job.folder.name}: {safe(line)}")

    def done(self, job: Job, problem: LtmBenchError | None) -> None:
        """Count a run that ended, and name it, unless it was finished before."""
        self._running.discard(job.folder)  # a run locked by another process never began
        self._done += problem is None
        unpaid = isinstance(problem, BudgetReached)
        self._unpaid += unpaid
        self._failed += problem is not None and not unpaid
        if problem is not None:
            err().print(f"{job.folder.name}: {safe(str(problem))}")
        elif job.folder not in self._before:
            seen = self._progress.get(job.folder)  # nothing of a run on a cluster
            score = "" if seen is None else f", score so far {seen.score:.2f}/{seen.out_of}"
            err().print(f"{job.folder.name}: done{score}")
        if err().is_terminal:
            self._screen.show(self._line())

    def stopping(self, runs: int, seconds: float) -> None:
        """Say what an interruption waits for."""
        err().print(
            f"interrupted: waiting {seconds:g} seconds at most for the logs of {plural(runs, 'run')} on the cluster"
        )

    def heard(self, turns: int, examples: int) -> None:
        """Count progress made elsewhere."""
        self._turns += turns
        self._examples += examples
        self._show()

    def _told(self, folder: Path, progress: Progress) -> None:
        """Take the latest state of a run in this process."""
        self._progress[folder] = progress
        if progress.replaying:
            self._clock.start(self._fraction)
        self._show()

    @property
    def _fraction(self) -> float:
        """The fraction of all examples done, active ones in part."""
        here = sum(each.fraction * each.examples for each in self._progress.values())
        return (self._examples + here) / max(1, self._planned)

    def _line(self) -> str:
        cost = money(self._budget.spent, free=self._free, known=not self._budget.unknown)
        stopped = f", {self._failed} failed" if self._failed else ""
        stopped += f", {self._unpaid} stopped by --max-cost" if self._unpaid else ""
        seconds = time.monotonic() - self._began
        turns = self._turns + sum(each.turns for each in self._progress.values())
        examples = self._examples + sum(each.done for each in self._progress.values())
        left = (
            "" if self._done + self._failed + self._unpaid == self._runs else self._clock.left(self._fraction)
        )
        return (
            f"{self._done}/{self._runs} runs done{stopped}, {len(self._running)} under way · "
            f"{examples}/{self._planned} examples · {turns:,} turns "
            f"({turns / max(seconds, 0.001):.1f} a second) · {cost}{' · ' if left else ''}{left}"
        )

    def _show(self) -> None:
        if self._screen.due:
            self._screen.show(self._line())
