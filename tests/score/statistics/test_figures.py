"""Rows and figures: one mean with one interval for all that is shown, and one way to pair rows."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ltm_bench.score.results import controls, figures, ladder
from ltm_bench.score.statistics.figures import Figure, Proportion, Row, paired, share
from ltm_bench.score.statistics.figures import clusters as grouped
from ltm_bench.score.statistics.figures import figure as figure_of
from ltm_bench.score.statistics.figures import figures as figures_of
from ltm_bench.score.statistics.intervals import clustered_sum_interval, paired_clusters, sum_interval
from ltm_bench.score.statistics.memory import Triple, kept, kept_by

SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
ROWS = st.lists(
    st.builds(
        Row, SCORES, scenario=st.sampled_from("abc"), run=st.integers(0, 2), asked=st.integers(0, 5),
        how=st.sampled_from(["run", "blind", "evidence"]), chance=SCORES, undecided=st.booleans(),
    ),
    min_size=1, max_size=40,
)  # fmt: skip

OURS = [Figure, Proportion, figures.Skill, figures.Bin, controls.InControl, ladder.OnRung]
"""Every class of figures of a run's results; those of published files are shown, and never read again."""


def of_class(kind: type[Figure]) -> Figure:
    """Return a figure with a value in every field, n and mean of which follow from each other."""
    values = {
        "name": "a", "n": 8, "mean": 0.25, "interval": {"low": 0.125, "high": 0.5}, "chance": 0.5, "undecided": 2,
        "scenarios": ["x"], "low": 10, "high": 20, "dollars": 0.5, "right": 2, "count": 2, "above": True,
        "choices": 4.0,
    }  # fmt: skip
    return kind.model_validate({name: values[name] for name in kind.model_fields})


def test_every_class_of_figures_is_known_here() -> None:
    def below(kind: type[Figure]) -> list[type[Figure]]:
        return [kind, *(each for sub in kind.__subclasses__() for each in below(sub))]

    elsewhere = ("ltm_bench.score.statistics.recounts", "ltm_bench.datasets", "ltm_bench.cli")
    assert {kind for kind in below(Figure) if not kind.__module__.startswith(elsewhere)} == {*OURS}


@pytest.mark.parametrize("kind", OURS)
def test_what_is_written_of_a_figure_is_what_is_read_and_described(kind: type[Figure]) -> None:
    whole = of_class(kind)
    written = whole.model_dump(mode="json")
    again = kind.model_validate(written)
    assert again.model_dump(mode="json") == written
    assert (again.mean, again.interval) == (whole.mean, whole.interval)
    described = TypeAdapter(kind).json_schema(mode="serialization")
    assert [*described["properties"]] == [*written] == described["required"]


def test_a_figure_without_an_interval_is_written_and_read_without_one() -> None:
    written = Figure(n=1, mean=1.0).model_dump(mode="json")
    assert written == {"n": 1, "mean": 1.0, "low": None, "high": None}
    assert Figure.model_validate(written).interval is None


@pytest.mark.parametrize("count", [0, 1, 7, 9])
def test_a_share_that_is_read_again_is_the_same(count: int) -> None:
    made = share(count, 9)
    assert (made.count, made.mean) == (count, count / 9)
    assert Proportion.model_validate(made.model_dump(mode="json")) == made


@given(ROWS)
def test_a_figure_is_the_mean_of_the_scenarios_means_with_the_interval_of_their_sum(rows: list[Row]) -> None:
    strata = {
        name: [row.score for row in rows if row.scenario == name] for name in {r.scenario for r in rows}
    }
    found, points = figure_of(rows, "x"), figure_of(rows, "x", points=True)
    mean = sum(math.fsum(of) / len(of) for of in strata.values()) / len(strata)
    assert (found.name, found.n) == ("x", len(rows))
    assert found.mean == pytest.approx(mean)
    assert points.mean == pytest.approx(mean * len(strata))
    assert found.undecided == sum(row.undecided for row in rows)
    whole = clustered_sum_interval(grouped(rows))
    assert points.interval == whole
    assert (found.interval is None) is (whole is None) is any(len(of) < 2 for of in strata.values())
    if found.interval is not None:
        assert found.interval.low - 1e-9 <= found.mean <= found.interval.high + 1e-9


@given(ROWS)
def test_figures_are_those_of_the_rows_of_each_name_and_a_row_may_have_several(rows: list[Row]) -> None:
    def names(row: Row) -> Sequence[str]:
        return ["all", row.how]

    found = {each.name: each for each in figures_of(rows, names)}
    assert [*found] == [*dict.fromkeys(name for row in rows for name in names(row))]
    for name, each in found.items():
        assert each == figure_of([row for row in rows if name in names(row)], name)


def test_runs_of_a_row_each_count_as_one_where_that_is_asked_for() -> None:
    rows = [Row(float(i % 2), run=i) for i in range(20)]
    assert len(grouped(rows)) == 20
    assert grouped(rows, alone=True) == [{"": [row.score for row in rows]}]
    assert figure_of(rows, alone=True).interval == sum_interval({"": [row.score for row in rows]})
    assert len(grouped([*rows, Row(1.0, run=0)], alone=True)) == 20


@given(ROWS, ROWS)
def test_rows_are_paired_by_their_key_and_by_nothing_else(ours: list[Row], theirs: list[Row]) -> None:
    known = {row.asked: row.score for row in theirs}
    gaps = [row._replace(score=row.score - known[row.asked]) for row in ours if row.asked in known]
    found = paired(ours, theirs, lambda row: row.asked)
    assert found == paired_clusters(grouped(gaps))
    assert found.n == len(gaps)


def test_a_difference_is_never_below_minus_one() -> None:
    ours, theirs = [Row(-1 / 3, asked=i) for i in range(9)], [Row(1.0, asked=i) for i in range(9)]
    assert paired(ours, theirs, lambda row: row.asked).difference == -1.0


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ab"), SCORES, SCORES, SCORES), max_size=40))
def test_memory_is_that_of_what_all_three_runs_were_asked(
    told: list[tuple[int, str, float, float, float]],
) -> None:
    found: dict[int, dict[str, list[Triple]]] = {}
    rows = []
    for place, (run, scenario, *scores) in enumerate(told):
        found.setdefault(run, {}).setdefault(scenario, []).append(Triple(*scores))
        hows = zip(("run", "blind", "evidence"), scores, strict=True)
        rows += [Row(score, scenario, run, place, how) for how, score in hows]
    expected = kept([*found.values()])
    lonely = [Row(1.0, "a", 0, "only", "run"), Row(1.0, "a", 0, "no evidence", "blind")]
    assert kept_by([*rows, *lonely], blind="blind", evidence="evidence", score="run") == expected
