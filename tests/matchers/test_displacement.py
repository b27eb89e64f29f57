"""`displaced`: which right answer would it refuse, which wrong one would it accept?"""

import pytest

from ltm_bench import Outcome, displaced


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("3 km north and 2 km west", Outcome.CORRECT),
        ("It is 2 kilometres to the west and 3 kilometres to the north of it.", Outcome.CORRECT),
        ("three km north, two km west", Outcome.CORRECT),
        ("North: 3 km, West: 2 km", Outcome.CORRECT),
        ("5 km north minus 2 km south gives 3 km north; and 2 km west.", Outcome.CORRECT),
        ("**3 km north** and **2 km west** (about 3.6 km as the crow flies).", Outcome.CORRECT),
        ("3 km south and 2 km west", Outcome.WRONG),
        ("2 km north and 3 km west", Outcome.WRONG),
        ("3 km north", Outcome.WRONG),
        ("5 km", Outcome.MALFORMED),
        ("I do not know how far it is.", Outcome.ABSTAINED),
        ("", Outcome.MALFORMED),
    ],
)
def test_the_last_distance_on_each_axis_counts(reply: str, outcome: Outcome) -> None:
    verdict = displaced(east=-2, north=3).verdict(reply, [])
    assert (verdict.outcome, verdict.score) == (outcome, float(outcome is Outcome.CORRECT))


@pytest.mark.parametrize(
    "reply", ["4 km south", "4 km south, 0 km east", "0 km west and 4 km south", "no km east, 4 km south"]
)
def test_an_axis_on_which_nothing_lies_may_be_left_out(reply: str) -> None:
    assert displaced(east=0, north=-4).verdict(reply, []).outcome is Outcome.CORRECT
