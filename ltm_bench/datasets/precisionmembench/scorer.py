"""The scorer of PrecisionMemBench (`retrieval.external.eval.test.ts`, `session-retrieval…`, `buildRetrievalReport.ts`).

A query retrieves *relevant* beliefs; *pinned* ones are always there, and open *questions* stand apart. What is expected
of each is a mapping of rules to ids.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

STRUCTURAL = frozenset(
    (
        "Scope disambiguation",
        "Supersession chain exclusion",
        "Type routing and open questions",
        "Budget eviction and capacity",
        "Cross-user isolation",
        "Ranking stability",
        "Persona prelude content",
    )
)
"""Categories whose cases may pass by retrieving nothing."""

Ids = Sequence[str]
Rules = Mapping[str, Any]


class Surfaced(NamedTuple):
    """What a memory returned for a query, by ids."""

    relevant: Ids
    pinned: Ids = ()
    questions: Ids | None = ()
    """None if a report does not say."""


class CaseScore(NamedTuple):
    """The scores of a query."""

    precision: float | None
    """None if nothing was expected and nothing came; in sessions, if nothing came."""
    recall: float | None
    """None if nothing was expected."""
    forbidden: int
    """Ids among the retrieved ones that must not be there."""
    failures: int
    """Broken rules, those about the persona's prelude aside."""


def score_case(expect: Rules, found: Surfaced, kept: Collection[str]) -> CaseScore:
    """Return the scores of a single query.

    Args:
        expect: The case's rules.
        found: What was retrieved.
        kept: Ids that the seed pins for the user; as required ids they are not counted as retrieved.
    """
    rules = expect.get("relevantBeliefs") or {}
    forbidden, failures = _broken(expect, found)
    count = len(set(found.relevant))
    failures += count > rules.get("maxCount", count)
    failures += count < rules.get("minCount", 0)
    for first, second in rules.get("orderedBefore", ()):
        here = [each for each in found.relevant if each in (first, second)]
        failures += (first not in here) + (second not in here) + (here == [second, first])
    only = rules.get("shouldOnlyInclude")
    wanted = set(rules.get("mustInclude", ())) - set(kept) if only is None else set(only)
    hits = len(wanted & set(found.relevant))
    precision = None if not count and not wanted else hits / count if count else 0.0
    return CaseScore(precision, hits / len(wanted) if wanted else None, forbidden, failures)


def score_turn(expect: Rules, found: Surfaced) -> CaseScore:
    """Return the scores of a turn of a session, where pinned beliefs count as retrieved."""
    rules = expect.get("relevantBeliefs") or {}
    forbidden, failures = _broken(expect, found)
    only = rules.get("shouldOnlyInclude")
    wanted = set(rules.get("mustInclude", ()) if only is None else only)
    hits = len(wanted & {*found.relevant, *found.pinned})
    count = len(set(found.relevant))
    return CaseScore(
        hits / count if count else None, hits / len(wanted) if wanted else None, forbidden, failures
    )


def pass_type(category: str, precision: float | None) -> str:
    """Return why a case passed: `active retrieval`, or how it passed without retrieving anything right."""
    if precision is not None and precision > 0:
        return "active retrieval"
    return "structural" if category in STRUCTURAL else "trivially empty"


def _broken(expect: Rules, found: Surfaced) -> tuple[int, int]:
    """Return how many forbidden ids were retrieved, and how many rules about membership are broken."""
    rules, together = expect.get("relevantBeliefs") or {}, {*found.relevant, *found.pinned}
    missing = sum(
        each not in together for key in ("mustInclude", "shouldInclude") for each in rules.get(key, ())
    )
    forbidden = len(together & set(rules.get("mustExclude", ())))
    forbidden += len(together & set((expect.get("noiseCheck") or {}).get("mustNotSurface", ())))
    for name, ids in (("pinnedFacts", found.pinned), ("openQuestions", found.questions)):
        if ids is not None:
            rule = expect.get(name) or {}
            missing += len(set(rule.get("mustInclude", ())) - set(ids))
            forbidden += len(set(rule.get("mustExclude", ())) & set(ids))
    only = rules.get("shouldOnlyInclude")
    surplus = 0 if only is None else len(set(only) ^ set(found.relevant))
    return forbidden, missing + forbidden + surplus
