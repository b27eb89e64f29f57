"""Spy meeting: three people leave coded messages; when and where is the meeting, and what should be brought?"""

from collections.abc import Mapping

from ltm_bench import Ask, Dice, Script, Tell, decodes, scenario

NAMES = (
    "Agatha", "Bruno", "Celeste", "Dmitri", "Esther", "Fabian", "Greta", "Hamish", "Imogen", "Jasper", "Katya",
    "Leopold", "Mireille", "Nestor", "Ottilie", "Percival", "Quincy", "Rosamund", "Sigmund", "Theodora", "Umberto",
    "Violetta", "Wilbur", "Xenia", "Yasmin", "Zebedee", "Anatole", "Brunhilde", "Clarence", "Dolores", "Eustace",
    "Philomena", "Gregor", "Henrietta", "Isidore", "Josephine",
)  # fmt: skip

KEYWORDS = {
    "when": {
        "midnight": ("midnight", "12 am", "12am", "twelve at night", "0 00", "00 00"),
        "dawn": ("dawn", "sunrise", "daybreak", "first light", "early morning", "cockcrow"),
        "noon": ("noon", "midday", "12 pm", "12pm", "lunchtime"),
        "dusk": ("dusk", "sunset", "sundown", "nightfall", "twilight"),
        "Sunday": ("sunday",),
        "Christmas Eve": (
            "christmas eve", "christmas", "24 december", "december 24", "24th of december", "december 24th",
        ),
        "Halloween": ("halloween", "hallowe'en", "31 october", "october 31", "31st of october", "october 31st"),
        "Valentine's Day": (
            "valentine's day", "valentine", "14 february", "february 14", "14th of february", "february 14th",
        ),
        "Monday": ("monday",),
        "the leap day": ("leap day", "29 february", "february 29", "29th of february", "february 29th"),
    },
    "where": {
        "harbour": ("harbour", "harbor", "port", "dock", "pier", "quay", "marina", "wharf"),
        "library": ("library",),
        "station": ("station", "railway", "train", "platform"),
        "church": ("church", "cathedral", "chapel"),
        "bakery": ("bakery", "baker", "bakehouse"),
        "zoo": ("zoo", "zoological garden", "menagerie"),
        "lighthouse": ("lighthouse",),
        "cinema": ("cinema", "movie theater", "movie theatre", "picture house", "movies"),
        "cemetery": ("cemetery", "graveyard", "churchyard", "burial ground"),
        "school": ("school", "classroom", "schoolhouse", "schoolyard"),
        "swimming pool": ("swimming pool", "pool", "lido", "swimming bath"),
        "post office": ("post office",),
    },
    "what": {
        "umbrella": ("umbrella", "parasol", "brolly"),
        "rope": ("rope", "cord", "lasso"),
        "lantern": ("lantern", "torch", "flashlight", "lamp", "candle"),
        "mirror": ("mirror", "looking glass"),
        "camera": ("camera",),
        "ladder": ("ladder", "stepladder"),
        "compass": ("compass",),
        "spade": ("spade", "shovel"),
        "scissors": ("scissors", "scissor", "shears"),
        "newspaper": ("newspaper", "gazette"),
        "gloves": ("glove", "mitten"),
        "whistle": ("whistle",),
    },
}  # fmt: skip
"""The words that express each meaning. Change them only together with the scenario's version."""

CODES = {
    "when": {
        "midnight": (
            "The two hands of the tower clock embrace at the very top while the owls are about.",
            "We meet when one day dies and the next is born, to twelve strokes in the dark.",
        ),
        "dawn": (
            "The rooster will open the proceedings, just as the sun puts its head over the hill.",
            "Be there the moment that the night gives up and the eastern sky turns pink.",
        ),
        "noon": (
            "Shadows will be at their shortest then, and soup will be on every table.",
            "Come when the sun stands at the highest point of its climb.",
        ),
        "dusk": (
            "The bats take over from the swallows then, and the western sky turns to copper.",
            "Come at the minute in which the sun goes to bed and the street lamps wake up.",
        ),
        "Sunday": (
            "Come on the day of the week on which the postman rests and the vicar does not.",
            "It will be the day that is named after our star, the last of the weekend.",
        ),
        "Christmas Eve": (
            "It is the evening on which good children listen for hooves on the roof.",
            "Come on the night on which stockings hang by the fire, waiting for a man in red.",
        ),
        "Halloween": (
            "It is the night on which pumpkins grin and small ghosts ring for sweets.",
            "On the last evening of October nobody will ask why you wear a mask.",
        ),
        "Valentine's Day": (
            "Meet us on the day in February on which the florists sell out of red roses.",
            "It will be the day of paper hearts and of cards that nobody has signed.",
        ),
        "Monday": (
            "Come on the day that is named after the moon and puts an end to every weekend.",
            "It will be the first of the five days on which people go to the office.",
        ),
        "the leap day": (
            "We meet on the day that the calendar allows itself only once in four years.",
            "It is the birthday that somebody can celebrate twenty times and be eighty.",
        ),
    },
    "where": {
        "harbour": (
            "Look for the place where the gulls quarrel and the tall masts sway in their sleep.",
            "Where ships tie up and cranes unload them, there you will find us.",
        ),
        "library": (
            "Everybody whispers there, and you may take a thousand stories home if you bring them back in four weeks.",
            "There the stories stand on shelves, and a stamp tells you when to return them.",
        ),
        "station": (
            "Iron rails end there, and a whistle sends everyone on their way.",
            "It is where people with suitcases look up at a board and run along the carriages.",
        ),
        "church": (
            "Go in where the organ plays and the vicar preaches, and sit down in the last pew.",
            "Walk up the aisle where brides have walked, and wait before the altar.",
        ),
        "bakery": (
            "Follow the smell of warm crust: flour covers every shoulder there.",
            "It is where loaves are born and rolls are sold by the dozen.",
        ),
        "zoo": (
            "Lions yawn there while children point at them through the bars.",
            "You pay at the gate to see giraffes over the fence and penguins at feeding time.",
        ),
        "lighthouse": (
            "Climb the white tower on the cliff whose bright eye turns and turns for the sailors.",
            "Its one great lamp warns every captain off the rocks: we wait at the foot of its stairs.",
        ),
        "cinema": (
            "Strangers sit there side by side in the dark, eat popcorn, and look at one bright wall.",
            "Buy a ticket, find your row, and be quiet when the film begins.",
        ),
        "cemetery": (
            "The neighbours there lie still under stones that bear their names.",
            "It is the garden to which people bring flowers for those who will never wake.",
        ),
        "school": (
            "A bell lets the children out into the yard there, and chalk squeaks on the board.",
            "Take a seat at one of the small desks, where the alphabet hangs above the blackboard.",
        ),
        "swimming pool": (
            "It smells of chlorine there, and somebody with a whistle forbids you to run along the edge.",
            "Come to the blue water with lanes in it, where one wears a cap and goggles.",
        ),
        "post office": (
            "It is where people queue with parcels and lick stamps at the counter.",
            "Wait at the counter where letters are weighed and sent to every corner of the earth.",
        ),
    },
    "what": {
        "umbrella": (
            "Carry the folded roof on a stick, for the sky is not to be trusted.",
            "Bring what opens over your head when it pours, and gets left behind on every bus.",
        ),
        "rope": (
            "We shall have to climb down a wall: bring what sailors coil up and tie into knots.",
            "Bring what mountaineers tie around their waists and two teams pull from both ends.",
        ),
        "lantern": (
            "It is pitch dark in there: carry the thing with a handle in which a small flame burns behind glass.",
            "Bring what the night watchman holds up to see who is there.",
        ),
        "mirror": (
            "Bring the silent companion that shows your own face to everybody who asks.",
            "Carry the glass that makes your left hand your right.",
        ),
        "camera": (
            "We need proof: take along the glass eye that never forgets a face.",
            "Bring the little box that catches a moment with a click and a flash.",
        ),
        "ladder": (
            "Bring the portable stairs that window cleaners lean against the wall.",
            "Superstitious people will not walk under what you have to carry.",
        ),
        "compass": (
            "Bring the needle that always knows where the north is.",
            "Carry the round thing that tells a hiker in the fog which way he is facing.",
        ),
        "spade": (
            "The treasure lies a yard down, so bring what gardeners dig with.",
            "Bring the tool that turns over the flower beds and fills in the hole again.",
        ),
        "scissors": (
            "Bring the two blades that a tailor opens and shuts all day.",
            "Paper fears them and stone blunts them in the game that children play with their hands.",
        ),
        "newspaper": (
            "Hide your face on the bench behind yesterday's news, printed in columns.",
            "Bring what the boy used to shout about on the corner, and what wraps the fish in the end.",
        ),
        "gloves": (
            "Leave no fingerprints: bring the pair that has room for ten fingers.",
            "Bring the pair that your hands wear in the snow.",
        ),
        "whistle": (
            "Bring what a referee puts to his lips when somebody fouls.",
            "One shrill blast on what you bring, and the dog comes back.",
        ),
    },
}
"""The codes of each meaning; if there are several, one of them is sent."""

OPENING = (
    "You are my contact in a little game of spies. Messages for you will be left by {0}, {1} and {2}. Together they "
    "say when and where a meeting takes place and what you have to bring. Just keep them for now.",
    "Let us play spies. {0}, {1} and {2} will each leave you a coded message: one says when to meet, one where, and "
    "one "
    "what to bring. Please keep all three.",
    "A game of spies begins. Expect one message each from {0}, {1} and {2}, about the time of a meeting, its place and "
    "a thing to bring. For the moment, only keep them.",
)

DELIVERY = (
    "A message from {name}: “{code}”",
    "{name} has left a message for you: “{code}”",
    "This was under the doormat, signed {name}: “{code}”",
    "The spies are busy. {name} writes: “{code}”",
    "Psst, here is a word from {name}: “{code}”",
)

QUESTIONS = (
    "Time to decode the messages of {0}, {1} and {2}. When is the meeting, where is it, and what do you have to bring? "
    "Answer in three lines, “When: …”, “Where: …” and “What: …”, with one to three plain words each.",
    "What did {0}, {1} and {2} want to tell you? Write three lines and nothing else, “When:”, “Where:” and “What:”, "
    "each "
    "followed by one time, one place or one thing in plain words.",
    "It is time for the meeting of {0}, {1} and {2}. Please decode their messages into three lines, “When: …”, “Where: "
    "…”, “What: …”, without any explanation.",
)


FORGET = "The meeting has taken place. The messages of that game of spies no longer mean anything."


@scenario(skills={"recall", "inference", "integration"}, topics={"spies"}, forget=FORGET, version=2)
def spy_meeting(
    dice: Dice,
    *,
    names: tuple[str, ...] = NAMES,
    codes: Mapping[str, Mapping[str, str | tuple[str, ...]]] = CODES,
    keywords: dict[str, dict[str, tuple[str, ...]]] = KEYWORDS,
) -> Script:
    """Name three people, deliver a coded message from each, then ask what the messages mean."""
    people = dice.hand("people", names, 3)
    yield Tell(dice.choice(OPENING).format(*people), at=0.0)
    meant = {}
    for i, (name, group) in enumerate(zip(people, dice.shuffled(tuple(codes)), strict=True), start=1):
        meaning = dice.card(group, tuple(codes[group]))
        meant[group] = meaning
        texts = codes[group][meaning]
        code = texts if isinstance(texts, str) else dice.choice(texts)
        yield Tell(dice.choice(DELIVERY).format(name=name, code=code), at=i / 4)
    yield Ask(dice.choice(QUESTIONS).format(*people), expect=decodes(meant, keywords), at=1.0)
