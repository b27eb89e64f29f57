"""Locations: each place in a valley is described from the one before; where does the last lie from the first?"""

from ltm_bench import Ask, Dice, Script, Tell, displaced, scenario
from ltm_bench.script.walks import walk

PLACES = (
    "chapel", "lime kiln", "quarry", "weir", "charcoal hut", "mill pond", "hunting lodge", "sheep fold",
    "watchtower", "cheese dairy", "toll house", "salt spring", "apiary", "aqueduct", "avalanche gallery", "beaver dam",
    "birch grove", "boat shed", "boundary stone", "plank bridge", "cairn", "campsite", "cave", "cherry orchard",
    "cider press", "copper mine", "crater", "deer park", "fishing jetty", "forester's cottage", "geyser", "glacier",
    "gravel pit", "hay barn", "hermitage", "hop garden", "ice cellar", "inn", "juniper heath", "iron ladder",
    "landslide", "lookout rock", "meteorite", "observatory", "orchid meadow", "peat bog", "ravine", "reservoir",
    "rope ferry",
    "ruined castle", "schoolhouse", "shrine", "ski lift", "smithy", "stalactite grotto", "turbine", "vineyard",
    "waterfall", "wayside cross", "weather station",
)  # fmt: skip

FIRST = (
    "I have been walking a lot in our valley. My walks begin at the {place}.",
    "Our valley is made for walking. I always set out from the {place}.",
    "On Sundays I explore our valley on foot, starting from the {place}.",
    "I am drawing a map of our valley. In the middle of it is the {place}.",
)
NEXT = (
    "In the valley, the {place} lies {distance} km {way} of the {before}.",
    "I have found another place in the valley: {distance} km {way} of the {before} there is the {place}.",
    "From the {before} in the valley I went {distance} km {way}, and there was the {place}.",
    "Today I came to the {place} in the valley. It is {distance} km {way} of the {before}.",
    "For the map of the valley: the {place} is {distance} km {way} of the {before}.",
    "Walk {distance} km {way} from the {before} in our valley and you stand before the {place}.",
)
QUESTIONS = (
    "Where does the {end} lie in our valley, seen from the {start}?",
    "In our valley, how far is the {end} from the {start}, and in which directions?",
    "Imagine standing at the {start} in our valley: how far away is the {end} from there?",
)
FORMS = (
    "Write only how many km it lies to the north or the south and how many to the east or the west, like this: "
    "“11 km north, 12 km west”.",
    "Answer with two distances and nothing else: so many km north or south, so many km east or west.",
    "Give one distance to the north or the south and one to the east or the west, in km, and no other text.",
)
FORGET = "Enough of the valley. If I tell you about another one, its places lie elsewhere."


@scenario(skills={"recall", "spatial", "integration"}, topics={"places"}, forget=FORGET, version=2)
def locations(dice: Dice, *, known: int = 5, farthest: int = 4, places: tuple[str, ...] = PLACES) -> Script:
    """Describe `known` places, one to `farthest` km apart; ask how far, and where, the last one lies from the first."""
    if not 2 <= known <= len(places):
        raise ValueError(f"known = {known}: from 2 to {len(places)} places are possible")
    start, *others = dice.hand("places", places, known)
    yield Tell(dice.choice(FIRST).format(place=start), at=0.0)
    before, walked = start, list(walk(dice, known - 1, farthest))
    for i, (place, leg) in enumerate(zip(others, walked, strict=True), start=1):
        text = dice.choice(NEXT).format(place=place, before=before, distance=leg.distance, way=leg.way)
        yield Tell(text, at=i / known)
        before = place
    question = f"{dice.choice(QUESTIONS).format(start=start, end=before)} {dice.choice(FORMS)}"
    yield Ask(question, expect=displaced(east=walked[-1].east, north=walked[-1].north), at=1.0)
