"""Sally and Anne: somebody moves an object while others are away; who believes it is where?

After the false-belief test (Baron-Cohen, Leslie and Frith 1985) and generated stories such as ToMi's (Le, Boureau and
Nickel 2019): first- and second-order beliefs, and controls for memory and for reality. The texts are in
`sally_anne.json`.
"""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from ltm_bench import Ask, Dice, Script, Tell, content, names_only, scenario

PEOPLE = (
    "Amara", "Boris", "Chiara", "Dario", "Elif", "Farid", "Gerda", "Hanno", "Ilse", "Jorge", "Kirsi", "Lothar",
    "Mirela", "Nuno", "Oksana", "Pavel", "Qasim", "Runa", "Sefa", "Tibor", "Ulrike", "Viggo", "Wanda", "Yannick",
)  # fmt: skip

ROOMS = (
    "kitchen", "attic", "garage", "workshop", "pantry", "library", "cellar", "bathroom", "bedroom", "studio",
    "office", "hallway",
)  # fmt: skip

THINGS = (
    "compass", "scarf", "flute", "torch", "bracelet", "teapot", "diary", "map", "wallet", "candle", "hammer",
    "wig", "sandwich", "puppet", "medal", "notebook", "necklace", "camera", "cheese", "slipper", "whistle",
)  # fmt: skip

PLACES = (
    "hamper", "suitcase", "drawer", "cupboard", "sideboard", "wardrobe", "backpack", "barrel", "freezer", "toolbox",
    "fridge", "dustbin", "safe", "briefcase", "hatbox", "crate", "handbag", "locker", "trunk", "cabinet",
)  # fmt: skip

TITLES = (
    "The Cold Kettle", "A Guest for Supper", "Mind the Parrot", "Three Rainy Afternoons", "The Borrowed Ladder",
    "Nobody Locks Up", "A Knock at Seven", "The Quiet Lodger", "Sugar and Soot", "Half a Sixpence Short",
    "The Landlady's Secret", "Spring Cleaning", "Under One Roof", "The Wrong Parcel", "Tea with the Admiral",
    "Squeaky Floorboards", "A Draught in the House", "The Long Weekend", "Where There Is Smoke", "The Missing Spoon",
    "Sunday Visitors", "Two Left Feet", "The Inheritance", "Lights Out",
)  # fmt: skip
"""Radio plays: each example has its own."""

KINDS = ("first", "second", "memory", "reality")

MESSAGES: Mapping[str, Any] = content(__file__)["messages"]


@scenario(
    skills={"inference", "theory of mind"},
    topics={"the radio play"},
    forget=MESSAGES["forget"],
    version=5,
    decoys={},
)
def sally_anne(
    dice: Dice,
    *,
    kinds: tuple[str, ...] = ("first", "second"),
    people: tuple[str, ...] = PEOPLE,
    rooms: tuple[str, ...] = ROOMS,
    things: tuple[str, ...] = THINGS,
    places: tuple[str, ...] = PLACES,
) -> Script:
    """Tell a story over the span; then ask about a belief or (`memory`, `reality`) about a fact.

    People in the room see what happens there, and the story says so; the agent must remember who has left.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ValueError(f"kinds = {kinds!r}: they are of {', '.join(KINDS)}")
    seeker, mover, visitor = dice.hand("people", people, 3)
    room, thing, title = dice.card("room", rooms), dice.card("thing", things), dice.card("title", TITLES)
    before, after = dice.hand("places", places, 2)
    one, other = dice.shuffled((before, after))
    away = dice.chance(0.75)  # the seeker misses the move; otherwise sees it
    watches = away and dice.chance(0.4)  # … but secretly watches through the door
    events = ["setting", "puts"]
    if away:
        events.append("leaves")
    if watches:
        events.append("watches")
    events.append("moves")
    if dice.chance(0.5):
        events.insert(dice.integer(2, len(events)), "passes")
    events.append("returns" if away else "wants")
    kind = dice.choice(kinds)
    answer = {
        "first": before if away and not watches else after,
        "second": before if away else after,  # the mover does not know that somebody watches
        "memory": before,
        "reality": after,
    }[kind]
    gaps = {"seeker": seeker, "mover": mover, "visitor": visitor, "room": room, "thing": thing}
    gaps |= {"title": title, "before": before, "after": after, "one": one, "other": other}
    told = cycle(dice.shuffled(MESSAGES["told"]))
    for i, event in enumerate(events):
        text = dice.choice(MESSAGES["events"][event]).format_map(gaps)
        frame = next(told) if i else dice.choice(MESSAGES["begin"])
        yield Tell(frame.format(title=title, event=text), at=i / len(events))
    question = dice.choice(MESSAGES["questions"][kind]).format_map(gaps)
    yield Ask(f"{question} {dice.choice(MESSAGES['forms'])}", expect=names_only(answer, among=places), at=1.0)
