"""Locations and directions: each place in a town is described from the one before; what is the whole route?

Its texts are in `locations_directions.json`.
"""

import re
from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, follows_route, scenario
from ltm_bench.script.walks import walk

PLACES = (
    "Windmill", "Old Bridge", "Observatory", "Fish Market", "Opera", "Brewery", "Ferry Landing", "Botanical Garden",
    "Clock Tower", "Ice Rink", "Town Hall", "Cinema", "Aquarium", "Bandstand", "Barracks", "Bowling Green", "Bus Depot",
    "Casino", "Cathedral", "Cemetery", "Concert House", "Carousel", "Courthouse", "Cricket Ground", "Dairy",
    "Dance School", "Distillery", "Castle", "Fire Station", "Fountain", "Gasworks", "Glass Factory", "Granary",
    "Gymnasium", "Hospital", "Market Hall", "Kindergarten", "Laundry", "Library", "Lido", "Harbour", "Monastery",
    "Museum",
    "Music Shop", "Pavilion", "Skate Park", "Planetarium", "Playground", "Post Office", "Pottery", "Racecourse",
    "Tram Shed", "Sawmill", "Shipyard", "Stadium", "Tannery", "Theatre", "University", "Waterworks", "Zoo",
)  # fmt: skip

_CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]
PEOPLE: tuple[str, ...] = _CONTENT["pools"]["people"]
"""Whose home town it is, if there are several."""

_MINE = re.compile(r"\b(?:my|our)(?= home town)", re.IGNORECASE)


@scenario(
    skills={"recall", "spatial", "integration"},
    topics={"places"},
    forget=lambda given: MESSAGES["forget_several" if given["several"] else "forget"],
    version=5,
    decoys={"several": True},
)
def locations_directions(
    dice: Dice,
    *,
    known: int = 6,
    farthest: int = 4,
    several: bool = False,
    places: tuple[str, ...] = PLACES,
    next_: tuple[str, ...] = MESSAGES["next"],
) -> Script:
    """Describe `known` places, one to `farthest` km apart; then ask for the route through all of them.

    If there are `several` towns, each example is about that of somebody else.
    """
    if not 2 <= known <= len(places):
        raise ValueError(f"known = {known}: from 2 to {len(places)} places are possible")
    who = dice.card("people", PEOPLE) if several else ""

    def of(text: str) -> str:
        if not several:
            return text
        said = _MINE.sub(f"{who}'s", text).replace("I grew up", f"{who} grew up")
        return said[0].upper() + said[1:] if text[0].isupper() else said

    start, *others = dice.hand("places", places, known)
    yield Tell(of(dice.choice(MESSAGES["first"])).format(place=start), at=0.0)
    before, legs = start, []
    walked, texts = walk(dice, known - 1, farthest), cycle(dice.shuffled(next_))
    for i, (place, (way, distance, *_), text) in enumerate(zip(others, walked, texts, strict=False), start=1):
        told = of(text).format(before=before, direction=way, distance=distance, place=place)
        yield Tell(told, at=i / known)
        legs.append((way, distance, place))
        before = place
    question = of(dice.choice(MESSAGES["question"])).format(start=start, end=before)
    form = dice.choice(MESSAGES["form"])
    yield Ask(f"{question} {form}", expect=follows_route(start, legs, among=places), at=1.0)
