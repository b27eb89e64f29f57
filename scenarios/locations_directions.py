"""Locations and directions: places in a town are described one by one, each from the last; what is the whole way?"""

from ltm_bench import Ask, Dice, Script, Tell, follows_route, scenario

PLACES = (
    "Windmill", "Old Bridge", "Observatory", "Fish Market", "Opera", "Brewery", "Ferry Landing", "Botanical Garden",
    "Clock Tower", "Ice Rink", "Town Hall", "Cinema",
)  # fmt: skip

DIRECTIONS = ("north", "south", "east", "west")

FIRST = "In the middle of the town in which I grew up there is the {place}."

NEXT = (
    "From the {before} it is {distance} km {direction} to the {place}.",
    "The {place} is another place in my town: you find it {distance} km to the {direction} of the {before}.",
    "If you go {distance} km {direction} from the {before} in my town, you come to the {place}.",
)

QUESTION = (
    "How do I get from the {start} to the {end} in my town, by way of all the places in between, in the order in which "
    "I told you about them? Give the distance, the direction and the next place for every leg of the way."
)

FORGET = "That is enough about the town in which I grew up. You may forget its places."


@scenario(skills={"recall", "spatial", "integration"}, topics={"places"}, forget=FORGET)
def locations_directions(
    dice: Dice,
    *,
    known: int = 6,
    farthest: int = 4,
    places: tuple[str, ...] = PLACES,
    next_: tuple[str, ...] = NEXT,
) -> Script:
    """Tell `known` places, one to `farthest` km from each other; then ask for the way through all of them."""
    if not 2 <= known <= len(places):
        raise ValueError(f"known = {known}: from 2 to {len(places)} places are possible")
    start, *others = dice.sample(places, known)
    yield Tell(FIRST.format(place=start), at=0.0)
    before, legs = start, []
    for i, place in enumerate(others, start=1):
        leg = (dice.choice(DIRECTIONS), dice.integer(1, farthest), place)
        text = dice.choice(next_).format(before=before, direction=leg[0], distance=leg[1], place=place)
        yield Tell(text, at=i / known)
        legs.append(leg)
        before = place
    yield Ask(
        QUESTION.format(start=start, end=before), expect=follows_route(start, legs, among=places), at=1.0
    )
