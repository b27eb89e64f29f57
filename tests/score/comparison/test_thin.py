"""What is kept of a run for a comparison: everything that the comparison says."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.marks import SetQuestion
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.comparison.thin import Thinner
from ltm_bench.score.results.published_runs import set_figures

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


def test_thinned_runs_of_public_sets_compare_alike(made: "Made") -> None:
    runs = []
    for agent, outcomes in (("a", [Outcome.CORRECT, Outcome.WRONG]), ("b", [Outcome.WRONG])):
        run = made.run(agent, outcomes)
        examples = [
            replace(
                each,
                questions=[
                    replace(
                        q, published=SetQuestion(id=f"{each.id}.{i}", type="t", scores={"x": q.score or 0.0})
                    )
                    for i, q in enumerate(each.questions)
                ],
            )
            for each in run.results.examples
        ]
        sets = set_figures(run.results.run, examples)
        runs.append(Scored(run.manifest, run.results.model_copy(update={"examples": examples, "sets": sets})))
    thinner = Thinner()
    thin = compare([thinner.thin(*run) for run in runs])
    assert thin.sets
    assert thin == compare(runs)


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
