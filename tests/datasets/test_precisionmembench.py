"""PrecisionMemBench: what its scorer counts as recall, precision, forbidden and passed."""

from typing import Any

import pytest

from ltm_bench.datasets.precisionmembench.scorer import Surfaced, pass_type, score_case, score_turn

ONLY_A = {"relevantBeliefs": {"shouldOnlyInclude": ["a"]}}
NOTHING: dict[str, Any] = {"relevantBeliefs": {"shouldOnlyInclude": []}}


@pytest.mark.parametrize(
    ("expect", "found", "scores"),
    [
        (ONLY_A, Surfaced(["a"]), (1.0, 1.0, 0, 0)),
        (ONLY_A, Surfaced(["a", "b"]), (0.5, 1.0, 0, 1)),
        (ONLY_A, Surfaced([]), (0.0, 0.0, 0, 1)),
        (ONLY_A, Surfaced([], pinned=["a"]), (0.0, 0.0, 0, 1)),
        (NOTHING, Surfaced([]), (None, None, 0, 0)),
        (NOTHING, Surfaced(["a"]), (0.0, None, 0, 1)),
        ({"relevantBeliefs": {"mustInclude": ["a", "kept"]}}, Surfaced(["a"], ["kept"]), (1.0, 1.0, 0, 0)),
        ({"relevantBeliefs": {"mustExclude": ["a"]}}, Surfaced([], ["a"]), (None, None, 1, 1)),
        ({"pinnedFacts": {"mustExclude": ["a"]}}, Surfaced([], ["a"]), (None, None, 1, 1)),
        ({"openQuestions": {"mustInclude": ["q"]}}, Surfaced([]), (None, None, 0, 1)),
        ({"openQuestions": {"mustInclude": ["q"]}}, Surfaced([], (), None), (None, None, 0, 0)),
        ({"relevantBeliefs": {"maxCount": 1}}, Surfaced(["a", "b"]), (0.0, None, 0, 1)),
        ({"relevantBeliefs": {"minCount": 1}}, Surfaced([]), (None, None, 0, 1)),
        ({"relevantBeliefs": {"orderedBefore": [["a", "b"]]}}, Surfaced(["a", "b"]), (0.0, None, 0, 0)),
        ({"relevantBeliefs": {"orderedBefore": [["a", "b"]]}}, Surfaced(["b", "a"]), (0.0, None, 0, 1)),
        ({"relevantBeliefs": {"orderedBefore": [["a", "b"]]}}, Surfaced(["b"]), (0.0, None, 0, 1)),
    ],
)
def test_a_query_is_scored_as_the_published_program_does(
    expect: dict[str, Any], found: Surfaced, scores: tuple[Any, ...]
) -> None:
    assert tuple(score_case(expect, found, {"kept"})) == scores


def test_in_a_session_pinned_beliefs_count_and_noise_is_forbidden() -> None:
    assert tuple(score_turn(ONLY_A, Surfaced(["b"], ["a"], None))) == (1.0, 1.0, 0, 2)
    assert tuple(score_turn(ONLY_A, Surfaced([], [], None))) == (None, 0.0, 0, 1)
    noise = {"noiseCheck": {"mustNotSurface": ["x", "y"]}}
    assert tuple(score_turn(noise, Surfaced(["x"], ["y"], None))) == (0.0, None, 2, 2)


def test_who_retrieves_nothing_passes_only_structurally_or_trivially() -> None:
    assert pass_type("Alias resolution", 0.5) == "active retrieval"
    assert pass_type("Scope disambiguation", None) == "structural"
    assert pass_type("Alias resolution", 0.0) == "trivially empty"
