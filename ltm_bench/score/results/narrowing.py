"""Narrows results to some of the scenarios."""

from __future__ import annotations

from collections.abc import Collection

from ltm_bench.score.results.figures import bins, needle_recall, points, skills
from ltm_bench.score.results.headline import (
    count_outcomes,
    headline,
    retrievals,
    scores_by_judge,
    worth_of_undecided,
)
from ltm_bench.score.results.retrieval import lost, ranking
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.intervals import sum_interval


def narrowed(results: Results, names: Collection[str]) -> Results:
    """Keep only some scenarios. Costs, latency and operations are still of the whole run.

    Args:
        results: Results of a run that asked at least one of them.
        names: The scenarios to keep.
    """
    scenarios = [each for each in results.scenarios if each.name in names]
    kept = {each.name for each in scenarios}
    examples = [each for each in results.examples if each.scenario in kept]
    strata = {
        name: [e.score for e in examples if e.scenario == name and e.score is not None] for name in kept
    }
    complete = all(each.score is not None for each in scenarios)
    so_far = headline({each.name: strata[each.name] for each in scenarios})
    return results.model_copy(
        update={
            "complete": complete,
            "score": so_far if complete else None,
            "score_so_far": so_far,
            "out_of": len(scenarios),
            "interval": sum_interval({s.name: strata[s.name] for s in scenarios}) if complete else None,
            "chance": sum(each.chance for each in scenarios),
            "references": {},
            "published": None,
            "overruns": sum(e.overrun > 0 for e in examples),
            "undecided_worth": worth_of_undecided(examples),
            "by_judge": scores_by_judge(examples),
            "outcomes": count_outcomes(examples),
            "lost": lost(retrievals(examples)),
            "ranking": ranking(retrievals(examples)),
            "scenarios": scenarios,
            "skills": skills(scenarios, examples),
            "distances": bins(list(points(examples))),
            "needle_recall": needle_recall(examples),
            "examples": examples,
        }
    )
