"""Walks: no two places coincide, and the last place has a distance on both axes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ltm_bench import Dice
from ltm_bench.script.walks import WAYS, walk


@given(name=st.text(), legs=st.integers(0, 60), farthest=st.integers(1, 5))
def test_no_two_places_of_a_walk_coincide(name: str, legs: int, farthest: int) -> None:
    places = [(0, 0), *((leg.east, leg.north) for leg in walk(Dice(name), legs, farthest))]
    assert len(set(places)) == len(places) == legs + 1


@given(name=st.text(), legs=st.integers(1, 20), farthest=st.integers(1, 5))
def test_every_leg_starts_where_the_last_one_ended(name: str, legs: int, farthest: int) -> None:
    walked = list(walk(Dice(name), legs, farthest))
    places = [(0, 0), *((leg.east, leg.north) for leg in walked)]
    for leg, (before, after) in zip(walked, pairwise(places), strict=True):
        east, north = WAYS[leg.way]
        assert after == (before[0] + east * leg.distance, before[1] + north * leg.distance)
        assert leg.distance >= 1


@given(name=st.text(), legs=st.integers(2, 12), farthest=st.integers(2, 5))
def test_the_last_place_lies_off_both_axes_where_there_is_one(name: str, legs: int, farthest: int) -> None:
    *before, last = walk(Dice(name), legs, farthest)
    seen = {(0, 0), *((leg.east, leg.north) for leg in before)}
    steps = [(x * n, y * n) for x, y in WAYS.values() for n in range(1, farthest + 1)]
    near = {(before[-1].east + east, before[-1].north + north) for east, north in steps}
    assert (last.east and last.north) or not [each for each in near - seen if all(each)]
    assert last.distance <= farthest or not near - seen
