"""`perf/recitals.py` recites every value in every order, and heaps with and without the guard."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from unittest.mock import patch

import pytest

from ltm_bench import Matcher, Outcome, Turn, Verdict, in_order, names_only, tallies
from ltm_bench.datasets.swim.matcher import answers
from ltm_bench.matchers.reading.text import words
from ltm_bench.runner.references import total
from perf.fuzz import Place
from perf.recitals import SHAPES, NoGuard, heaped, judged, orders, pools

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

VALUES = ("red", "blue", "green")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_recites_all_values_in_their_order(shape: str) -> None:
    assert [word for word in words(SHAPES[shape](VALUES)) if word in VALUES] == list(VALUES)


def test_up_to_four_values_are_recited_in_every_order_and_more_from_each_value_both_ways() -> None:
    assert len(set(orders(("a", "b", "c", "d")))) == 24
    many = set(orders(("a", "b", "c", "d", "e")))
    assert len(many) == 10
    assert {each[0] for each in many} == {each[-1] for each in many} == set("abcde")


def test_values_are_those_that_a_matcher_holds_and_those_that_its_example_was_told() -> None:
    colour = names_only("red", among=("red", "blue", "green"), stale=("blue",))
    assert pools(colour) == [VALUES, ("blue", "red")]
    assert pools(in_order(["well", "roof"], among=("roof", "well", "gate"))) == [("well", "roof", "gate")]
    assert pools(tallies(12)) == []
    assert pools(answers("a published answer")) == []


@dataclass(frozen=True)
class Ends(Matcher):
    among: tuple[str, ...]

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        good = words(reply)[-1] == self.among[0]
        return Verdict(Outcome.CORRECT if good else Outcome.WRONG, float(good), "it is the last word, or not")

    def right(self) -> Sequence[str]:
        return self.among[:1]

    def wrong(self) -> Sequence[str]:
        return self.among[1:]


def test_recitals_that_a_matcher_accepts_are_found_in_every_shape() -> None:
    found = list(judged([Place("colours", "Which one?", Ends(VALUES), [])]))
    assert len(found) == 6 * len(SHAPES)
    right = [(shape, reply) for _, shape, reply, is_right in found if is_right]
    assert Counter(shape for shape, _ in right) == dict.fromkeys(SHAPES, 2)


def test_a_heap_scores_less_with_the_guard_than_without() -> None:
    with patch("ltm_bench.runner.references.Guard", NoGuard):
        bare = heaped("standard", 4_000, 0, None)
    assert total(heaped("standard", 4_000, 0, None)) < total(bare)
