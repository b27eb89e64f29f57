"""The figures of a published file, counted again from its rows, beside those that it states. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add

from pydantic import BaseModel

from ltm_bench.datasets.recounting import AVERAGED, PublishedFile, counts_of
from ltm_bench.datasets.shapes import Known, Record, RowCount
from ltm_bench.score.statistics.figures import Figure


class Recounted(Figure, frozen=True):
    """A figure of a group of rows: of `all`, or of a subset."""

    WRITTEN = "measure group=name total n mean"
    measure: str
    total: float


class Agreed(BaseModel, frozen=True):
    """A figure that a file states about itself, and ours."""

    name: str
    published: float | None
    ours: float | None


class Recounts(BaseModel, frozen=True):
    """All figures of a file."""

    file: str
    what: str
    """The kind of file."""
    rows: int
    figures: tuple[Recounted, ...]
    stated: tuple[Agreed, ...]
    notes: tuple[str, ...]
    """What does not follow from the rows, or is often mistaken."""

    @property
    def odd(self) -> Iterator[str]:
        """What to say about it: stated figures that are not ours, and the notes."""
        for each in self.stated:
            if each.published != each.ours:
                yield f"  {each.name}: published {each.published}, counted {each.ours}"
        yield from self.notes


def recount(file: PublishedFile, known: Known) -> Recounts:
    """Return a file's figures, those that it states, and what is odd about it. Raises ConfigError for a bad value."""
    counted = list(counts_of(file, known))
    figures = {(each.measure, each.name): each for each in _figures(counted)}
    means = [figures["right", each].mean for each in AVERAGED if ("right", each) in figures]
    if means:
        name, total = f"mean of {len(means)} types", reduce(add, means)
        mean = Recounted(measure="right", name=name, total=total, n=len(means), mean=total / len(means))
        figures["right", name] = mean
    return Recounts(
        file=str(file.path),
        what=file.shape.about,
        rows=len(file.rows),
        figures=tuple(figures.values()),
        stated=tuple(_stated(file.head, figures, "all")),
        notes=tuple(_notes(file, known, counted, figures)),
    )


def _figures(counted: Sequence[RowCount]) -> Iterator[Recounted]:
    """Yield sums by group and measure; added from left to right, as the published programs do."""
    groups: dict[str, dict[str, tuple[float, int]]] = {}
    for each in counted:
        for group in dict.fromkeys(("all", *each.groups)):
            sums = groups.setdefault(group, {})
            for measure, (amount, of) in each.amounts.items():
                total, n = sums.get(measure, (0, 0))
                sums[measure] = total + amount * bool(of), n + of
    for group in sorted(groups, key=lambda name: (name != "all", name)):
        for measure, (total, n) in groups[group].items():
            if n:
                yield Recounted(measure=measure, name=group, total=total, n=n, mean=total / n)


_STATED = {
    "meanPrecision": "precision",
    "meanRecall": "recall",
    "totalPassed": "passed",
    "passed": "passed",
    "activeRetrieval": "active retrieval",
    "structural": "structural",
    "triviallyEmpty": "trivially empty",
    "accuracy": "right",
}
"""Names under which files state figures, and our measures: sums, or means to the digits given, four at least."""


def _stated(head: Record, figures: Mapping[tuple[str, str], Recounted], group: str) -> Iterator[Agreed]:
    for key, value in head.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Mapping):
                yield from _stated(each, figures, str(each.get("category", group)))
        if key in _STATED and (value is None or isinstance(value, int | float)):
            ours, mean = figures.get((_STATED[key], group)), key.startswith(("mean", "acc"))
            scale = 10 ** max(4, len(str(value).partition(".")[2]))
            shown = None if ours is None else int(ours.mean * scale + 0.5) / scale if mean else ours.total
            yield Agreed(name=f"{key}, {group}", published=value, ours=shown)


def _notes(
    file: PublishedFile,
    known: Known,
    counted: Sequence[RowCount],
    figures: Mapping[tuple[str, str], Recounted],
) -> Iterator[str]:
    odd: dict[str, list[int]] = {}
    for number, each in enumerate(counted, start=1):
        for measure in each.differs:
            odd.setdefault(measure, []).append(number)
    for measure, numbers in odd.items():
        what = "the verdict belongs to another reply than that of the file without verdicts"
        what = what if measure == "reply" else f"the stored {measure} does not follow"
        yield f"in {len(numbers)} of {len(counted)} rows {what} (rows {', '.join(map(str, numbers[:20]))})"
    if nothing := sum(not each.amounts for each in counted):
        lacks = "give questions, official prompts and judged replies with --data"
        yield f"{nothing} of {len(counted)} hashes are compared with nothing: {lacks}"
    majority, votes = figures.get(("majority", "all")), figures.get(("judgments", "all"))
    if majority and votes and votes.mean != majority.mean:
        yield (
            f"a majority of its judgments gives {majority.total:g} right rows, their mean "
            f"{votes.mean * majority.n:.2f}: both are quoted as its accuracy"
        )
    labels = [row["autoeval_label"] for row in file.rows if isinstance(row.get("autoeval_label"), dict)]
    judges = {str(each.get("model")) for each in labels}
    if len(judges) > 1:
        yield f"several judges: {', '.join(sorted(judges))}; no official figure mixes them"
    questions, named = known.get("question", {}), {str(row.get("question_id")) for row in file.rows}
    kinds = {tuple(questions[name]) for name in named if name in questions}
    asked = {name for name, row in questions.items() if tuple(row) in kinds}  # those of the same set
    if file.shape.role != "question" and asked - named:
        yield f"{len(asked - named)} of {len(asked)} questions of the data have no row: a part, or a cut file"
