"""Which distances a reply gives on which axis; north and east are positive."""

import pytest

from ltm_bench.matchers.reading import read
from ltm_bench.matchers.reading.quantities import distances
from tests.pace import cpu, in_proportion

TABLE = [
    ("3 km north and 2 km west", "ns 3, ew -2", "in a sentence"),
    ("8 km S, 1 km E", "ns -8, ew 1", "compass letters"),
    ("S 8 km", "ns -8", "the letter first"),
    ("two kilometres east", "ew 2", "a number in words"),
    ("300 m north", "ns 0.3", "metres"),
    ("8 km to its south", "ns -8", "words between"),
    ("- North: 2 km", "ns 2", "a label"),
    ("North–South: 3 km south", "ns -3", "an axis is a label and no direction"),
    ("North–South: -3 km\nEast–West: +2 km", "ns -3, ew 2", "a sign on an axis"),
    ("0 km to the north or south, 3 km to the east", "ew 3, ns 0", "nothing on one axis"),
    ("no distance north or south, 3 km east", "ew 3, ns 0", "nothing, in words"),
    ("4 + 4 = 8 km north", "ns 8", "a sum counts with its result"),
    ("(4 + 4) 8 km north", "ns 8", "working in brackets"),
    ("4 km + 4 km north", "", "working without its result"),
    ('{"south": 8, "east": 1}', "ns -8, ew 1", "JSON"),
    ("3 km away, on the east side of town", "", "a part of town is no direction"),
    ("3 km northeast", "", "two directions in one are no axis"),
    ("Option N has 2 points.", "", "a letter beside no number"),
]


@pytest.mark.parametrize(("reply", "expected", "why"), TABLE, ids=[why for *_, why in TABLE])
def test_a_distance_is_read_with_its_axis(reply: str, expected: str, why: str) -> None:
    found = [each for block in read(reply).blocks for each in distances(block, 0, len(block.text))]
    assert ", ".join(f"{each.axis} {each.value}" for each in found) == expected


@pytest.mark.slow
@pytest.mark.proof(scenarios=())
@pytest.mark.parametrize(
    "repeated",
    ["1 km north ", "1+", "1 + ", "1 - ", "1   ", "n ", "(1+", "n-s ", "north/south 3 ", "1 km = "],
)
def test_reading_takes_time_in_proportion_to_the_reply(repeated: str) -> None:
    def took(size: int) -> float:
        (block,) = read("so " + repeated * (size // len(repeated))).blocks
        return cpu(lambda: list(distances(block, 0, len(block.text))))

    assert in_proportion(took, 20_000)
