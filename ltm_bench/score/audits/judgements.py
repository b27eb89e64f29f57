"""Opinions of judges and people on a run, beside its log: append-only files.

`judgements.jsonl` holds judges' opinions on replies, `blind.jsonl` what a reader copied out of them without knowing the
right answer, `overrides.jsonl` verdicts by hand, and `vague.jsonl` judges' opinions on deliberately vague, wrong
replies.

The log is the truth about the conversation; these are the truth about how it was judged. They show the matcher's
verdict, each judge's, and who overrode what and why.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ltm_bench.core.errors import LogError, first_problem
from ltm_bench.core.limits import json_of, lines_of, opened
from ltm_bench.core.messages import Outcome, Usage, Verdict
from ltm_bench.log.lines import LINE, backwards, check_ordinary

JUDGEMENTS = "judgements.jsonl"
BLIND = "blind.jsonl"
OVERRIDES = "overrides.jsonl"
VAGUE = "vague.jsonl"

FIGURES = ("uncached", "cache_read", "cache_write", "output", "reasoning")
"""The token figures of `Usage`."""

T = TypeVar("T")

Place = tuple[str, int]
"""Example and turn of a question."""


class Opinion(BaseModel, frozen=True, extra="forbid"):
    """One judge's opinion on one reply."""

    judge: str
    """Its name, as on the command line."""
    key: str
    """Hash of its adapter, its settings and the rubric; opinions with different keys are not comparable."""
    rubric: str
    """Hash of the rubric."""
    model: str | None = None
    prompt: str
    answer: str
    """The verbatim answer, or what went wrong if the judge could not be asked."""
    outcome: Outcome
    """`judge_error` if the answer was missing or unreadable."""
    score: float | None = None
    """From 0 to 1, if the rubric gives more than right or wrong."""
    scores: dict[str, float] = Field(default_factory=dict)
    """From 0 to 1 by column of a published scorer, if that asked the questions."""
    reason: str
    dollars: float | None = None
    """None if the price is unknown."""
    usage: dict[str, int] = Field(default_factory=dict)
    """The token figures of `Usage`; empty if unknown."""
    recorded: bool = False
    """Whether its calls are in `calls.jsonl`; what those of 0.4 cost, they alone know."""

    @property
    def used(self) -> Usage | None:
        """Its usage, or None if unknown."""
        known: dict[str, Any] = {name: self.usage.get(name, 0) for name in FIGURES}
        return Usage(**known, model=self.model) if self.usage else None


class Judgement(BaseModel, frozen=True, extra="forbid"):
    """The judges' opinions on one reply, from one round."""

    example: str
    turn: int
    reply: str
    """Hash of the reply that was judged."""
    opinions: tuple[Opinion, ...]


class BlindReading(Judgement, frozen=True):
    """What a reader copied out of one reply. Its `opinions` are its answers, one for each order of the options."""

    opinions: tuple[Opinion, ...] = Field(min_length=1)
    form: str
    """The kind of form that the question asks for."""
    version: int
    """The version of the way of asking and of reading the answers."""
    span: str = ""
    """Where the reply commits itself, letter by letter; empty if nowhere."""
    said: str = ""
    """What it says there, as a terse reply in the form asked for; empty if nothing was read."""
    why: str = ""
    """Why nothing was read."""

    @property
    def reader(self) -> str:
        """Its reader and the version, for reasons."""
        return f"reader {self.opinions[0].judge} (version {self.version})"


class VagueTrial(BaseModel, frozen=True, extra="forbid"):
    """A judge's opinion on a deliberately vague, wrong reply, judged in the same way as the run."""

    question: str
    reply: str
    opinion: Opinion

    @property
    def passed(self) -> float:
        """The score it gave, from 0 to 1."""
        if self.opinion.score is not None:
            return self.opinion.score
        return float(self.opinion.outcome is Outcome.CORRECT)


class Override(BaseModel, frozen=True, extra="forbid"):
    """A verdict by hand. The original is kept."""

    example: str
    turn: int
    reply: str
    """Hash of the reviewed reply."""
    outcome: Outcome
    score: float = Field(ge=0, le=1)
    reviewer: str
    reason: str
    was: Outcome
    was_score: float | None


def reply_hash(reply: str) -> str:
    """Return the first 16 hex digits of a reply's SHA-256: a judgement holds for this reply only."""
    return hashlib.sha256(reply.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def entries_in(path: Path, kind: TypeAdapter[T]) -> Iterator[T]:
    """Yield the entries of an append-only file; none if there is no file. Raises LogError."""
    check_ordinary(path)
    if not path.exists():
        return
    with opened(path) as lines:
        for number, line in enumerate(lines_of(lines, LINE), start=1):
            if not line.endswith(b"\n"):  # torn by a crash: does not count
                return
            try:
                yield kind.validate_python(json_of(line))
            except ValidationError as error:
                raise LogError(f"{path}:{number}: {first_problem(error)}") from error
            except ValueError as error:
                raise LogError(f"{path}:{number}: not JSON: {error}") from error


def judgements(run: Path) -> Mapping[Place, Judgement]:
    """Return the judgements of a run, the newest for each reply. Raises LogError."""
    return {(each.example, each.turn): each for each in entries_in(run / JUDGEMENTS, TypeAdapter(Judgement))}


def blind_readings(run: Path) -> Mapping[Place, BlindReading]:
    """Return what a reader read of a run's replies, the newest for each. Raises LogError."""
    return {(each.example, each.turn): each for each in entries_in(run / BLIND, TypeAdapter(BlindReading))}


def ratings(run: Path) -> Mapping[Place, Mapping[str, Override]]:
    """Return every reviewer's last rating of each reply, by name, the newest last. Raises LogError."""
    found: dict[Place, dict[str, Override]] = {}
    for each in entries_in(run / OVERRIDES, TypeAdapter(Override)):
        said = found.setdefault((each.example, each.turn), {})
        said.pop(each.reviewer, None)
        said[each.reviewer] = each
    return found


def vague_trials(run: Path) -> Sequence[VagueTrial]:
    """Return the judges' opinions on vague wrong replies, the newest of each. Raises LogError."""
    return newest(entries_in(run / VAGUE, TypeAdapter(VagueTrial)))


def newest(trials: Iterable[VagueTrial]) -> Sequence[VagueTrial]:
    """Return a judge's last opinion on each vague reply."""
    return list({(each.opinion.key, each.question, each.reply): each for each in trials}.values())


def overrides(ratings: Mapping[Place, Mapping[str, Override]]) -> Mapping[Place, Override]:
    """Return the verdicts by hand that count."""
    settled = {place: settle(list(said.values())) for place, said in ratings.items()}
    return {place: found for place, found in settled.items() if found is not None}


def settle(said: Sequence[Override]) -> Override | None:
    """Return the majority verdict of a reply's reviewers; None if there is a tie.

    On each side, the newest verdict counts. Ratings of an earlier reply do not count.
    """
    heard = [each for each in said if each.reply == said[-1].reply]
    for_it = [each for each in heard if each.outcome is Outcome.CORRECT]
    against = [each for each in heard if each.outcome is not Outcome.CORRECT]
    if len(for_it) == len(against):
        return None
    return max(for_it, against, key=len)[-1]


_FILES: Mapping[type[BaseModel], str] = {
    Judgement: JUDGEMENTS,
    BlindReading: BLIND,
    Override: OVERRIDES,
    VagueTrial: VAGUE,
}


def append(run: Path, entries: Sequence[Judgement | Override | VagueTrial]) -> None:
    """Append entries to the file of their kind, after cutting off a line torn by a crash."""
    by_file: dict[Path, list[bytes]] = {}
    for entry in entries:
        by_file.setdefault(run / _FILES[type(entry)], []).append(entry.model_dump_json().encode() + b"\n")
    for path, lines in by_file.items():
        append_lines(path, lines)


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Append whole lines to a file, after cutting off one torn by a crash."""
    with path.open("ab+") as file:
        torn = next(backwards(file))
        file.truncate(file.seek(0, os.SEEK_END) - len(torn))
        file.writelines(lines)


def majority(opinions: Sequence[Opinion]) -> Verdict:
    """Return the judges' majority verdict; unreadable answers do not count.

    The majority decides whether a reply is right; if it is not, the first judge of that side gives the outcome.
    """
    heard = [each for each in opinions if each.outcome is not Outcome.JUDGE_ERROR]
    for_it = [each for each in heard if each.outcome is Outcome.CORRECT]
    against = [each for each in heard if each.outcome is not Outcome.CORRECT]
    if not heard:
        said = opinions[0].reason if opinions else "nobody was asked"
        return Verdict(Outcome.JUDGE_ERROR, None, f"no judge gave a readable answer: {said}")
    if all(each.score is not None for each in heard):
        return _mean(heard)
    if len(for_it) == len(against):
        return Verdict(Outcome.JUDGE_ERROR, None, f"the judges disagree, {len(for_it)} to {len(against)}")
    side = for_it if len(for_it) > len(against) else against
    voices = f"{side[0].judge}" if len(opinions) == 1 else f"{len(side)} of {len(opinions)} judges"
    score = 1.0 if side is for_it else 0.0
    return Verdict(side[0].outcome, score, f"{voices}: {side[0].reason or 'no reason given'}")


def _mean(heard: Sequence[Opinion]) -> Verdict:
    """Return the mean opinion of judges that give more than right or wrong."""
    score = sum(each.score or 0.0 for each in heard) / len(heard)
    outcome = Outcome.CORRECT if score >= 1 else Outcome.PARTIAL if score > 0 else heard[0].outcome
    voices = heard[0].judge if len(heard) == 1 else f"the mean of {len(heard)} judges"
    return Verdict(outcome, round(score, 6), f"{voices}: {heard[0].reason}")
