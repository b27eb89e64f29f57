"""What is kept of a run for a comparison: everything that the comparison says."""

import tracemalloc
from collections.abc import Callable
from typing import TYPE_CHECKING

from ltm_bench.core.messages import Outcome
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.comparison.thin import Thinner

if TYPE_CHECKING:
    from tests.made import Made


def test_thinned_runs_compare_alike(made: "Made") -> None:
    undecided = [
        Outcome.UNDECIDED,
        Outcome.CORRECT,
        Outcome.NOT_REACHED,
        Outcome.JUDGE_ERROR,
        Outcome.PARTIAL,
    ]
    runs = [
        made.run("a"),
        made.run("a", seed=1),
        made.run("b", undecided),
        made.run("b", [Outcome.WRONG], seed=1, mode="forked", manifest={"questions": "forked"}),
        made.run("c", span=2_000, remarks=["a remark"]),
    ]
    thinner = Thinner()
    assert compare([thinner.thin(*run) for run in runs]) == compare(runs)


def test_several_thinned_runs_take_a_fraction_of_the_memory(made: "Made") -> None:
    texts = [made.run("a", made.outcomes, seed=seed) for seed in range(8)]
    kept = [Scored(type(m).model_validate_json(m.model_dump_json()), r) for m, r in texts]
    thinner = Thinner()

    def held(take: "Callable[[Scored], Scored]") -> int:
        tracemalloc.start()
        runs = [
            take(Scored(run.manifest, type(run.results).model_validate(run.results.model_dump(mode="json"))))
            for run in kept
        ]
        found = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(runs) == len(kept)
        return found

    assert held(lambda run: thinner.thin(*run)) < held(lambda run: run) / 2
