"""Locations and directions: each place in a town is described from the one before; what is the whole route?"""

from ltm_bench import Ask, Dice, Script, Tell, follows_route, scenario
from ltm_bench.script.walks import walk

PLACES = (
    "Windmill", "Old Bridge", "Observatory", "Fish Market", "Opera", "Brewery", "Ferry Landing", "Botanical Garden",
    "Clock Tower", "Ice Rink", "Town Hall", "Cinema", "Aquarium", "Bandstand", "Barracks", "Bowling Green", "Bus Depot",
    "Casino", "Cathedral", "Cemetery", "Concert House", "Carousel", "Courthouse", "Cricket Ground", "Dairy",
    "Dance School", "Distillery", "Embassy", "Fire Station", "Fountain", "Gasworks", "Glass Factory", "Granary",
    "Gymnasium", "Hospital", "Jail", "Kindergarten", "Laundry", "Library", "Lido", "Mint", "Monastery", "Museum",
    "Music Shop", "Orangery", "Orphanage", "Planetarium", "Playground", "Post Office", "Pottery", "Racecourse",
    "Tram Shed", "Sawmill", "Shipyard", "Stadium", "Tannery", "Theatre", "University", "Waterworks", "Zoo",
)  # fmt: skip

FIRST = (
    "In the middle of the town in which I grew up, there is the {place}.",
    "Let me tell you about the town in which I grew up, beginning with the {place}.",
    "I grew up in a town whose heart is the {place}.",
    "When I think of my home town, I think of the {place} first.",
)

NEXT = (
    "From the {before} it is {distance} km {direction} to the {place}.",
    "The {place} is another place in my town: you find it {distance} km to the {direction} of the {before}.",
    "If you go {distance} km {direction} from the {before} in my town, you come to the {place}.",
    "My town has a {place}, too. It lies {distance} km {direction} of the {before}.",
    "As a child I often walked from the {before} in my town to the {place}, {distance} km to the {direction}.",
    "Set out from the {before} in my town and walk {distance} km {direction}: there stands the {place}.",
)

QUESTIONS = (
    "How do I get from the {start} to the {end} in my town, by way of all the places in between, in the order in which "
    "I told you about them?",
    "Please describe the way from the {start} to the {end} in my town. It passes every place in between that I told "
    "you "
    "about, in the order in which I did.",
    "A friend wants to walk through my town from the {start} to the {end}, from place to place, in the order in which "
    "I "
    "told you about them. How does she go?",
)

FORMS = (
    "Write one leg per line in the form “distance in km, direction, place at the end of the leg”, and nothing else.",
    "One line for each leg, please: how many km, in which direction, to which place. Write no other text.",
    "Give each leg a line of its own, as “number of km, direction, next place”, and add nothing.",
)

FORGET = "That is enough about the town in which I grew up. You may forget its places."


@scenario(skills={"recall", "spatial", "integration"}, topics={"places"}, forget=FORGET, version=2)
def locations_directions(
    dice: Dice,
    *,
    known: int = 6,
    farthest: int = 4,
    places: tuple[str, ...] = PLACES,
    next_: tuple[str, ...] = NEXT,
) -> Script:
    """Describe `known` places, one to `farthest` km apart; then ask for the route through all of them."""
    if not 2 <= known <= len(places):
        raise ValueError(f"known = {known}: from 2 to {len(places)} places are possible")
    start, *others = dice.hand("places", places, known)
    yield Tell(dice.choice(FIRST).format(place=start), at=0.0)
    before, legs = start, []
    walked = list(walk(dice, known - 1, farthest))
    for i, (place, (way, distance, *_)) in enumerate(zip(others, walked, strict=True), start=1):
        text = dice.choice(next_).format(before=before, direction=way, distance=distance, place=place)
        yield Tell(text, at=i / known)
        legs.append((way, distance, place))
        before = place
    question = f"{dice.choice(QUESTIONS).format(start=start, end=before)} {dice.choice(FORMS)}"
    yield Ask(question, expect=follows_route(start, legs, among=places), at=1.0)
