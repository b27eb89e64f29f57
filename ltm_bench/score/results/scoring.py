"""A folded run's results: every figure that the page shows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ltm_bench.core.messages import Outcome
from ltm_bench.log.environment import calls_kept
from ltm_bench.log.manifest import Manifest
from ltm_bench.plan.scenarios import About
from ltm_bench.score.audits.auditing import audits
from ltm_bench.score.audits.raters import agreements
from ltm_bench.score.results.accounts import in_all
from ltm_bench.score.results.aspects import aspects
from ltm_bench.score.results.context import context_tokens
from ltm_bench.score.results.controls import controls_of
from ltm_bench.score.results.delays import delays
from ltm_bench.score.results.examples import ExampleResult, ScenarioResult
from ltm_bench.score.results.figures import bins, needle_recall, points, skills
from ltm_bench.score.results.files import RunFiles
from ltm_bench.score.results.fold import Fold, TurnListener
from ltm_bench.score.results.guessing import guessed
from ltm_bench.score.results.headline import (
    by_scenario,
    count_deciders,
    count_outcomes,
    headline,
    leaks,
    mean,
    retrievals,
    scores_by_judge,
    summarise_scenario,
    worth_of_undecided,
)
from ltm_bench.score.results.ladder import ladder_result
from ltm_bench.score.results.operations import judging, operations
from ltm_bench.score.results.published_runs import set_figures
from ltm_bench.score.results.remarks import confident, judges, remarks
from ltm_bench.score.results.retrieval import lost, ranking
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.written import summed
from ltm_bench.score.statistics.intervals import sum_interval


def score_run(
    run: Path,
    manifest: Manifest | None = None,
    *,
    about: Mapping[str, About] | None = None,
    explain: bool = False,
    listener: TurnListener | None = None,
) -> Results:
    """Score a run from its log. Questions that were not asked yet count as `not_reached`.

    Args:
        run: The run folder.
        manifest: Its manifest, if that has been read.
        about: Summary and skills by scenario.
        explain: Whether to find the words that decided each verdict.
        listener: Gets every turn.

    Raises:
        LogError: The log is damaged.
    """
    with RunFiles(run, manifest) as files:
        fold = Fold(files, explain=explain, listeners=() if listener is None else (listener,))
        return results_of(fold, about=about)


def results_of(
    fold: Fold, *, about: Mapping[str, About] | None = None, references: Mapping[str, float] | None = None
) -> Results:
    """Return the results of a folded run.

    Args:
        fold: The run.
        about: Summary and skills by scenario.
        references: Scores of baseline and oracle on the same examples.
    """
    files, manifest = fold.files, fold.files.manifest
    examples = [each.result for each in fold.examples.values()]
    told = about or {}
    scenarios = [
        summarise_scenario(
            entry.name,
            told[entry.name].summary if entry.name in told else "",
            told[entry.name].skills if entry.name in told else (),
            [e for e in examples if e.scenario == entry.name],
        ).model_copy(update={"guessed": guessed(entry.hash)})
        for entry in manifest.suite.scenarios
        if manifest.asks is None or any(each.scenario == entry.name for each in examples)
    ]
    published = {s.name: [e.published for e in examples if e.scenario == s.name] for s in scenarios}
    any_published = any(mean(scores) is not None for scores in published.values())
    heard = fold.hearing.heard
    opinions = [opinion for e in examples for q in e.questions for opinion in q.asked_of]
    return Results(
        run=files.folder.name,
        references=dict(references or {}),
        published=headline(published) if any_published else None,
        judges=judges(examples, fold.vague),
        audits=audits(files.audits, confident(examples)),
        raters=agreements(files.ratings, files.audits),
        remarks=[
            *remarks(
                manifest,
                examples,
                missed=0 if heard is None else heard.missed,
                flaws=fold.flaws,
                untold=files.timings.untold,
                environment=files.environment,
                unasked=files.unasked,
            ),
            *fold.books.remarks(opinions, kept=calls_kept(files.environment)),
        ],
        costs=(costs := fold.books.costs(opinions)),
        in_all=in_all(costs, files.again, free=manifest.agent.free),
        context=context_tokens(examples),
        latency=files.timings.latency,
        writing=summed([each.examined for each in fold.examples.values() if each.examined is not None]),
        aspects=aspects(examples),
        delays=delays(examples),
        leaks=leaks(examples, keeps_users=bool(manifest.agent.keeps_users) if len(fold.users) > 1 else None),
        controls=controls_of(files.again, scenarios, examples, free=manifest.agent.free),
        ladder=ladder_result(files.again, examples, free=manifest.agent.free),
        sets=set_figures(files.folder.name, examples),
        course=fold.course.course(),
        operations=[
            *operations(files.timings.samples, fold.positions, free=manifest.agent.free),
            *judging([*fold.books.judged(opinions)]),
        ],
        environment=dict(files.environment),
        **logged(fold),
        **derived(scenarios, examples),
    )


def logged(fold: Fold) -> dict[str, Any]:
    """Return the fields of `Results` that follow from the log alone, without its verdicts."""
    manifest, hearing = fold.files.manifest, fold.hearing
    return {
        **{name: getattr(manifest, name) for name in ("span", "seed", "bench_version", "mode")},
        **{name: getattr(fold, name) for name in ("turns", "tokens", "forks", "fork_tokens")},
        "agent": manifest.agent.name,
        "suite": manifest.suite.name,
        "log": fold.digest,
        "heard": hearing.heard,
        "filler_heard": hearing.of_filler,
        "filler_tokens": hearing.filler,
        "seconds": fold.time.total_seconds(),
    }


def derived(scenarios: Sequence[ScenarioResult], examples: Sequence[ExampleResult]) -> dict[str, Any]:
    """Return the fields of `Results` that follow from its scenarios and examples alone."""
    strata = by_scenario(examples)
    complete = all(each.score is not None for each in scenarios)
    so_far = headline(strata)
    return {
        "complete": complete,
        "score": so_far if complete else None,
        "score_so_far": so_far,
        "out_of": len(scenarios),
        "interval": sum_interval(strata) if complete else None,
        "chance": sum(each.chance for each in scenarios),
        "overruns": sum(e.overrun > 0 for e in examples),
        "undecided": sum(q.outcome is Outcome.UNDECIDED for e in examples for q in e.questions),
        "undecided_worth": worth_of_undecided(examples),
        "overridden": sum(q.override is not None for e in examples for q in e.questions),
        "decided_by": count_deciders(examples),
        "by_judge": scores_by_judge(examples),
        "outcomes": count_outcomes(examples),
        "lost": lost(retrievals(examples)),
        "ranking": ranking(retrievals(examples)),
        "scenarios": list(scenarios),
        "skills": skills(scenarios, examples),
        "distances": bins(list(points(examples))),
        "needle_recall": needle_recall(examples),
        "examples": list(examples),
    }


def narrowed(results: Results, names: Sequence[str]) -> Results:
    """Keep only some scenarios. Costs, latency and operations are still of the whole run.

    Args:
        results: Results of a run that asked at least one of them.
        names: The scenarios to keep.
    """
    scenarios = [each for each in results.scenarios if each.name in names]
    kept = {each.name for each in scenarios}
    examples = [each for each in results.examples if each.scenario in kept]
    return results.model_copy(
        update={"references": {}, "published": None, "controls": None, "ladder": None}
        | derived(scenarios, examples)
    )
