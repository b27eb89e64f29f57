"""Table: which replies tell the whole way."""

import pytest

from ltm_bench import Outcome, follows_route

PLACES = ("Windmill", "Fish Market", "Statue of Founder", "Cinema", "Ice Rink")
LEGS = [("east", 4, "Fish Market"), ("west", 3, "Statue of Founder"), ("north", 1, "Cinema")]
EXPECT = follows_route("Windmill", LEGS, among=PLACES)
RIGHT, PARTIAL, WRONG = Outcome.CORRECT, Outcome.PARTIAL, Outcome.WRONG
TABLE = [
    ("From the Windmill stay eastbound for 4 km until you reach the Fish Market, go 3 km west to the Statue of Founder, and continue northbound for 1 km to the Cinema.", RIGHT, "eastbound"),
    ("From the Windmill go 4 km east to the Fish Market, then 3 km west to the Statue of Founder and 1 km north to the Cinema.", RIGHT, "in one sentence"),
    ("1. Start at the Windmill.\n2. Travel 4 KM East to the **Fish Market**.\n3. Head west for 3 km to reach the Statue of the Founder.\n4. Go north for one kilometre to the Cinema.", RIGHT, "a list, with words for numbers"),
    ("1. Start at the Windmill, in the centre.\n2. Travel east to the Fish Market (4 km).\n3. West to the Statue of Founder (3 km).\n4. North to the Cinema (1 km).", RIGHT, "the distance last"),
    ("Windmill -> 4km E -> Fish Market -> 3km W -> Statue of Founder -> 1km N -> Cinema", RIGHT, "arrows and letters"),
    ("Fish Market: 4 km east\nStatue of Founder: 3 km west\nCinema: 1 km north", RIGHT, "the place first"),
    ('[{"to": "Fish Market", "direction": "east", "km": 4}, {"to": "Statue of Founder", "direction": "west", "km": 3}, {"to": "Cinema", "direction": "north", "km": 1}]', RIGHT, "JSON"),
    ("The way from the Windmill to the Cinema would be to travel 4 km east to the Fish Market, 3 km west to the Statue of Founder, and 1 km north to the Cinema.", RIGHT, "the end is named first"),
    ("**Travel to the Fish Market**: head east to reach the Fish Market, which is 4 km away. Head 3 km west from the Fish Market to the Statue of Founder. From there go 1 km northwards to the Cinema.", RIGHT, "a place named twice"),
    ("Go 4 km east to the Fish Market, 3 km west to the Statue of Founder, 1 km north to the Cinema.\nSo: Windmill -> Fish Market -> Statue of Founder -> Cinema, 8 km in all.", RIGHT, "a recap and a total"),
    ("Go 4 km east to the Fish Market, 3 km west to the Statue of Founder, 1 km north to the Cinema. In short: Fish Market (4 km east), Statue of Founder (3 km west), Cinema (1 km north).", RIGHT, "a recap with its distances"),
    ("Go 4 km east to the Fish Market, 3 km west to the Statue of Founder, 1 km north to the Cinema. Alternatively, go 1 km east to the Statue of Founder and 1 km north.", RIGHT, "an alternative after it"),
    ("Go 4 km east to the Fish Market, 3 km west to find the Statue of the town's Founder, 1 km north to the Cinema.", RIGHT, "whose founder it is"),
    ("Go 4 km east to the Fish Market, 3 km west to the Statue of Founder, a further kilometre north to the Cinema.", RIGHT, "an article for one"),
    ("Go 1 km east to the Statue of Founder, then 1 km north to the Cinema.", WRONG, "the same net displacement by another way"),
    ("Go 4 km east to the Fish Market, 3 km east to the Statue of Founder, 1 km north to the Cinema.", WRONG, "a wrong direction"),
    ("Go 4 km east to the Fish Market, 2 km west to the Statue of Founder, 1 km north to the Cinema.", WRONG, "a wrong distance"),
    ("Go 4 km east to the Fish Market and 3 km west to the Statue of Founder.", PARTIAL, "the end is missing: one joint of two is right"),
    ("Go 4 km east to the Fish Market, 3 km west to the Statue of Founder, 1 km north to the Cinema, 2 km south to the Ice Rink.", PARTIAL, "too far: two joints of three"),
    ("Go 4 km north-east to the Fish Market, 3 km west to the Statue of Founder, 1 km north to the Cinema.", PARTIAL, "a direction between two: one joint of two is right"),
    ("Windmill, Fish Market, Statue of Founder, Cinema.", WRONG, "no distances and directions"),
    ("How do I get from the Windmill to the Cinema in my town?", WRONG, "an echo of the question"),
    ("I'm sorry, you haven't told me about any places.", Outcome.ABSTAINED, "an abstention"),
    ("", Outcome.MALFORMED, "nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "outcome", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_every_leg_must_be_told_in_order(reply: str, outcome: Outcome, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.outcome is outcome, verdict.reason


def test_a_place_may_be_spelt_as_in_america() -> None:
    expect = follows_route("Harbour", [("east", 2, "Theatre")], among=("Harbour", "Theatre", "Library"))
    assert expect.verdict("2 kilometers east, Theater", []).outcome is RIGHT
