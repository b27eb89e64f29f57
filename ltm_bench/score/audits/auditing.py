"""Draws verdicts to audit, and sums up the auditor's readings. Pure.

Only confident verdicts are drawn, by whatever decided but a person. The strata are scenario, outcome and who decided. A
judge does not audit verdicts that it gave.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ltm_bench.core.grouping import grouped
from ltm_bench.core.messages import Outcome
from ltm_bench.score.audits.correction import Measured, Seen, scorer_error
from ltm_bench.score.audits.judgements import reply_hash
from ltm_bench.score.audits.raters import kappa
from ltm_bench.score.audits.records import Audit, AuditReading, Commission, Contradiction, Rate, Records


class Confident(NamedTuple):
    """A verdict that somebody was sure of."""

    example: str
    turn: int
    question: str
    expected: str
    reply: str
    outcome: Outcome
    """That before a person has replaced it."""
    reason: str
    """Empty if a person has replaced it."""
    by: str = ""
    """Who gave it, as results say it."""
    judges: tuple[str, ...] = ()

    @property
    def scenario(self) -> str:
        """The scenario of its example."""
        return self.example.rpartition("/")[0]

    @property
    def accepted(self) -> bool:
        """Whether it calls the whole reply right."""
        return self.outcome is Outcome.CORRECT

    @property
    def stratum(self) -> tuple[str, Outcome, str]:
        """Scenario, outcome, and who gave it."""
        return self.scenario, self.outcome, self.by


def open_to(auditor: str, verdicts: Sequence[Confident]) -> list[Confident]:
    """Return the verdicts that an auditor has not given."""
    return [each for each in verdicts if auditor not in each.judges]


def draw(verdicts: Sequence[Confident], size: int, seed: int) -> list[Confident]:
    """Draw verdicts: at least one of every stratum where there is room, otherwise in proportion.

    At any point, the verdicts read so far are a random part of the sample. A verdict's place in the draw depends only
    on the seed and the verdict, so a changed verdict elsewhere moves little.
    """

    def luck(each: Confident) -> str:
        # Not random.sample(): a verdict added elsewhere would move every place in the draw, and readings would be lost.
        return hashlib.sha256(f"{seed}/{each.example}/{each.turn}".encode()).hexdigest()

    strata = grouped((each.stratum, each) for each in sorted(verdicts, key=luck))
    largest_first = sorted(strata, key=lambda name: (-len(strata[name]), name))
    taken = dict.fromkeys(largest_first[:size], 1)
    while sum(taken.values()) < min(size, len(verdicts)):
        behind = [name for name in taken if taken[name] < len(strata[name])]
        most = max(behind, key=lambda name: size * len(strata[name]) / len(verdicts) - taken[name])
        taken[most] += 1
    return sorted((each for name, n in taken.items() for each in strata[name][:n]), key=luck)


def audits(known: Records, verdicts: Sequence[Confident]) -> list[Audit]:
    """Return the results of a run's audits, the newest last."""
    return [audit(verdicts, commission, known) for commission in known.commissions.values()]


def audit(verdicts: Sequence[Confident], commission: Commission, known: Records) -> Audit:
    """Compare an auditor's readings with the verdicts."""
    verdicts = open_to(commission.auditor, verdicts)
    drawn = draw(verdicts, commission.sample, commission.seed)
    said = [
        (each, known.reading(commission, each.example, each.turn, reply_hash(each.reply))) for each in drawn
    ]
    read = _weighed(verdicts, [(each, reading) for each, reading in said if reading is not None])

    def rates(group: Callable[[Confident], str]) -> dict[str, Rate]:
        return {
            name: _rate(
                [each for each in verdicts if group(each) == name],
                [each for each in drawn if group(each) == name],
                [each for each in read if group(each.verdict) == name],
                commission.measured,
            )
            for name in dict.fromkeys(map(group, verdicts))
        }

    models = (each.reading.opinion.model for each in read if each.reading.opinion is not None)
    return Audit(
        auditor=commission.auditor,
        key=commission.key,
        model=next((model for model in models if model), None),
        seed=commission.seed,
        measured=commission.measured,
        total=_rate(verdicts, drawn, read, commission.measured),
        kappa=_kappa(read),
        scenarios=rates(lambda each: each.scenario),
        deciders={name: rate for name, rate in rates(lambda each: each.by).items() if name},
        contradictions=[each.contradiction for each in read if each.contradicted],
    )


class _Read(NamedTuple):
    """A verdict, the auditor's reading of the same reply, and the number of verdicts that the pair represents."""

    verdict: Confident
    reading: AuditReading
    weight: float

    @property
    def right(self) -> bool:
        """Whether the auditor calls the reply right."""
        return self.reading.outcome is Outcome.CORRECT

    @property
    def contradicted(self) -> bool:
        return self.verdict.accepted != self.right

    @property
    def contradiction(self) -> Contradiction:
        stated = self.verdict._asdict()
        return Contradiction(
            **{name: stated[name] for name in Contradiction.model_fields if name in stated},
            auditor_outcome=self.reading.outcome,
            auditor_reason=self.reading.reason,
        )


def _weighed(verdicts: Sequence[Confident], said: Sequence[tuple[Confident, AuditReading]]) -> list[_Read]:
    """Weigh each reading by the number of verdicts that it represents.

    Each stratum's verdicts are divided among its readings. A stratum without readings is represented by those of the
    same scenario on the same side (right, or not), or else by all on that side.
    """
    places: list[dict[object, list[int]]] = [{}, {}, {}]
    for place, (verdict, _) in enumerate(said):
        for level, name in enumerate(_names(verdict)):
            places[level].setdefault(name, []).append(place)
    weights = [0.0] * len(said)
    for verdict in verdicts:
        for level, name in enumerate(_names(verdict)):
            if stand_ins := places[level].get(name):
                for place in stand_ins:
                    weights[place] += 1 / len(stand_ins)
                break
    return [_Read(*pair, weight) for pair, weight in zip(said, weights, strict=True)]


def _names(verdict: Confident) -> tuple[object, object, object]:
    return verdict.stratum, (verdict.scenario, verdict.accepted), verdict.accepted


def _rate(
    verdicts: Sequence[Confident],
    drawn: Sequence[Confident],
    read: Sequence[_Read],
    measured: Measured | None,
) -> Rate:
    agreement = found = None
    if read:
        against = _share(read, [each for each in read if each.contradicted])
        agreement = 1 - against
        effective = sum(each.weight for each in read) ** 2 / sum(each.weight**2 for each in read)
        accepted = sum(each.accepted for each in verdicts) / len(verdicts)
        found = scorer_error(Seen(against, effective, accepted), measured)
    return Rate(
        verdicts=len(verdicts),
        drawn=len(drawn),
        read=len(read),
        contradicted=sum(each.contradicted for each in read),
        agreement=agreement,
        error=found.share if found else None,
        interval=found.interval if found else None,
    )


def _share(read: Sequence[_Read], some: Sequence[_Read]) -> float:
    return sum(each.weight for each in some) / sum(each.weight for each in read)


def _kappa(read: Sequence[_Read]) -> float | None:
    """Return Cohen's kappa; None if both say the same of everything, or nothing was read."""
    if not read:
        return None
    ours = _share(read, [each for each in read if each.verdict.accepted])
    theirs = _share(read, [each for each in read if each.right])
    agreed = _share(read, [each for each in read if not each.contradicted])
    return kappa(agreed, ours, theirs)
