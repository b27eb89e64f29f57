"""Sally and Anne: somebody moves an object while others are away; who believes that it is where?

After the false-belief test (Baron-Cohen, Leslie and Frith 1985) and generated stories such as ToMi's (Le, Boureau and
Nickel 2019): first- and second-order beliefs, and controls for memory and for reality.
"""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

PEOPLE = (
    "Amara", "Boris", "Chiara", "Dario", "Elif", "Farid", "Gerda", "Hanno", "Ilse", "Jorge", "Kirsi", "Lothar",
)  # fmt: skip

ROOMS = ("kitchen", "attic", "garage", "workshop", "pantry", "greenhouse")

THINGS = ("compass", "scarf", "trumpet", "torch", "chessboard", "teapot", "kite", "map")

PLACES = ("basket", "suitcase", "drawer", "cupboard", "bucket", "crate", "wardrobe", "backpack")

KINDS = ("first", "second", "memory", "reality")

QUESTIONS = {
    "first": "In the play on the radio, where will {seeker} look for the {thing} first?",
    "second": "In the play on the radio, where does {mover} think that {seeker} will look for the {thing} first?",
    "memory": "In the play on the radio, where was the {thing} at the very beginning?",
    "reality": "In the play on the radio, where is the {thing} really in the end?",
}

FORM = 'Answer with a JSON object such as {"answer": "pocket"} that holds one word, and write nothing else.'


def _told(text: str) -> str:
    return f"(From a play on the radio) {text}"


FORGET = "The play on the radio is over. If there is another one, it tells another story, from its beginning."


@scenario(skills={"inference", "theory of mind"}, topics={"the radio play"}, forget=FORGET)
def sally_anne(
    dice: Dice,
    *,
    kinds: tuple[str, ...] = ("first", "second"),
    people: tuple[str, ...] = PEOPLE,
    rooms: tuple[str, ...] = ROOMS,
    things: tuple[str, ...] = THINGS,
    places: tuple[str, ...] = PLACES,
) -> Script:
    """Tell a story over the span; then ask about a belief or (`memory`, `reality`) about a fact."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ValueError(f"kinds = {kinds!r}: they are of {', '.join(KINDS)}")
    seeker, mover, visitor = dice.sample(people, 3)
    room, thing = dice.choice(rooms), dice.choice(things)
    before, after = dice.sample(places, 2)
    away = dice.chance(0.75)  # the seeker misses the move; otherwise sees it
    watches = away and dice.chance(0.4)  # … but secretly watches through the window
    events = [
        f"{seeker} and {mover} are in the {room}. The {before} and the {after} in there are both closed.",
        f"{seeker} puts the {thing} into the {before} while {mover} looks on.",
    ]
    if away:
        events.append(f"{seeker} leaves the {room} and shuts the door.")
    if watches:
        events.append(
            f"{seeker} stops outside at the window and watches what goes on; nobody in there notices."
        )
    events.append(f"{mover} takes the {thing} out of the {before} and hides it in the {after}.")
    if dice.chance(0.5):
        events.insert(dice.integer(2, len(events)), f"{visitor} walks past the house and hums a tune.")
    if away:
        events.append(f"{seeker} comes back into the {room} and wants the {thing}.")
    else:
        events.append(f"{seeker}, who has been there all the time, wants the {thing} now.")
    kind = dice.choice(kinds)
    answer = {
        "first": before if away and not watches else after,
        "second": before if away else after,  # the mover does not know of the window
        "memory": before,
        "reality": after,
    }[kind]
    for i, event in enumerate(events):
        yield Tell(_told(event), at=i / len(events))
    question = QUESTIONS[kind].format(seeker=seeker, mover=mover, thing=thing)
    yield Ask(f"{question} {FORM}", expect=names_only(answer, among=places), at=1.0)
