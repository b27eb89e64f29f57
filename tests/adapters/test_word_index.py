"""Passages found by their words, and two rankings made one."""

import math

import pytest

from ltm_bench.adapters.memories.memory_store import WordIndex, fused

TEXTS = [
    "My parrot is called Zebedee.",
    "The weather in Ribe is mild, and the ferry to the island leaves on time.",
    "Parrots like nuts.",
    "I bought a boat.",
]


def numbers(index: WordIndex, query: str, limit: int = 10, size: int = len(TEXTS)) -> list[int]:
    return [number for number, _ in index.nearest(query, limit, size)]


def test_passages_that_share_rare_words_come_first_and_no_others_come() -> None:
    index = WordIndex(TEXTS)
    assert numbers(index, "What is my parrot called?") == [0, 2]
    assert numbers(index, "the ferry") == [1]
    assert numbers(index, "a giraffe") == []
    assert numbers(index, "") == []


def test_the_scores_are_those_of_bm25() -> None:
    # The words that count: parrot call zebede, seven of the weather's, parrot lik nut, bought boat: 3.75 on average.
    def part(of: int, words: int) -> float:
        rarity = math.log(1 + (4 - of + 0.5) / (of + 0.5))
        return rarity * 2.2 / (1 + 1.2 * (0.25 + 0.75 * words / 3.75))

    found = WordIndex(TEXTS).nearest("parrot called", 10, 4)
    assert [number for number, _ in found] == [0, 2]
    assert [score for _, score in found] == pytest.approx([part(2, 3) + part(1, 3), part(2, 3)], abs=1e-5)


def test_a_search_sees_only_what_was_there_when_it_began() -> None:
    index = WordIndex(TEXTS[:2])
    before = index.nearest("parrot", 10, 2)
    index.add(TEXTS[2:])
    assert index.nearest("parrot", 10, 2) == before
    assert numbers(index, "parrot") == [0, 2]


def test_ties_keep_the_order_of_the_conversation_and_the_limit_holds() -> None:
    index = WordIndex(["My cat sleeps."] * 5)
    assert numbers(index, "cat", 3, 5) == [0, 1, 2]


@pytest.mark.parametrize(
    ("rankings", "merged"),
    [
        ([["a", "b", "c"], ["c", "a"]], ["a", "c", "b"]),
        ([["a"], ["b"]], ["a", "b"]),
        ([[], ["b", "a"]], ["b", "a"]),
        ([[], []], []),
    ],
)
def test_rankings_are_merged_by_rank(rankings: list[list[str]], merged: list[str]) -> None:
    assert [key for key, _ in fused(rankings, 10)] == merged
