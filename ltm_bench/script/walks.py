"""Walks on a map: seeded legs along the four compass points that never visit a place twice."""

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

from ltm_bench.core.dice import Dice

WAYS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
"""How far east and north one unit of each leads."""


class Leg(NamedTuple):
    """A direction, a distance, and the place it leads to, relative to the start of the walk."""

    way: str
    distance: int
    east: int
    north: int


def walk(dice: Dice, legs: int, farthest: int) -> Iterator[Leg]:
    """Yield this many legs, of one to `farthest` units if there is room.

    No two places coincide, and the last is not due north, south, east or west of the start if that can be avoided, so
    that both its distances can be told.
    """
    east = north = 0
    seen = {(0, 0)}
    for i in range(legs):
        free: list[Leg] = []
        for most in count(farthest):  # a corner needs a longer leg
            reached = (
                Leg(way, distance, east + distance * x, north + distance * y)
                for way, (x, y) in WAYS.items()
                for distance in range(1, most + 1)
            )
            if free := [leg for leg in reached if (leg.east, leg.north) not in seen]:
                break
        askew = [leg for leg in free if leg.east and leg.north] if i == legs - 1 else []
        leg = dice.choice(askew or free)
        east, north = leg.east, leg.north
        seen.add((east, north))
        yield leg
