"""Has a judge read replies with confident verdicts, without showing the verdicts, and records its opinions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Outcome
from ltm_bench.judge.asking import Background, by_rubric
from ltm_bench.judge.interview import Interview
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import OpinionStore
from ltm_bench.judge.rubric import Case
from ltm_bench.log.manifest import Manifest
from ltm_bench.score.audits.auditing import Confident, draw, open_to
from ltm_bench.score.audits.judgements import Opinion, reply_hash
from ltm_bench.score.audits.records import AuditReading, Commission, read_records, write_down
from ltm_bench.score.results.remarks import confident
from ltm_bench.score.results.scoring import score_run

WORTH = 0.5
"""Minimum sensitivity + specificity - 1 of a judge: below it, its own errors drown the scorer's."""


class Drawn(NamedTuple):
    """An audited verdict, and its case for the judge."""

    verdict: Confident
    case: Case

    @property
    def reply(self) -> str:
        """The hash of its reply."""
        return reply_hash(self.case.reply)

    def reading(
        self, by: Commission, outcome: Outcome, reason: str, opinion: Opinion | None = None
    ) -> AuditReading:
        """Return an auditor's reading of the reply, with the judge's opinion, if it was a judge."""
        return AuditReading(
            auditor=by.auditor,
            key=by.key,
            example=self.verdict.example,
            turn=self.verdict.turn,
            reply=self.reply,
            outcome=outcome,
            reason=reason,
            opinion=opinion,
        )


def drawn_from(run: Path, manifest: Manifest, by: Commission) -> list[Drawn]:
    """Draw verdicts of a run to audit. Raises ConfigError if it has none."""
    background = Background()
    examples = score_run(run, manifest, listener=background).examples
    verdicts = open_to(by.auditor, confident(examples))
    if not verdicts:
        raise ConfigError(
            f"{run.name}: no reply has a confident verdict of anybody but {by.auditor}; there is nothing to audit"
        )
    asked = {(example.id, question.turn): question for example in examples for question in example.questions}
    return [
        # The whole reply, even if a judge saw only what a blind reader copied out of it.
        Drawn(each, replace(background.case(each.example, asked[each.example, each.turn]), reply=each.reply))
        for each in draw(verdicts, by.sample, by.seed)
    ]


def commission_judge(judge: Judge, sample: int, seed: int, memory: OpinionStore) -> Commission:
    """Commission a judge. Raises ConfigError if it was never calibrated, or errs too often."""
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
            f"{calibration.specificity:.3f} are too low for an audit: they must add up to {1 + WORTH} or more; "
            f"name another judge, or see {check}"
        )
    return Commission(auditor=judge.name, key=judge.key, sample=sample, seed=seed, measured=measured)


def unread(run: Path, by: Commission, drawn: Sequence[Drawn]) -> list[Drawn]:
    """Return the drawn verdicts whose replies this auditor has not read yet. Raises LogError."""
    known = read_records(run)
    return [
        each
        for each in drawn
        if known.reading(by, each.verdict.example, each.verdict.turn, each.reply) is None
    ]


def commissioned(run: Path, by: Commission) -> None:
    """Record a commission, unless it already is this auditor's newest."""
    if read_records(run).commissions.get((by.auditor, by.key)) != by:
        write_down(run, [by])


async def have_read(
    run: Path, by: Commission, left: Sequence[Drawn], judge: Judge, interview: Interview
) -> int:
    """Have a judge read replies, and record its opinions. Raises BudgetReached.

    Args:
        run: The run folder.
        by: The judge's commission.
        left: The verdicts that it has not read yet.
        judge: The judge.
        interview: Puts the questions to it.

    Returns:
        The number of missing or unreadable answers, which are asked for again next time.
    """
    heard = await interview.opinions([judge], [by_rubric(each.case) for each in left])
    said = [
        each.reading(by, opinion.outcome, opinion.reason, opinion)
        for each, (opinion,) in zip(left, heard, strict=True)
        if opinion.outcome is not Outcome.JUDGE_ERROR
    ]
    commissioned(run, by)
    write_down(run, said)
    return len(left) - len(said)
