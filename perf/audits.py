"""How often the interval of a scorer's error contains the truth, for simulated runs whose scorer errs at a known rate.

    python -m perf.audits [--simulations 1000] [--calibration 150]

Every simulation makes a run of twelve scenarios whose matchers err at different rates, calibrates a judge of known
sensitivity and specificity on as many right as other replies (`--calibration` of each), draws the sample, lets the
judge read it, and evaluates it as `ltm-bench audit` does. `coverage` should be 0.95; `bare` is the coverage of a Wilson
interval for the disagreements, which assumes a judge without errors. The line `person` has an auditor who does not err.
"""

from collections.abc import Iterator
from statistics import fmean
from typing import NamedTuple

import numpy as np

from ltm_bench.core.messages import Outcome
from ltm_bench.score.audits.auditing import Confident, audit, draw
from ltm_bench.score.audits.correction import Measured
from ltm_bench.score.audits.judgements import reply_hash
from ltm_bench.score.audits.records import Audit, AuditReading, Commission, Records
from ltm_bench.score.statistics.intervals import wilson
from perf.harness import Arguments, measurement, table

ERRORS = (0.005, 0.02, 0.05, 0.10)
JUDGES = ((0.90, 0.90), (0.90, 0.99), (0.95, 0.95), (0.99, 0.90), (0.99, 0.99))
SAMPLES = (100, 300)

SCENARIOS = 12
EXAMPLES = 50

KINDS = (Outcome.CORRECT, Outcome.STALE, Outcome.WRONG, Outcome.ABSTAINED)


class Setting(NamedTuple):
    """A kind of audit whose truth is known."""

    error: float
    """Mean over the verdicts of the rate at which the scorer errs."""
    sensitivity: float
    specificity: float
    calibration: int
    """Right replies, and as many others, that the judge was calibrated with; 0 for a person, who does not err."""
    sample: int


class Found(NamedTuple):
    """The result of one simulation."""

    held: bool
    bare: bool
    """Whether Wilson's interval for the disagreements contains the truth."""
    width: float
    error: float


def simulated(setting: Setting, rng: np.random.Generator) -> tuple[Audit, float]:
    """Simulate a run and its audit; return the audit, and the rate at which the scorer of this run errs."""
    verdicts, errs = _run(setting.error, rng)
    drawn = draw(verdicts, setting.sample, 0)
    measured = _calibrated(setting, rng) if setting.calibration else None
    by = Commission(auditor="judge", key="k", sample=setting.sample, seed=0, measured=measured)
    known = Records()
    known.commissions["judge", "k"] = by
    for each in drawn:
        right = each.accepted != (rng.random() < errs[each.scenario])
        luck = setting.sensitivity if right else 1 - setting.specificity
        said = Outcome.CORRECT if (rng.random() < luck if setting.calibration else right) else Outcome.WRONG
        known.readings["judge", "k", each.example, each.turn] = AuditReading(
            auditor="judge",
            key="k",
            example=each.example,
            turn=each.turn,
            reply=reply_hash("r"),
            outcome=said,
            reason="",
        )
    return audit(verdicts, by, known), sum(errs[each.scenario] for each in verdicts) / len(verdicts)


def _run(error: float, rng: np.random.Generator) -> tuple[list[Confident], dict[str, float]]:
    """Make the verdicts of a run, and say how often the matcher of each scenario errs."""
    uneven = rng.dirichlet(np.full(SCENARIOS, 2.0)) * SCENARIOS
    errs = {f"s{i}": min(0.5, error * float(factor)) for i, factor in enumerate(uneven)}
    verdicts = []
    for name in errs:
        outcomes = rng.choice(len(KINDS), EXAMPLES, p=rng.dirichlet([6.0, 1.0, 2.0, 1.0]))
        verdicts += [
            Confident(f"{name}/{i}", 0, "q", "e", "r", KINDS[kind], "") for i, kind in enumerate(outcomes)
        ]
    return verdicts, errs


def _calibrated(setting: Setting, rng: np.random.Generator) -> Measured:
    n = setting.calibration
    return Measured(
        right=n,
        accepted=int(rng.binomial(n, setting.sensitivity)),
        other=n,
        rejected=int(rng.binomial(n, setting.specificity)),
    )


def simulate(setting: Setting, rng: np.random.Generator) -> Found:
    """Simulate once."""
    came, truth = simulated(setting, rng)
    interval, agreement = came.total.interval, came.total.agreement
    assert interval is not None
    assert agreement is not None
    return Found(
        interval.holds(truth),
        wilson(1 - agreement, came.total.read).holds(truth),
        interval.high - interval.low,
        came.total.error or 0.0,
    )


def settings(calibration: int) -> Iterator[Setting]:
    """Yield every combination of error, judge and sample size."""
    for error in ERRORS:
        for sample in SAMPLES:
            for judge in JUDGES:
                yield Setting(error, *judge, calibration, sample)
            yield Setting(error, 1.0, 1.0, 0, sample)


@measurement(__doc__, simulations=1000, calibration=150)
def main(asked: Arguments) -> None:
    """Simulate and print."""
    rng = np.random.default_rng(0)
    row = table("judge (sens/spec)", "error", "sample", "coverage", "bare", "width", "mean")
    judged: list[Found] = []
    for setting in settings(asked.calibration):
        found = [simulate(setting, rng) for _ in range(asked.simulations)]
        judged += found if setting.calibration else []
        name = f"{setting.sensitivity:.2f}/{setting.specificity:.2f}" if setting.calibration else "person"
        row(name, setting.error, setting.sample, *(f"{fmean(each):.3f}" for each in zip(*found, strict=True)))
    print(f"all judges: {sum(f.held for f in judged)} of {len(judged)} intervals contain the truth")
