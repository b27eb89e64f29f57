"""What an entrant's runs at one span have in common."""

import pytest

from ltm_bench.score.comparison.cells import operated
from ltm_bench.score.results.operations import Operation
from ltm_bench.score.results.run import Results


def of(*operations: Operation) -> Results:
    return Results.model_construct(operations=list(operations))


def test_operations_are_averaged_over_the_runs_that_have_them() -> None:
    reply = Operation(name="reply", calls=10, p50=1.0, p95=2.0, tokens=100, dollars=0.5)
    slower = reply.model_copy(update={"calls": 20, "p50": 2.0, "p95": 5.0, "tokens": 300, "dollars": 1.5})
    store = Operation(name="store", calls=3, tokens=7)
    found = {
        each.name: each.model_dump(exclude={"name"}) for each in operated([of(reply, store), of(slower)])
    }
    assert found["reply"] == pytest.approx(
        {"calls": 15, "p50": 1.5, "p95": 3.5, "tokens": 200, "dollars": 1.0}
    )
    assert found["store"] == {"calls": 3, "p50": None, "p95": None, "tokens": 7, "dollars": 0}


def test_what_one_run_does_not_know_no_mean_hides() -> None:
    known = Operation(name="reply", calls=1, p50=1.0, p95=1.0, dollars=0.5)
    unknown = Operation(name="reply", calls=1, p50=None, p95=1.0, dollars=None)
    (found,) = operated([of(known), of(unknown)])
    assert (found.p50, found.p95, found.dollars) == (None, 1.0, None)
