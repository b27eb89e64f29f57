"""Sally and Anne: somebody moves an object while others are away; who believes it is where?

After the false-belief test (Baron-Cohen, Leslie and Frith 1985) and generated stories such as ToMi's (Le, Boureau and
Nickel 2019): first- and second-order beliefs, and controls for memory and for reality.
"""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

PEOPLE = (
    "Amara", "Boris", "Chiara", "Dario", "Elif", "Farid", "Gerda", "Hanno", "Ilse", "Jorge", "Kirsi", "Lothar",
    "Mirela", "Nuno", "Oksana", "Pavel", "Qasim", "Runa", "Sefa", "Tibor", "Ulrike", "Viggo", "Wanda", "Yannick",
)  # fmt: skip

ROOMS = (
    "kitchen", "attic", "garage", "workshop", "pantry", "greenhouse", "cellar", "bathroom", "bedroom", "studio",
    "office", "hallway",
)  # fmt: skip

THINGS = (
    "compass", "scarf", "trumpet", "torch", "chessboard", "teapot", "kite", "map", "violin", "lantern", "hammer",
    "wig", "sandwich", "puppet", "medal", "notebook", "necklace", "telescope", "cheese", "slipper", "whistle",
)  # fmt: skip

PLACES = (
    "basket", "suitcase", "drawer", "cupboard", "bucket", "wardrobe", "backpack", "barrel", "oven", "toolbox",
    "fridge", "dustbin", "safe", "cauldron", "hatbox", "piano", "pillowcase", "locker", "trunk", "dishwasher",
)  # fmt: skip

TITLES = (
    "The Cold Kettle", "A Guest for Supper", "Mind the Parrot", "Three Rainy Afternoons", "The Borrowed Ladder",
    "Nobody Locks Up", "A Knock at Seven", "The Quiet Lodger", "Sugar and Soot", "Half a Sixpence Short",
    "The Landlady's Secret", "Spring Cleaning", "Under One Roof", "The Wrong Parcel", "Tea with the Admiral",
    "Squeaky Floorboards", "A Draught in the House", "The Long Weekend", "Where There Is Smoke", "The Missing Spoon",
    "Sunday Visitors", "Two Left Feet", "The Inheritance", "Lights Out",
)  # fmt: skip
"""Radio plays: each example has its own."""

TOLD = (
    "(From the radio play “{title}”) {event}",
    "The radio play “{title}”: {event}",
    "I am listening to “{title}” on the radio. {event}",
    "In “{title}”, on the radio: {event}",
    "On the radio, “{title}” goes on. {event}",
)
BEGIN = (
    "There is a play on the radio, “{title}”. {event}",
    "The radio play tonight is called “{title}”. {event}",
    "“{title}” has just begun on the radio. {event}",
)

KINDS = ("first", "second", "memory", "reality")

QUESTIONS = {
    "first": "In the radio play “{title}”, what will {seeker} open first to find the {thing}?",
    "second": "In the radio play “{title}”, what does {mover} think that {seeker} will open first to find the {thing}?",
    "memory": "In the radio play “{title}”, what was the {thing} put into at first?",
    "reality": "In the radio play “{title}”, what is the {thing} really in at the end?",
}

FORMS = (
    'Answer with a JSON object such as {"answer": "pocket"} that holds one word, and write nothing else.',
    "Name it alone, in one word.",
    "Give me that one word and nothing else.",
    "One word will do, and no explanation.",
    'Reply in JSON, with a single word, like this: {"answer": "pocket"}.',
)

FORGET = "That radio play is over. If there is another one, it tells another story, from its beginning."


@scenario(skills={"inference", "theory of mind"}, topics={"the radio play"}, forget=FORGET, version=2)
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
    watches = away and dice.chance(0.4)  # … but secretly watches through the window
    events = [
        f"{seeker} and {mover} are in the {room}. The {one} and the {other} in there are both closed. Whoever is in "
        "the room sees everything that happens in it.",
        f"{seeker} puts the {thing} into the {before} while {mover} looks on.",
    ]
    if away:
        events.append(f"{seeker} leaves the {room} and shuts the door.")
    if watches:
        events.append(
            f"{seeker} stops outside at the window and watches what goes on; nobody in there notices."
        )
    events.append(f"{mover} takes the {thing} out of the {before} and puts it away in the {after}.")
    if dice.chance(0.5):
        events.insert(dice.integer(2, len(events)), f"{visitor} walks past the house and hums a tune.")
    if away:
        events.append(f"{seeker} comes back into the {room} and wants the {thing}.")
    else:
        events.append(f"{seeker} wants the {thing} now.")
    kind = dice.choice(kinds)
    answer = {
        "first": before if away and not watches else after,
        "second": before if away else after,  # the mover does not know of the window
        "memory": before,
        "reality": after,
    }[kind]
    for i, event in enumerate(events):
        text = dice.choice(TOLD if i else BEGIN).format(title=title, event=event)
        yield Tell(text, at=i / len(events))
    question = QUESTIONS[kind].format(title=title, seeker=seeker, mover=mover, thing=thing)
    yield Ask(f"{question} {dice.choice(FORMS)}", expect=names_only(answer, among=places), at=1.0)
