"""Re-score a run from its log, and show what changed."""

import asyncio

from ltm_bench.cli.console import err, out
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import RunName
from ltm_bench.core.errors import RunIncomplete
from ltm_bench.plan.folders import find_run
from ltm_bench.plan.request import Judges, MaxCost, Reader

app = group()


@command(
    app,
    "rescore",
    "rescore standard-32k-gpt-6-luna-seed0 --reader gpt-6-luna",
    "rescore standard-32k-gpt-6-luna-seed0 --judge gpt-6-luna",
)
def rescore(
    run: RunName = None, reader: Reader = None, judges: Judges = (), max_cost: MaxCost = None
) -> None:
    """Re-score a run from its log, and show what changed. Its agent is not called."""
    from ltm_bench import api
    from ltm_bench.cli.summary import print_run
    from ltm_bench.cli.verdicts import check_judged, stored_verdicts

    folder = find_run(run)
    before = stored_verdicts(folder)
    options = api.Options(
        max_cost=max_cost, reader=reader, judges=judges, notify=lambda line: err().print(line)
    )
    try:
        scored = asyncio.run(api.rescore(folder, options))
    except KeyboardInterrupt:
        raise RunIncomplete("interrupted; nothing is lost: the same command continues") from None
    after = stored_verdicts(folder)
    changed = [key for key in after if key in before and before[key][0] != after[key][0]]
    for key in changed:
        out().print(f"{key}: was {before[key][0]}, now {after[key][0]}")
    out().print(f"{len(after)} verdicts, {len(changed)} changed")
    print_run(scored)
    check_judged([scored])
