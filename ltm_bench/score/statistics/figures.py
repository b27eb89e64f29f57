"""Rows and figures: what is shown of scores is a mean over some of them, with its interval. Pure; knows no files."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, cast

from pydantic import BaseModel, GetJsonSchemaHandler, model_serializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ltm_bench.core.grouping import grouped
from ltm_bench.score.statistics.intervals import (
    Clusters,
    Interval,
    Paired,
    clustered_sum_interval,
    paired_clusters,
    wilson,
)


class Row(NamedTuple):
    """A score, and what it is the score of; what does not matter to a figure is left out."""

    score: float
    scenario: str = ""
    """The stratum: a figure is the mean over the means of these."""
    run: Hashable = ""
    """The run, or the history, that it resembles others of."""
    asked: Hashable = ""
    """What was asked, alike in all runs that can be paired."""
    how: str = ""
    """How it was asked, or by which scorer it was scored."""
    distance: int = 0
    """Tokens between what was told and the question."""
    chance: float | None = None
    """What guessing would score; None if unknown."""
    undecided: bool = False


class Figure(BaseModel, frozen=True):
    """A mean over rows."""

    name: str = ""
    n: int = 0
    """Rows."""
    mean: float
    interval: Interval | None = None
    """95 %; None if there are too few rows to say."""
    chance: float | None = None
    """What guessing would score; None if unknown."""
    undecided: int = 0
    """Rows that text alone cannot decide; they count 0."""

    WRITTEN: ClassVar[str] = "n mean low high"
    """Its fields in JSON: `old=new` for those that had other names before all figures were alike; `low` and `high` for
    the ends of the interval. The others are not set, so that what is read equals what was written."""

    @classmethod
    def names(cls) -> Mapping[str, str]:
        """Map the names in JSON to the names here."""
        return {old: new or old for old, _, new in (each.partition("=") for each in cls.WRITTEN.split())}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, content: Any) -> Any:
        names = cls.names()
        if not isinstance(content, Mapping) or content.keys().isdisjoint(names.keys() - cls.model_fields):
            return content
        known = {names.get(old, old): value for old, value in content.items()}
        return {"interval": known if known.get("low") is not None else None} | known

    @model_serializer
    def _written(self) -> dict[str, Any]:
        known = {"low": None, "high": None} | dict(self.interval or ()) | dict(self)
        return {old: known[new] for old, new in self.names().items()}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe what is written; pydantic would only say that it is an object."""
        own = {key: value for key, value in core_schema.items() if key != "serialization"}
        made = handler.resolve_ref_schema(handler(cast(CoreSchema, own)))
        end = {"anyOf": [{"type": "number"}, {"type": "null"}], "description": "An end of the 95 % interval."}
        known = {"low": end, "high": end} | made["properties"]
        made["properties"] = {old: known[new] for old, new in cls.names().items()}
        made["required"] = [*made["properties"]]
        return made


def figures(rows: Iterable[Row], by: Callable[[Row], Iterable[str]], *, alone: bool = False) -> list[Figure]:
    """Return the figures over rows, in the order in which their names come first.

    Args:
        rows: The rows.
        by: Names the figures that a row is part of.
        alone: As for `clusters`.
    """
    groups = grouped((name, row) for row in rows for name in by(row))
    return [figure(of, name, alone=alone) for name, of in groups.items()]


def figure(rows: Sequence[Row], name: str = "", *, points: bool = False, alone: bool = False) -> Figure:
    """Return the mean of the scenarios' means over rows, of which there is at least one; in points, their sum."""
    strata = grouped((row.scenario, row.score) for row in rows)
    count = 1 if points else len(strata)
    whole = clustered_sum_interval(clusters(rows, alone=alone))
    chances = [row.chance for row in rows if row.chance is not None]
    return Figure(
        name=name,
        n=len(rows),
        mean=sum(sum(of) / len(of) for of in strata.values()) / count,
        interval=whole and whole.mapped(lambda end: end / count),
        chance=sum(chances) / len(chances) if chances else None,
        undecided=sum(row.undecided for row in rows),
    )


def clusters(rows: Iterable[Row], *, alone: bool = False) -> Clusters:
    """Return the scores of each run by scenario.

    Args:
        rows: The rows.
        alone: Whether runs of one row each count as a single one: nothing tells how much such runs differ.
    """
    known = list(rows)
    alone = alone and len({row.run for row in known}) == len(known)
    runs = grouped(("" if alone else row.run, (row.scenario, row.score)) for row in known)
    return [*map(grouped, runs.values())]


def paired(
    a: Iterable[Row], b: Iterable[Row], key: Callable[[Row], Hashable], *, alone: bool = False
) -> Paired:
    """Compare the scores of two on what both were asked: `key` says what that is."""
    theirs = {key(row): row.score for row in b}
    # A choice that is corrected for guessing can score less than 0.
    gaps = (row._replace(score=max(-1.0, row.score - theirs[key(row)])) for row in a if key(row) in theirs)
    return paired_clusters(clusters(gaps, alone=alone))


class Proportion(Figure, frozen=True):
    """A share of things that have a property."""

    WRITTEN = "count share=mean low high"
    count: int


def share(count: int, n: int) -> Proportion:
    """Return the share of some things that have a property, with Wilson's interval."""
    return Proportion(count=count, mean=count / n, interval=wilson(count / n, n))
