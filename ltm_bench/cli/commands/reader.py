"""Calibrate blind readers."""

import asyncio
from typing import Annotated

from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.judging import print_calibration, to_check
from ltm_bench.core.errors import ThresholdMissed
from ltm_bench.judge.calibration import blind_trials, calibrate_reader
from ltm_bench.judge.reading import prompts_of
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import MaxCost

app = group("Calibrate blind readers.")


@command(app, "reader check --reader gpt-6-luna")
def check(
    readers: Annotated[list[str], Option("An agent, as for --agent.", "NAME")],
    cases: Annotated[int, Option("Maximum number of replies.", "N", least=10)] = 210,
    max_cost: MaxCost = None,
) -> None:
    """Measure, by form of the answer, what a blind reader makes of known replies. Exits with 2 if it falls short."""
    short, trials = list[str](), blind_trials(cases)
    for each, _, interview in to_check(readers, "reader", max_cost):
        price = interview.quote(each, prompts_of(trial.case for trial in trials))
        err().print(safe(f"{len(trials)} replies before {each.name}: {price}"))
        calibration = asyncio.run(calibrate_reader(each, trials, interview))
        print_calibration(calibration)
        falls = [f"{each.name} falls short: {why}" for why in calibration.shortfalls]
        short += [f"reader {why}" for why in ([calibration.unreached] if calibration.unreached else falls)]
    if short:
        raise ThresholdMissed("; ".join(short))
    out().print("passed")
