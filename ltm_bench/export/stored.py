"""Reads a run's `verdicts.jsonl` and `results.json`, each checked against its schema."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ValidationError, field_validator, model_validator

from ltm_bench.core.errors import NotVerified, first_problem
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Verdict
from ltm_bench.score.results.examples import nested
from ltm_bench.score.results.run import SCHEMA, Results


class VerdictLine(BaseModel, frozen=True, extra="ignore"):
    """A line of verdicts.jsonl, as far as results.json says the same."""

    example: str
    turn: int | None
    scorer: str
    verdict: Verdict

    _nested = model_validator(mode="before")(nested)

    @field_validator("verdict")
    @classmethod
    def _within(cls, verdict: Verdict) -> Verdict:
        if verdict.score is not None and not 0 <= verdict.score <= 1:
            raise ValueError(f"a score of {verdict.score}, which is not from 0 to 1")
        return verdict


class Place(NamedTuple):
    """Where a question was asked."""

    example: str
    turn: int | None
    """None if it was not reached."""

    def __str__(self) -> str:
        return self.example if self.turn is None else f"{self.example} turn {self.turn}"


def stored_results(run: Path) -> Results:
    """Read results.json. Raises NotVerified if it is missing, damaged or of another schema."""
    try:
        content = json_of(content_of(run / "results.json"))
        stated = content.get("schema_version") if isinstance(content, dict) else None
        if isinstance(stated, int) and stated != SCHEMA:
            raise NotVerified(
                f"{run.name}: results.json has schema version {stated}, this version reads {SCHEMA}; "
                "write it with `ltm-bench rescore`"
            )
        results = Results.model_validate(content)
    except FileNotFoundError as error:
        raise NotVerified(f"{run.name}: has no results.json; write it with `ltm-bench rescore`") from error
    except ValidationError as error:
        raise NotVerified(f"{run.name}: results.json: {first_problem(error)}") from error
    except (OSError, ValueError) as error:
        raise NotVerified(f"{run.name}: results.json cannot be read: {error}") from error
    return results


def stored_verdicts(run: Path) -> Mapping[Place, VerdictLine]:
    """Read verdicts.jsonl. Raises NotVerified if it is missing, damaged, or judges a question twice."""
    found: dict[Place, VerdictLine] = {}
    try:
        for number, line in enumerate(content_of(run / "verdicts.jsonl").splitlines(), start=1):
            stated = VerdictLine.model_validate(json_of(line))
            place = Place(stated.example, stated.turn)
            if place in found:
                raise NotVerified(f"{run.name}: verdicts.jsonl:{number}: a second verdict on {place}")
            found[place] = stated
    except ValidationError as error:
        raise NotVerified(f"{run.name}: verdicts.jsonl:{number}: {first_problem(error)}") from error
    except (OSError, ValueError) as error:
        raise NotVerified(
            f"{run.name}: verdicts.jsonl cannot be read: {error}; write it with `ltm-bench rescore`"
        ) from error
    return found
