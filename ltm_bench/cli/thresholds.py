"""What a finished run is measured against in continuous integration: `--fail-under`, `--baseline` with `--max-drop`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ltm_bench.api import Run, compare, load_run
from ltm_bench.cli.console import err, safe
from ltm_bench.core.errors import ConfigError, ThresholdMissed
from ltm_bench.score.results import Results


@dataclass(frozen=True)
class Thresholds:
    """How good a run has to be."""

    fail_under: float | None = None
    baseline: str | None = None
    """Name or folder of another run."""
    max_drop: float = 0.0
    """How far below the baseline the score may lie, as a share of the highest one."""

    def find_baseline(self) -> Run | None:
        """Return the baseline, before anything has been paid. Raises ConfigError if it cannot serve as one."""
        if self.baseline is None:
            return None
        run = load_run(self.baseline)
        if not run.complete:
            raise ConfigError(
                f"--baseline {self.baseline}: that run is incomplete; resume it, or take another"
            )
        return run

    def check(self, runs: Sequence[Run], baseline: Run | None) -> None:
        """Raise ThresholdMissed if a run, or several with different seeds on average, are not good enough."""
        scores = [run.score for run in runs]
        so_far = sum(run.results.score_so_far for run in runs) / len(runs)
        if self.fail_under is not None and (None in scores or so_far < self.fail_under):
            which = "score so far, of an incomplete run," if None in scores else "score"
            raise ThresholdMissed(
                f"the {which} {so_far:.2f} of {runs[0].out_of} is below --fail-under {self.fail_under:g}"
            )
        if baseline is not None:
            self._check_drop(runs, baseline)

    def _check_drop(self, runs: Sequence[Run], baseline: Run) -> None:
        for warning in compare(baseline, *runs).warnings:
            err().print(f"warning: not made alike: {safe(warning)}")
        shared = {s.name for s in runs[0].scenarios} & {s.name for s in baseline.scenarios}
        if not shared:
            raise ConfigError(f"--baseline {self.baseline}: that run has no scenario in common with this one")
        before = _share(baseline.results, shared)
        now = sum(_share(run.results, shared) for run in runs) / len(runs)
        if before - now > self.max_drop + 1e-9:
            raise ThresholdMissed(
                f"the score fell from {before:.3f} (baseline {baseline.name}) to {now:.3f} of 1, by "
                f"{before - now:.3f}; --max-drop is {self.max_drop:g} (see ltm-bench compare "
                f"{' '.join(each.name for each in (baseline, *runs))})"
            )


def _share(results: Results, scenarios: Collection[str]) -> float:
    return sum(s.score_so_far or 0.0 for s in results.scenarios if s.name in scenarios) / len(scenarios)
