"""Live progress of a run: a display on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from ltm_bench.cli.console import err
from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Turn, Verdict
from ltm_bench.log.manifest import Manifest
from ltm_bench.schedule import USABLE, Ended
from ltm_bench.script.scenario import Example

_PLAIN_SECONDS = 10.0
_LIVE_SECONDS = 0.1


class RunProgress:
    """Observes a run and shows turns, tokens, examples done, score so far, cost and time left."""

    def __init__(
        self,
        manifest: Manifest,
        examples: Sequence[Example],
        budget: Budget,
        *,
        free: bool,
        interactive: bool = False,
    ) -> None:
        self._interactive = interactive
        self._budget = budget
        self._free = free
        self._examples = len(examples)
        self._scenarios = len({e.scenario.name for e in examples})
        rounds = max((e.index for e in examples), default=0) + 1
        self._isolated = manifest.suite.isolated
        self._expected = len(examples) if self._isolated else int(rounds * USABLE * manifest.span * 1.04)
        self._turns = self._tokens = self._position = self._done = 0
        self._scores: dict[str, dict[str, list[float]]] = {}
        self._began = time.monotonic()
        self._live_from = 0.0
        self._shown = 0.0
        self._live: Live | None = None
        self._bar = Progress(
            TextColumn("{task.percentage:>3.0f} %"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[left]}"),
            console=err(),
        )
        self._task = self._bar.add_task("run", total=1.0, left="")

    def __enter__(self) -> Self:
        if err().is_terminal and not self._interactive:
            self._live = Live(console=err(), auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
        err().print(self._line(), markup=False)

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Count a turn."""
        self._turns += 1
        self._tokens += tokens
        self._position = position
        if replayed:
            self._live_from = self._fraction()
            self._began = time.monotonic()
        self._show()

    def verdict(self, example: Example, verdict: Verdict) -> None:
        """Take note of a score."""
        if verdict.score is not None:
            of_scenario = self._scores.setdefault(example.scenario.name, {})
            of_scenario.setdefault(example.id, []).append(verdict.score)

    def ended(self, ended: Ended) -> None:
        """Count an example."""
        self._done += 1
        self._show()

    def _fraction(self) -> float:
        done = self._done if self._isolated else self._position
        return min(1.0, done / max(self._expected, 1))

    def _score(self) -> float:
        return sum(
            sum(sum(each) / len(each) for each in of_scenario.values()) / len(of_scenario)
            for of_scenario in self._scores.values()
        )

    def _line(self) -> str:
        cost = "free" if self._free else f"${self._budget.spent:.4f}"
        if self._budget.unknown and not self._free:
            cost = f"{cost} + unknown" if self._budget.spent else "cost unknown"
        return (
            f"{self._turns:,} turns · {self._tokens:,} tokens · {self._done}/{self._examples} examples · "
            f"score so far {self._score():.2f}/{self._scenarios} · {cost}"
        )

    def _left(self) -> str:
        fraction = self._fraction()
        seconds = time.monotonic() - self._began
        if fraction <= self._live_from or seconds < 1 or self._done == self._examples:
            return ""
        left = seconds * (1 - fraction) / (fraction - self._live_from)
        return f"{int(left // 3600)}:{int(left // 60 % 60):02}:{int(left % 60):02} left"

    def _show(self) -> None:
        now = time.monotonic()
        if self._interactive or now - self._shown < (_PLAIN_SECONDS if self._live is None else _LIVE_SECONDS):
            return
        first = self._shown == 0.0
        self._shown = now
        if self._live is not None:
            self._bar.update(self._task, completed=self._fraction(), left=self._left())
            line = Text(self._line(), overflow="fold", no_wrap=False)  # else a narrow terminal would cut it
            self._live.update(Group(self._bar, line), refresh=True)
        elif not first:
            left = self._left()
            err().print(
                f"{self._fraction():4.0%} · {self._line()}{' · ' if left else ''}{left}", markup=False
            )
