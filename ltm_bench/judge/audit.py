"""Puts confident verdicts before a judge who does not see them, and writes down what it says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Outcome
from ltm_bench.judge.asking import ask_all
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.memory import Memory
from ltm_bench.judge.rubric import Case
from ltm_bench.judge.told import read_told
from ltm_bench.log.manifest import Manifest
from ltm_bench.score.auditing import Confident, confident, draw
from ltm_bench.score.audits import Commission, Reading, records, write_down
from ltm_bench.score.fold import score_run
from ltm_bench.score.judgements import reply_hash

WORTH = 0.5
"""Sensitivity + specificity - 1 that a judge must reach: with less, its own errors drown those of the scorer."""


class Drawn(NamedTuple):
    """A verdict that is audited, and the case that it is put as."""

    verdict: Confident
    case: Case

    @property
    def reply(self) -> str:
        """The hash of its reply."""
        return reply_hash(self.case.reply)


def drawn_from(run: Path, manifest: Manifest, sample: int, seed: int) -> list[Drawn]:
    """Draw the verdicts of a run that are audited. Raises ConfigError if there are none to draw from."""
    verdicts = confident(score_run(run, manifest).examples)
    if not verdicts:
        raise ConfigError(
            f"{run.name}: no reply has a verdict that a matcher was sure of; there is nothing to audit"
        )
    told = read_told(run, manifest)
    return [Drawn(each, told.case(each.example, each.question)) for each in draw(verdicts, sample, seed)]


def commission_judge(judge: Judge, sample: int, seed: int, memory: Memory) -> Commission:
    """Commission a judge. Raises ConfigError if it was never calibrated, or if its word is worth too little."""
    check = f"ltm-bench judge check --judge {judge.name}"
    calibration = memory.calibration(judge.key)
    if calibration is None:
        raise ConfigError(
            f"--judge {judge.name}: never calibrated with this rubric, so its own error is unknown; first run {check}"
        )
    measured = calibration.measured
    if measured is None or measured.informative < WORTH:
        raise ConfigError(
            f"--judge {judge.name}: sensitivity {calibration.sensitivity:.3f} and specificity "
            f"{calibration.specificity:.3f} are too low to audit anything: they have to add up to {1 + WORTH}; "
            f"name another judge, or see {check}"
        )
    return Commission(auditor=judge.name, key=judge.key, sample=sample, seed=seed, measured=measured)


def unread(run: Path, by: Commission, drawn: Sequence[Drawn]) -> list[Drawn]:
    """Return the drawn verdicts whose replies this auditor has not read yet. Raises LogError."""
    known = records(run)
    return [
        each
        for each in drawn
        if known.reading(by, each.verdict.example, each.verdict.turn, each.reply) is None
    ]


def commissioned(run: Path, by: Commission) -> None:
    """Write a commission down, unless it is the newest of this auditor already."""
    if records(run).commissions.get((by.auditor, by.key)) != by:
        write_down(run, [by])


async def have_read(
    run: Path, by: Commission, drawn: Sequence[Drawn], judge: Judge, memory: Memory, budget: Budget
) -> int:
    """Have a judge read what it has not read yet, and write down what it says.

    Args:
        run: The run folder.
        by: The judge's commission.
        drawn: What is audited.
        judge: The judge.
        memory: Opinions so far, as in `ask_all`.
        budget: What may be spent. Raises BudgetReached when it is exhausted.

    Returns:
        How many answers were missing or unreadable; these are asked for again next time.
    """
    left = unread(run, by, drawn)
    heard = await ask_all([judge], [each.case for each in left], memory, budget)
    said = [
        Reading(
            auditor=by.auditor,
            key=by.key,
            example=each.verdict.example,
            turn=each.verdict.turn,
            reply=each.reply,
            outcome=opinion.outcome,
            reason=opinion.reason,
            opinion=opinion,
        )
        for each, (opinion,) in zip(left, heard, strict=True)
        if opinion.outcome is not Outcome.JUDGE_ERROR
    ]
    commissioned(run, by)
    write_down(run, said)
    return len(left) - len(said)
