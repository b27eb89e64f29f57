"""Parking: the car is moved now and then; only the last place counts."""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

PLACES = ("harbour", "station", "market", "stadium", "museum", "airport")


@scenario(skills={"recall", "conflict"}, topics={"parking"})
def parking(dice: Dice, *, moves: int = 2) -> Script:
    """Park the car, move it a few times, then ask where it is."""
    told = dice.sample(PLACES, moves + 1)
    for i, place in enumerate(told):
        yield Tell(f"Just so you know: my car is parked at the {place} now.", at=i / len(told))
    expect = names_only(told[-1], among=PLACES, stale=told[:-1])
    yield Ask("Where is my car parked?", expect=expect, at=1.0)
