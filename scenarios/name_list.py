"""Name list: the user goes by one name after another, and finally asks for all of them.

Its texts are in `name_list.json`.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, lists_all, scenario

NAMES = (
    "Abigail", "Alistair", "Anneliese", "Barnaby", "Beatrice", "Benedict", "Bronwen", "Callum", "Cordelia", "Cormac",
    "Delphine", "Desmond", "Dorothea", "Edmund", "Eleanor", "Emrys", "Felicity", "Finnegan", "Frederica", "Gideon",
    "Gwendolyn", "Harriet", "Hubert", "Ingrid", "Isadora", "Jocelyn", "Julius", "Keziah", "Lachlan", "Leonora",
    "Lysander", "Magnus", "Marguerite", "Matilda", "Mortimer", "Nathaniel", "Octavia", "Orlando", "Penelope", "Phineas",
    "Quentin", "Raphael", "Rosalind", "Rupert", "Saskia", "Seraphina", "Silas", "Tabitha", "Thaddeus", "Ulysses",
    "Ursula", "Valentina", "Vincent", "Wilhelmina", "Winifred", "Xavier", "Yolanda", "Zachary", "Zenobia", "Zoltan",
)  # fmt: skip

PLACES = (
    "the chess club", "the poetry evenings", "the puppet theatre", "the pub quiz", "the rowing club",
    "the village choir",
    "the writing group", "the yoga class", "the book club", "the bowling club", "the juggling club",
    "the life drawing class", "the film society", "the dance school", "the improv group", "the pottery class",
    "the community garden", "the tennis club", "the debating society", "the language exchange",
    "the birdwatching group",
    "the running club", "the sewing circle", "the climbing gym",
)  # fmt: skip
"""Where the user goes by these names: each example has its own place, so it is clear which list a question means."""

MESSAGES: Mapping[str, tuple[str, ...]] = content(__file__)["messages"]


@scenario(
    skills={"recall", "aggregation", "format"},
    topics={"the user's name"},
    forget=MESSAGES["forget"],
    version=4,
    decoys={},
)
def name_list(
    dice: Dice,
    *,
    changes: int = 5,
    names: tuple[str, ...] = NAMES,
    places: tuple[str, ...] = PLACES,
    first: tuple[str, ...] = MESSAGES["first"],
    next_: tuple[str, ...] = MESSAGES["next"],
) -> Script:
    """Give `changes` different names for use in one place; then ask for all of them."""
    told, place = dice.hand("names", names, changes), dice.card("place", places)
    later = cycle(dice.shuffled(next_))
    for i, name in enumerate(told):
        text = next(later) if i else dice.choice(first)
        yield Tell(text.format(name=name, place=place), at=i / changes)
    yield Ask(
        dice.choice(MESSAGES["question"]).format(place=place), expect=lists_all(told, among=names), at=1.0
    )
