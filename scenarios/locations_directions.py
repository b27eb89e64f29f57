"""Locations and directions: each place in a town is described from the one before; what is the whole route?

Its texts are in `locations_directions.json`.
"""

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

MESSAGES: Mapping[str, tuple[str, ...]] = content(__file__)["messages"]


@scenario(
    skills={"recall", "spatial", "integration"}, topics={"places"}, forget=MESSAGES["forget"], version=3
)
def locations_directions(
    dice: Dice,
    *,
    known: int = 6,
    farthest: int = 4,
    places: tuple[str, ...] = PLACES,
    next_: tuple[str, ...] = MESSAGES["next"],
) -> Script:
    """Describe `known` places, one to `farthest` km apart; then ask for the route through all of them."""
    if not 2 <= known <= len(places):
        raise ValueError(f"known = {known}: from 2 to {len(places)} places are possible")
    start, *others = dice.hand("places", places, known)
    yield Tell(dice.choice(MESSAGES["first"]).format(place=start), at=0.0)
    before, legs = start, []
    walked, texts = walk(dice, known - 1, farthest), cycle(dice.shuffled(next_))
    for i, (place, (way, distance, *_), text) in enumerate(zip(others, walked, texts, strict=False), start=1):
        told = text.format(before=before, direction=way, distance=distance, place=place)
        yield Tell(told, at=i / known)
        legs.append((way, distance, place))
        before = place
    question = dice.choice(MESSAGES["question"]).format(start=start, end=before)
    form = dice.choice(MESSAGES["form"])
    yield Ask(f"{question} {form}", expect=follows_route(start, legs, among=places), at=1.0)
