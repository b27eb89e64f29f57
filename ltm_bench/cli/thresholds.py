"""Thresholds for continuous integration: `--fail-under`, `--baseline` with `--max-drop`."""

from __future__ import annotations

import glob
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ltm_bench.cli.console import complain, out, safe
from ltm_bench.cli.verdicts import check_judged
from ltm_bench.core.errors import ConfigError, LtmBenchError, ThresholdMissed
from ltm_bench.core.seeds import Seed

if TYPE_CHECKING:
    from ltm_bench.api import Run
    from ltm_bench.log.manifest import Manifest
    from ltm_bench.plan.request import Thresholds
    from ltm_bench.score.results.run import Results


def find_baseline(baseline: str | None, manifest: Manifest, seeds: Collection[Seed] = ()) -> Run | None:
    """Return the baseline, before anything is paid for, and warn of differences from the planned run.

    Args:
        baseline: Its name or folder; None for no baseline.
        manifest: The planned run's manifest.
        seeds: The seeds of all planned runs, if there are several.

    Raises:
        ConfigError: The baseline is unsuitable: incomplete, of another span, or without common scenarios.
    """
    if baseline is None:
        return None
    from ltm_bench.api import load_run
    from ltm_bench.plan.values import spell_span
    from ltm_bench.score.comparison.circumstances import made_otherwise

    run = load_run(baseline)
    if not run.complete:
        raise ConfigError(f"--baseline {baseline}: that run is incomplete; resume it, or choose another")
    there, here = run.manifest, manifest
    if there.span != here.span:
        raise ConfigError(
            f"--baseline {baseline}: that run has a span of {spell_span(there.span)}, this one of "
            f"{spell_span(here.span)}; scores at different spans cannot be compared, so choose a baseline with "
            "the same span"
        )
    if not {entry.name for entry in there.suite.scenarios} & {entry.name for entry in here.suite.scenarios}:
        raise ConfigError(f"--baseline {baseline}: that run has no scenario in common with this one")
    for warning in made_otherwise({run.name: there, "this run": here}):
        complain(f"warning: settings differ: {warning}")
    if there.seed not in (seeds or (here.seed,)):
        complain(
            f"warning: settings differ: {run.name} has the seed {there.seed}, so its examples are different"
        )
    return run


def check_reachable(thresholds: Thresholds, manifest: Manifest) -> None:
    """Raise ConfigError, before anything is paid for, if no score of a run could pass."""
    most = len(manifest.suite.scenarios)
    if thresholds.fail_under is not None and thresholds.fail_under > most:
        raise ConfigError(
            f"--fail-under {thresholds.fail_under:g}: no run can reach it, since {most} is the highest score here, "
            "a point for each scenario; write a lower score"
        )


def check_thresholds(thresholds: Thresholds, runs: Sequence[Run], baseline: Run | None) -> None:
    """Raise ThresholdMissed if a run, or the average over several seeds, is not good enough.

    Raises RunIncomplete if a judge has left a reply without a verdict.
    """
    scores = [run.score for run in runs]
    so_far = sum(run.results.score_so_far for run in runs) / len(runs)
    if thresholds.fail_under is not None and (None in scores or so_far < thresholds.fail_under):
        which = "score so far, of an incomplete run," if None in scores else "score"
        best = sum(run.results.extremes[1] for run in runs) / len(runs)
        doubt = f" ({best:.2f} if all that is undecided were right)" if best > so_far else ""
        raise ThresholdMissed(
            f"the {which} {so_far:.2f} of {runs[0].out_of} is below --fail-under {thresholds.fail_under:g}{doubt}"
        )
    if baseline is not None:
        _check_drop(thresholds.max_drop, runs, baseline)
    check_judged(runs)


def _check_drop(most: float, runs: Sequence[Run], baseline: Run) -> None:
    from ltm_bench.cli.comparison import print_pairs
    from ltm_bench.score.comparison.circumstances import scored_otherwise
    from ltm_bench.score.comparison.entrants import Scored
    from ltm_bench.score.comparison.pairs import pair

    for warning in scored_otherwise([each.results for each in (baseline, *runs)]):
        complain(f"warning: scored differently: {warning}")
    here = [Scored(each.manifest, each.results) for each in runs]
    there = [Scored(baseline.manifest, baseline.results)]
    name = runs[0].name if len(runs) == 1 else "this run"
    found = pair(runs[0].manifest.span, name, f"baseline {baseline.name}", here, there)
    print_pairs([found])
    _print_suggestion(most, runs, baseline)
    shared = {s.name for s in runs[0].scenarios} & {s.name for s in baseline.scenarios}
    if found.readers:
        raise ConfigError(
            f"--baseline {baseline.name}: {found.verdict}; have all runs read by one (rescore --reader), or none"
        )
    (before, before_if_right), (now, now_if_right) = (
        [sum(_share(run.results, shared, right=right) for run in of) / len(of) for right in (False, True)]
        for of in ([baseline], runs)
    )
    if before <= most:
        complain(
            f"warning: --baseline {baseline.name}: its score, {before:.3f} of 1, cannot fall by more than --max-drop "
            f"{most:g}: this gate cannot fail; choose a baseline that remembers more, or a smaller --max-drop"
        )
    dropped = [before - now > most + 1e-9, before_if_right - now_if_right > most + 1e-9]
    if any(dropped) and not all(dropped):
        complain(
            f"warning: whether the score fell by more than --max-drop {most:g} depends on undecided replies: from "
            f"{before:.3f} to {now:.3f} if they are wrong, from {before_if_right:.3f} to {now_if_right:.3f} if right"
        )
    if all(dropped):
        raise ThresholdMissed(
            f"the score fell from {before:.3f} (baseline {baseline.name}) to {now:.3f} of 1, by "
            f"{before - now:.3f}; --max-drop is {most:g} (see ltm-bench compare "
            f"{' '.join(each.name for each in (baseline, *runs))})"
        )


def _print_suggestion(most: float, runs: Sequence[Run], baseline: Run) -> None:
    """Print how far the agent moves by itself, if seeds were run several times, and warn of a smaller --max-drop."""
    from ltm_bench.report.words import drop, retested
    from ltm_bench.score.comparison.retest import retest

    for of, who in ((runs, "this agent"), ([baseline, *_beside(baseline)], f"baseline {baseline.name}")):
        found = retest([each.results for each in of])
        if found is None:
            continue
        least = drop(found.drop(len(runs)))
        out().print(safe(f"test-retest of {who}: {retested(found)}; here, that is --max-drop {least}"))
        if float(least) > most:
            complain(
                f"warning: --max-drop {most:g} is less than {who} may fall by itself, {least}: write --max-drop "
                f"{least}, or ask more examples or seeds"
            )
        return


def _beside(baseline: Run) -> list[Run]:
    """Return the finished runs beside a baseline that repeat it: `release-again2` beside `release`."""
    from ltm_bench.api import load_run
    from ltm_bench.log.reader import read_manifest

    same, found = baseline.manifest.identity(), []
    for log in sorted(baseline.folder.parent.glob(f"{glob.escape(baseline.name)}-*/events.jsonl")):
        with suppress(LtmBenchError):  # a damaged run is no reason to fail the gate
            if read_manifest(log.parent).identity() == same:
                found.append(load_run(log.parent))
    return found


def _share(results: Results, scenarios: Collection[str], *, right: bool) -> float:
    """Return the mean score of scenarios, if all that is undecided were wrong or right."""
    from ltm_bench.score.results.headline import worth_of_undecided

    known = sum(s.score_so_far or 0.0 for s in results.scenarios if s.name in scenarios)
    still_open = [e for e in results.examples if right and e.scenario in scenarios]
    return (known + worth_of_undecided(still_open)) / len(scenarios)
