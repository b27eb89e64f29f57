"""What PrecisionMemBench puts into a context: beliefs that are always there, and those that a memory returns. Pure.

The memory returns beliefs for a query; the program adds the pinned ones and the open questions of the user and the
scope, and the participants of a relation that came (`src/adapters/baseAdapter.ts`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ltm_bench.datasets.precisionmembench.scorer import Surfaced, score_case, score_turn

Belief = Mapping[str, Any]

USER = "test-user"
"""Who asks, where a query does not say."""

MOST, QUESTIONS = 20, 15
"""Maximum number of beliefs, and of open questions, where a query does not say."""


def text_of(belief: Belief) -> str:
    """Return a belief as a memory is told it: its names, what it says, and why it matters."""
    names = (belief["canonical_name"], *belief.get("aliases", ()))
    return " ".join(filter(None, (*names, belief["content"], belief.get("why_it_matters"))))


def most_of(case: Mapping[str, Any]) -> int:
    """Return how many beliefs a memory is asked for; 0 if it is not asked."""
    asked = str(case.get("query", case.get("userMessage")))
    return int((case.get("budget") or {}).get("maxBeliefs", MOST)) if asked.strip() else 0


def surfaced(case: Mapping[str, Any], beliefs: Mapping[str, Belief], found: Sequence[str]) -> Surfaced:
    """Return what a context holds for a query or a turn.

    Args:
        case: The query or turn.
        beliefs: All that are known by now, by id.
        found: Those that the memory returned, the nearest first.
    """
    user, budget = case.get("userId", USER), case.get("budget") or {}

    def here(belief: Belief) -> bool:
        return belief["user_id"] == user and bool({*belief["scope"]} & {*case["scope"]})

    def kept(*, question: bool) -> list[str]:
        shut = ("resolved_at",) if question else ("resolved_at", "superseded_by")
        return [
            name
            for name, each in beliefs.items()
            if each["pinned"] and here(each) and not any(map(each.get, shut))
            if (each["type"] == "open_question") is question
        ]

    pinned = kept(question=False)
    came = [name for name in list(dict.fromkeys(found))[: most_of(case)] if name not in pinned]
    related = (name for each in came for name in beliefs[each].get("participants") or ())
    relevant = [
        *came,
        *(n for n in related if n in beliefs and n not in (*pinned, *came) and here(beliefs[n])),
    ]
    most = int(budget.get("maxBeliefs", MOST))
    room = max(0, most - len(pinned))
    questions = kept(question=True)[: int(budget.get("maxQuestions", QUESTIONS))]
    return Surfaced(relevant[:room], pinned[:most], questions)


def row_of(
    case: Mapping[str, Any], asked: Mapping[str, Any], context: Surfaced, beliefs: Mapping[str, Belief]
) -> dict[str, Any]:
    """Return the row of a published report, as `score precisionmembench` reads it; failures are counted, not told.

    Args:
        case: A query, or a session.
        asked: The query itself, or a turn of the session.
        context: What the context holds for it.
        beliefs: All that were known at first, by id.
    """
    if asked is case:
        kept = {name for name, each in beliefs.items() if each["pinned"] and each["user_id"] == USER}
        score = score_case(case["expect"], context, kept)
        more = {
            "category": case.get("category"),
            "relevantBeliefs": context.relevant,
            "pinnedBeliefs": context.pinned,
        }
        more["retrievedQuestions"] = context.questions
    else:
        score = score_turn(asked["expect"], context)
        more = {"category": "Session-level noise isolation", "turnIndex": asked["turnIndex"]}
        more |= {"retrievedBeliefIds": context.relevant, "pinnedBeliefIds": context.pinned}
        more["driftScore"] = 0.0 if score.precision is None else 1 - score.precision
    more |= {
        "retrievalPrecision": score.precision,
        "retrievalRecall": score.recall,
        "forbidden": score.forbidden,
    }
    failures = [f"rules broken: {score.failures}"] if score.failures else []
    return {"caseId": case["caseId"], **more, "passed": not failures, "failures": failures}
