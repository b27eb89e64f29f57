"""Results without what no comparison looks at, so that ten thousand of them fit into memory."""

import sys
from collections.abc import Hashable
from dataclasses import replace
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from ltm_bench.core.messages import Verdict
from ltm_bench.log.controls import KINDS
from ltm_bench.log.manifest import Manifest
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.course import thinned
from ltm_bench.score.results.examples import Controlled, ExampleResult, Needle, Question, ScenarioResult
from ltm_bench.score.results.published_runs import BEGINNING
from ltm_bench.score.results.run import Results

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

_NONE: set[str] = set()
"""Which fields were set: pydantic would keep a set of names for every object."""


class Thinner:
    """Thins runs, one after the other; what several of them have in common is kept once."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def thin(self, manifest: Manifest, results: Results) -> Scored:
        """Return a run without what no comparison looks at."""
        common = {
            name: self._once(manifest.model_dump_json(include={name}), getattr(manifest, name))
            for name in ("suite", "agent", "filler", "scorers")
        }
        kept = {
            "examples": [self._example(each) for each in results.examples],
            "scenarios": [self._scenario(each) for each in results.scenarios],
            "operations": [_without(each, along=()) for each in results.operations],
            "costs": _without(results.costs, accounts=[], usage={}),
            "course": thinned(results.course),
            "latency": results.latency and _without(results.latency, percentiles={}),
            "outcomes": self._once(tuple(results.outcomes), results.outcomes),
        }
        return Scored(_without(manifest, **common), _without(results, **kept, **_UNSEEN))

    def _once(self, key: Hashable, value: T) -> T:
        known: T = self._known.setdefault(key, value)
        return known

    def _scenario(self, scenario: ScenarioResult) -> ScenarioResult:
        key = (scenario.name, scenario.skills, scenario.n, scenario.chance)
        if key in self._known:
            return cast(ScenarioResult, self._known[key])
        unseen = dict.fromkeys(("score", "score_so_far", "interval", "guessed", "ranking"))
        return self._once(key, _without(scenario, summary="", outcomes={}, lost={}, **unseen))

    def _example(self, example: ExampleResult) -> ExampleResult:
        return replace(
            example,
            id=sys.intern(example.id),
            scenario=sys.intern(example.scenario),
            span=0,
            overrun=0,
            needles=_looked_at(example),
            questions=[self._question(each) for each in example.questions],
            written=None,
            ingestion=None,
        )

    def _question(self, question: Question) -> Question:
        unseen: Any = dict.fromkeys(("turn", "at", "retrieval", "usage", "seconds", "dollars", "ladder"))
        return replace(
            question,
            text=sys.intern(question.text),
            expected=sys.intern(question.expected),
            scorer=sys.intern(question.scorer),
            verdict=self._once(
                (question.outcome, question.score), Verdict(question.outcome, question.score, "")
            ),
            controls=question.controls and _without(question.controls, **self._answers(question.controls)),
            reply=question.reply and sys.intern(question.reply),
            chance=0.0,
            in_words="",
            doubt="",
            decisive=(),
            **unseen,
        )

    def _answers(self, controls: Controlled) -> dict[str, Any]:
        answers = {kind: getattr(controls, kind) for kind in KINDS}
        return {
            kind: each
            and self._once(("control", each.outcome, each.score), _without(each, reply="", reason=""))
            for kind, each in answers.items()
        }


_UNSEEN: Any = {
    **dict.fromkeys(("aspects", "audits", "raters", "skills", "distances", "needle_recall"), ()),
    **{key: {} for key in ("references", "decided_by", "environment")},
    **dict.fromkeys(("ranking", "writing", "leaks", "heard")),
}


def _without(model: M, **instead: Any) -> M:
    """Return a copy with other values, of which pydantic does not note which were set."""
    return type(model).model_construct(_NONE, **(dict(model) | instead))


def _looked_at(example: ExampleResult) -> list[Needle]:
    """Return the needles from which questions' distances are measured, and the first ones of a public set's history."""
    public = any(question.published is not None for question in example.questions)
    kept = dict(enumerate(example.needles[: BEGINNING if public else 0]))
    for question in example.questions:
        told = [i for i, each in enumerate(example.needles) if each.position < (question.position or 0)]
        for last in told[-1:]:
            kept.setdefault(last, replace(example.needles[last], text=""))
    return [kept[i] for i in sorted(kept)]
