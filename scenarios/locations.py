"""Locations: places in a valley are described one by one, each from the last; where is the last from the first?"""

from ltm_bench import Ask, Dice, Script, Tell, displaced, scenario

PLACES = (
    "chapel", "lime kiln", "quarry", "weir", "charcoal hut", "mill pond", "hunting lodge", "sheep fold",
    "watchtower", "cheese dairy", "toll house", "salt spring",
)  # fmt: skip

WAYS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}

FIRST = "I have been walking a lot in our valley. My walks begin at the {place}."
NEXT = (
    "In the valley, the {place} lies {distance} km {way} of the {before}.",
    "I have found another place in the valley: {distance} km {way} of the {before} there is the {place}.",
    "From the {before} in the valley I went {distance} km {way}, and there was the {place}.",
)
QUESTION = (
    "How far is the {end} from the {start} in our valley? Say how many km it lies to the north or the south of it, "
    "and how many to the east or the west."
)
FORGET = "Enough of the valley. If I tell you about another one, its places lie elsewhere."


@scenario(skills={"recall", "spatial", "integration"}, topics={"places"}, forget=FORGET)
def locations(dice: Dice, *, known: int = 5, farthest: int = 4, places: tuple[str, ...] = PLACES) -> Script:
    """Tell `known` places, one to `farthest` km from each other; ask for the way from the first to the last, in all."""
    if not 2 <= known <= len(places):
        raise ValueError(f"known = {known}: from 2 to {len(places)} places are possible")
    start, *others = dice.sample(places, known)
    yield Tell(FIRST.format(place=start), at=0.0)
    before, east, north = start, 0, 0
    for i, place in enumerate(others, start=1):
        way, distance = dice.choice(tuple(WAYS)), dice.integer(1, farthest)
        if i == known - 1 and (east + WAYS[way][0] * distance, north + WAYS[way][1] * distance) == (0, 0):
            distance += 1  # nobody asks for the way to where one is
        east, north = east + WAYS[way][0] * distance, north + WAYS[way][1] * distance
        text = dice.choice(NEXT).format(place=place, before=before, distance=distance, way=way)
        yield Tell(text, at=i / known)
        before = place
    yield Ask(QUESTION.format(start=start, end=before), expect=displaced(east=east, north=north), at=1.0)
