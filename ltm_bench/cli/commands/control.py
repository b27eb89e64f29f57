"""Ask a run's questions again under other conditions, to tell memory from the model around it."""

from dataclasses import replace
from functools import partial

from ltm_bench.cli.declared import command, group
from ltm_bench.cli.ending import saying_when_it_ends
from ltm_bench.cli.options import LogLevel, Quiet, RunName
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.folders import find_run
from ltm_bench.plan.request import Conduct, Notify

app = group()

_USUAL = ("blind", "evidence")


@command(
    app,
    "control standard-120k-gpt-6-luna-seed0 --max-cost 60",
    "control standard-32k-vector_memory-seed0 --control blind,evidence,near",
    "control standard-32k-vector_memory-seed0 --ladder",
)
def control(
    conduct: Conduct,
    run: RunName = None,
    notify: Notify = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Ask a run's questions again, once it has ended: blind and with the evidence, or as --control and --ladder say."""
    from ltm_bench.api import Options, execute
    from ltm_bench.cli.verdicts import check_judged
    from ltm_bench.cli.watching import watch
    from ltm_bench.plan.planning import plan_of
    from ltm_bench.runner.spent import finished

    asked = replace(conduct, controls=conduct.controls or (() if conduct.ladder else _USUAL))
    asked.said.update(("controls", "ladder"))  # it asks these and no others
    folder = find_run(run)
    plan = plan_of(folder, asked.calls)
    if plan.manifest.asks is not None:
        whole = folder.parents[1].name
        raise ConfigError(
            f"{folder}: it asks the questions of {whole} again; `ltm-bench control {whole}` asks more of it"
        )
    if not finished(plan, folder):
        raise ConfigError(f"{folder}: it has not ended; `ltm-bench resume {folder.name}` continues it")
    with saying_when_it_ends(notify) as folders:
        folders.append(folder)
        check_judged([watch(partial(execute, plan, folder), Options.of(asked), folder)])
