"""Audits of a run: records of somebody else's readings of its replies, and their results.

`audit.jsonl` is an append-only file beside the log. A line either commissions an audit (who reads, how many verdicts,
drawn with which seed, and how often this judge errs) or holds the reading of one reply.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from ltm_bench.core.messages import Outcome
from ltm_bench.log.lines import to_line
from ltm_bench.score.audits.correction import Measured
from ltm_bench.score.audits.judgements import Opinion, append_lines, entries_in
from ltm_bench.score.statistics.intervals import Interval

AUDIT = "audit.jsonl"


class Commission(BaseModel, frozen=True, extra="forbid"):
    """Who audits a run, and which of its verdicts."""

    line: Literal["commission"] = "commission"
    auditor: str
    """The judge's name, as on the command line, or the person's."""
    key: str
    """Hash of everything that the judge's verdicts depend on; empty for a person."""
    sample: int = Field(gt=0)
    """Number of verdicts drawn; all of them if there are fewer."""
    seed: int
    measured: Measured | None
    """The judge's calibration; None for a person, who is taken at their word."""

    @property
    def person(self) -> bool:
        """Whether the auditor is a person."""
        return not self.key


class AuditReading(BaseModel, frozen=True, extra="forbid"):
    """An auditor's opinion on one reply, formed without knowing the verdict."""

    line: Literal["reading"] = "reading"
    auditor: str
    key: str
    example: str
    turn: int
    reply: str
    """Hash of the reply that was read."""
    outcome: Outcome
    reason: str
    opinion: Opinion | None = None
    """The judge's prompt, answer and usage; None for a person."""


class Rate(BaseModel, frozen=True):
    """How often the scorer errs, in a run or one of its scenarios."""

    verdicts: int
    """Verdicts that the sample was drawn from."""
    drawn: int
    read: int
    """Drawn verdicts that the auditor has read."""
    contradicted: int
    """Read verdicts that the auditor contradicts."""
    agreement: float | None
    """Share of the verdicts that the auditor agrees with, weighted as in the run; None if nothing was read."""
    error: float | None
    """Share of wrong verdicts, corrected for the auditor's own error."""
    interval: Interval | None


class Contradiction(BaseModel, frozen=True):
    """A verdict that the auditor contradicts: one of the two is wrong."""

    example: str
    turn: int
    question: str
    expected: str
    reply: str
    outcome: Outcome
    """The scorer's."""
    reason: str
    by: str = ""
    """Who gave it."""
    auditor_outcome: Outcome
    auditor_reason: str


class Audit(BaseModel, frozen=True):
    """The result of an audit."""

    auditor: str
    key: str
    model: str | None
    seed: int
    measured: Measured | None
    total: Rate
    kappa: float | None
    """Cohen's kappa between scorer and auditor, on whether a reply is right; None if it is not defined."""
    scenarios: dict[str, Rate]
    deciders: dict[str, Rate] = Field(default_factory=dict)
    """By who gave the verdicts: `exact form`, `reader`, `blind reader`, `judge`, `another scorer`."""
    contradictions: list[Contradiction]

    @property
    def by(self) -> str:
        """The auditor, and how far to trust them."""
        if self.measured is None:
            return f"{self.auditor}, a person who is taken at their word"
        return (
            f"{self.auditor} (sensitivity {self.measured.sensitivity:.3f} on {self.measured.right} right replies, "
            f"specificity {self.measured.specificity:.3f} on {self.measured.other} others; corrected for both)"
        )

    @property
    def headline(self) -> str:
        """The scorer's error in one line."""
        total = self.total
        if total.error is None or total.interval is None:
            return f"Scorer error unknown: {self.auditor} has read none of {total.drawn} verdicts"
        read = f"{total.read} of {total.verdicts} confident verdicts"
        missing = f" ({total.drawn} were drawn)" if total.read < total.drawn else ""
        return (
            f"Scorer error {100 * total.error:.1f} % ({100 * total.interval.low:.1f}–{100 * total.interval.high:.1f}), "
            f"audited by {self.auditor}: {read} read{missing}, {total.contradicted} contradicted"
        )

    @property
    def caution(self) -> str:
        """The error that a faultless sample still allows; empty if there was a fault."""
        total = self.total
        if total.contradicted or total.interval is None:
            return ""
        n = "1 verdict" if total.read == 1 else f"{total.read} verdicts"
        return f"{n} without an error still allow an error of {100 * total.interval.high:.1f} %"


_LINE: TypeAdapter[Commission | AuditReading] = TypeAdapter(
    Annotated[Commission | AuditReading, Field(discriminator="line")]
)


class Records(BaseModel):
    """What `audit.jsonl` says: the newest commission of each auditor, and all readings."""

    commissions: dict[tuple[str, str], Commission] = Field(default_factory=dict)
    """By the auditor's name and key."""
    readings: dict[tuple[str, str, str, int], AuditReading] = Field(default_factory=dict)
    """By the auditor's name and key, example and turn."""

    def reading(self, by: Commission, example: str, turn: int, reply: str) -> AuditReading | None:
        """Return an auditor's opinion on a reply, given by its hash; None if it has not read this one."""
        found = self.readings.get((by.auditor, by.key, example, turn))
        return found if found is not None and found.reply == reply else None


def read_records(run: Path) -> Records:
    """Read the audits of a run. Raises LogError."""
    found = Records()
    for entry in entries_in(run / AUDIT, _LINE):
        if isinstance(entry, Commission):
            found.commissions.pop((entry.auditor, entry.key), None)  # the newest is last
            found.commissions[entry.auditor, entry.key] = entry
        else:
            found.readings[entry.auditor, entry.key, entry.example, entry.turn] = entry
    return found


def write_down(run: Path, entries: Sequence[Commission | AuditReading]) -> None:
    """Append to the audits of a run, after cutting off a line torn by a crash."""
    append_lines(run / AUDIT, [to_line(entry.model_dump(mode="json")) for entry in entries])
