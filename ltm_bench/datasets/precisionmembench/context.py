"""What PrecisionMemBench puts into a context: beliefs that are always there, and those that a memory returns. Pure.

The memory returns beliefs for a query; the program adds the pinned ones and the open questions of the user and the
scope, and the participants of a relation that came (`src/adapters/baseAdapter.ts`).
"""

from collections.abc import Iterator, Mapping, Sequence
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

    def kept(name: str, *, question: bool) -> bool:
        belief = beliefs[name]
        open_ = not belief.get("resolved_at") and (question or not belief.get("superseded_by"))
        return belief["pinned"] and here(belief) and open_ and (belief["type"] == "open_question") is question

    pinned = [name for name in beliefs if kept(name, question=False)]
    questions = [name for name in beliefs if kept(name, question=True)]
    came = [name for name in list(dict.fromkeys(found))[: most_of(case)] if name not in pinned]
    related = (name for each in came for name in beliefs[each].get("participants") or ())
    relevant = [
        *came,
        *(n for n in related if n in beliefs and n not in (*pinned, *came) and here(beliefs[n])),
    ]
    most = int(budget.get("maxBeliefs", MOST))
    room = max(0, most - len(pinned))
    return Surfaced(relevant[:room], pinned[:most], questions[: int(budget.get("maxQuestions", QUESTIONS))])


def row_of(case: Mapping[str, Any], context: Surfaced, beliefs: Mapping[str, Belief]) -> dict[str, Any]:
    """Return the row of a published report about a query, as `score published` reads it."""
    pinned = {name for name, each in beliefs.items() if each["pinned"] and each["user_id"] == USER}
    score = score_case(case["expect"], context, pinned)
    return {
        "caseId": case["caseId"],
        "category": case["category"],
        "pinnedBeliefs": context.pinned,
        "relevantBeliefs": context.relevant,
        "retrievedQuestions": context.questions,
        "retrievalPrecision": score.precision,
        "retrievalRecall": score.recall,
        "passed": not score.failures,
        "failures": list(_said(score.failures)),
    }


def row_of_turn(case: Mapping[str, Any], turn: Mapping[str, Any], context: Surfaced) -> dict[str, Any]:
    """Return the row of a published report about a turn of a session."""
    score = score_turn(turn["expect"], context)
    return {
        "caseId": case["caseId"],
        "category": "Session-level noise isolation",
        "turnIndex": turn["turnIndex"],
        "retrievedBeliefIds": context.relevant,
        "pinnedBeliefIds": context.pinned,
        "driftScore": 0.0 if score.precision is None else 1 - score.precision,
        "retrievalPrecision": score.precision,
        "retrievalRecall": score.recall,
        "passed": not score.failures,
        "failures": list(_said(score.failures)),
    }


def _said(failures: int) -> Iterator[str]:
    if failures:
        yield "1 rule is broken" if failures == 1 else f"{failures} rules are broken"
