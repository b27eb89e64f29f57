"""Locations: each place in a valley is described from the one before; where does the last lie from the first?

Its texts are in `locations.json`.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, displaced, scenario
from ltm_bench.script.walks import walk

PLACES = (
    "chapel", "lime kiln", "quarry", "weir", "charcoal hut", "mill pond", "hunting lodge", "sheep fold",
    "watchtower", "cheese dairy", "toll house", "salt spring", "apiary", "aqueduct", "bus shelter", "beaver dam",
    "birch grove", "boat shed", "boundary stone", "plank bridge", "cairn", "campsite", "cave", "cherry orchard",
    "cider press", "old mine", "old oak", "deer park", "fishing jetty", "forester's cottage", "duck pond",
    "golf course",
    "gravel pit", "hay barn", "hermitage", "hop garden", "ice cellar", "inn", "juniper heath", "picnic area",
    "scout hut", "lookout rock", "war memorial", "observatory", "orchid meadow", "peat bog", "ravine", "reservoir",
    "rope ferry",
    "ruined castle", "schoolhouse", "shrine", "ski lift", "smithy", "grotto", "wind turbine", "vineyard",
    "waterfall", "wayside cross", "weather station",
)  # fmt: skip

MESSAGES: Mapping[str, tuple[str, ...]] = content(__file__)["messages"]


@scenario(
    skills={"recall", "spatial", "integration", "arithmetic"},
    topics={"places"},
    forget=MESSAGES["forget"],
    version=3,
)
def locations(dice: Dice, *, known: int = 5, farthest: int = 4, places: tuple[str, ...] = PLACES) -> Script:
    """Describe `known` places, one to `farthest` km apart; ask how far, and where, the last one lies from the first."""
    if not 2 <= known <= len(places):
        raise ValueError(f"known = {known}: from 2 to {len(places)} places are possible")
    start, *others = dice.hand("places", places, known)
    yield Tell(dice.choice(MESSAGES["first"]).format(place=start), at=0.0)
    before, walked = start, list(walk(dice, known - 1, farthest))
    texts = cycle(dice.shuffled(MESSAGES["next"]))
    for i, (place, leg, text) in enumerate(zip(others, walked, texts, strict=False), start=1):
        told = text.format(place=place, before=before, distance=leg.distance, way=leg.way)
        yield Tell(told, at=i / known)
        before = place
    question = dice.choice(MESSAGES["question"]).format(start=start, end=before)
    expect = displaced(east=walked[-1].east, north=walked[-1].north)
    yield Ask(f"{question} {dice.choice(MESSAGES['form'])}", expect=expect, at=1.0)
