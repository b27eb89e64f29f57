"""Resume an interrupted run exactly where it stopped."""

from dataclasses import replace
from functools import partial

from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import LogLevel, Quiet, RunName
from ltm_bench.cli.thresholds import check_reachable, check_thresholds, find_baseline
from ltm_bench.plan.declaring import spelled
from ltm_bench.plan.folders import find_run
from ltm_bench.plan.request import Conduct, Thresholds

app = group()


@command(app, "resume", "resume standard-120k-gpt-6-luna-seed0 --max-cost 60")
def resume(
    conduct: Conduct,
    thresholds: Thresholds,
    run: RunName = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Resume an interrupted run exactly where it stopped, and as it was asked for, but for what is said here."""
    from ltm_bench.api import Options, execute
    from ltm_bench.cli.watching import watch
    from ltm_bench.plan.planning import plan_of

    folder = find_run(run)
    plan = plan_of(folder, conduct.calls)
    check_reachable(thresholds, plan.manifest)
    baseline = find_baseline(thresholds.baseline, plan.manifest)
    options = replace(Options.of(conduct), beside=spelled(Thresholds, thresholds, Thresholds()))
    done = watch(partial(execute, plan, folder), options, folder)
    check_thresholds(thresholds, [done], baseline)
