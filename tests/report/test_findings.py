"""The sentence of a comparison says no more than its pairs show."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.report.findings import contenders, finding
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.pairs import Pair
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.statistics.intervals import Interval, Paired

if TYPE_CHECKING:
    from tests.made import Made

RIGHT, WRONG = Outcome.CORRECT, Outcome.WRONG
LEVEL, PERHAPS, WORSE = "level", "perhaps", "worse"


def cells(made: "Made", names: Sequence[str]) -> list[Cell]:
    """Entrants from the highest score to the lowest."""
    steps = len(names)
    runs = [made.run(name, [RIGHT] * (steps - i) + [WRONG] * i) for i, name in enumerate(names)]
    return compare(runs).at(120_000)


def pair(first: str, second: str, shown: str) -> Pair:
    interval = Interval(low=-1.0 if shown == LEVEL else 0.5, high=3.0)
    found = Paired(n=15, clusters=1, difference=1.0, interval=interval, p=0.5 if shown == LEVEL else 0.01)
    return Pair(
        span=120_000,
        first=first,
        second=second,
        complete=True,
        paired=found,
        if_right=found,
        separated=shown == WORSE,
        only_first=[],
        only_second=[],
    )


@pytest.mark.parametrize(
    ("shown", "sentence"),
    [
        ({}, "a leads over 120k tokens, with no difference shown from b, c and d"),
        ({"ac": WORSE}, "a leads over 120k tokens, with no difference shown from b and d; c is worse than a"),
        (
            {"ab": PERHAPS, "ac": WORSE, "ad": WORSE},
            "a leads over 120k tokens; b may be lower; c and d are worse than a",
        ),
        ({"cd": WORSE, "bd": WORSE}, "a leads over 120k tokens, with no difference shown from b, c and d"),
        (
            {"ba": PERHAPS},
            "b leads over 120k tokens, with no difference shown from c and d; a may be lower",
        ),
        ({"ab": WORSE, "bc": WORSE, "cd": WORSE, "da": WORSE}, "Nobody leads over 120k tokens"),
    ],
)
def test_everybody_is_compared_with_the_leader_alone(
    made: "Made", shown: dict[str, str], sentence: str
) -> None:
    known = {frozenset(names): pair(names[0], names[1], how) for names, how in shown.items()}
    every = ("ab", "ac", "ad", "bc", "bd", "cd")
    pairs = [known.get(frozenset(names)) or pair(names[0], names[1], LEVEL) for names in every]
    assert finding(120_000, cells(made, "abcd"), pairs) == sentence


def test_of_two_agents_the_sentence_has_both_scores(made: "Made") -> None:
    same = compare([made.run("a"), made.run("b")])
    assert (
        finding(120_000, same.cells, same.pairs)
        == "No difference shown between a and b over 120k tokens: 5.0 and 5.0 of 5 points"
    )
    apart = compare([made.run("b"), made.run("a", [WRONG])])
    assert (
        finding(120_000, apart.at(120_000), apart.pairs)
        == "b is better than a over 120k tokens: 5.0 and 0.0 of 5 points"
    )


def test_of_one_complete_agent_the_sentence_has_the_score(made: "Made") -> None:
    one = compare([made.run("a"), made.run("b", [Outcome.NOT_REACHED])])
    assert finding(120_000, one.at(120_000), one.pairs) == "a gets 5.0 of 5 points over 120k tokens"


def test_many_names_are_counted_and_incomplete_runs_are_left_out(made: "Made") -> None:
    many = compare([made.run(f"agent {i}") for i in range(6)])
    assert finding(120_000, many.cells, many.pairs).endswith("with no difference shown from 5 others")
    missing = compare([made.run("a", [Outcome.NOT_REACHED])])
    assert finding(120_000, missing.cells, missing.pairs) == "No run over 120k tokens is complete"


def test_floor_and_ceiling_do_not_compete_unless_nobody_else_does(made: "Made") -> None:
    names = ["a", "b", "goldfish", "perfect (memories=5)", "perfectionist"]
    entrants = compare([made.run(name) for name in names]).cells
    entrants[3].entrant = names[3]
    assert [cell.entrant for cell in contenders(entrants)] == ["a", "b", "perfectionist"]
    assert contenders(entrants[1:3]) == entrants[1:3]
