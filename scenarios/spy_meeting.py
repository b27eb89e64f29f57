"""Spy meeting: three people leave coded messages; when and where is the meeting, and what should be brought?"""

from ltm_bench import Ask, Dice, Script, Tell, decodes, scenario

NAMES = (
    "Agatha", "Bruno", "Celeste", "Dmitri", "Esther", "Fabian", "Greta", "Hamish",
    "Imogen", "Jasper", "Katya", "Leopold", "Mireille", "Nestor", "Ottilie", "Percival",
)  # fmt: skip

KEYWORDS = {
    "when": {
        "midnight": ("midnight", "12 am", "12am", "twelve at night", "0 00", "00 00"),
        "dawn": ("dawn", "sunrise", "daybreak", "first light"),
        "noon": ("noon", "midday", "12 pm", "12pm", "lunchtime"),
        "dusk": ("dusk", "sunset", "sundown", "nightfall", "twilight"),
        "Sunday": ("sunday",),
    },
    "where": {
        "harbour": ("harbour", "harbor", "port", "dock", "pier", "quay", "marina", "wharf"),
        "library": ("library", "bookshop", "bookstore"),
        "station": ("station", "railway", "train", "platform"),
        "church": ("church", "cathedral", "chapel", "belfry", "bell tower"),
        "bakery": ("bakery", "baker", "bakehouse"),
    },
    "what": {
        "umbrella": ("umbrella", "parasol", "brolly"),
        "rope": ("rope", "cord", "lasso"),
        "lantern": ("lantern", "torch", "flashlight", "lamp", "candle"),
        "mirror": ("mirror", "looking glass"),
        "camera": ("camera",),
    },
}
"""The words that express each meaning. Change them only together with the scenario's version."""

CODES = {
    "when": {
        "midnight": "The two hands of the tower clock embrace at the top while the owls are about.",
        "dawn": "The rooster will open the proceedings, before the sun has dried the grass.",
        "noon": "Shadows will be at their shortest, and the soup will be on every table.",
        "dusk": "The bats take over from the swallows then, and the sky turns to copper.",
        "Sunday": "Come on the day on which the postman rests and the shops keep their shutters down.",
    },
    "where": {
        "harbour": "Look for the place where the gulls quarrel and the tall masts sway in their sleep.",
        "library": "Everybody whispers there, and a thousand stories stand with their backs to you.",
        "station": "Iron rails end there, and a whistle sends everyone on their way.",
        "church": "Under the bronze voice that calls the village every week, on the oldest bench.",
        "bakery": "Follow the smell of warm crust: flour covers every shoulder there.",
    },
    "what": {
        "umbrella": "Carry the folded roof of a gentleman, the sky is not to be trusted.",
        "rope": "We will have to climb: bring the long twisted friend of every sailor.",
        "lantern": "It will be black as a cellar in there, so carry a little sun in your hand.",
        "mirror": "Bring the silent companion that shows your own face to everybody who asks.",
        "camera": "We need proof: take along the glass eye that never forgets a face.",
    },
}

OPENING = (
    "You are my contact in a little game of spies. Messages for you will be left by {0}, {1} and {2}. Together they "
    "say when and where a meeting takes place and what you have to bring. Just keep them for now."
)

DELIVERY = "A message from {name}: “{code}”"

QUESTION = (
    "Time to decode the messages of {0}, {1} and {2}. In plain words: when is the meeting, where is it, and what do "
    "you have to bring? Name one time, one place and one thing."
)


FORGET = "The meeting has taken place. The messages of that game of spies no longer mean anything."


@scenario(skills={"recall", "inference", "integration"}, topics={"spies"}, forget=FORGET)
def spy_meeting(
    dice: Dice,
    *,
    names: tuple[str, ...] = NAMES,
    codes: dict[str, dict[str, str]] = CODES,
    keywords: dict[str, dict[str, tuple[str, ...]]] = KEYWORDS,
) -> Script:
    """Name three people, deliver a coded message from each, then ask what the messages mean."""
    people = dice.sample(names, 3)
    yield Tell(OPENING.format(*people), at=0.0)
    meant = {}
    for i, (name, group) in enumerate(zip(people, dice.shuffled(tuple(codes)), strict=True), start=1):
        meaning = dice.choice(tuple(codes[group]))
        meant[group] = meaning
        yield Tell(DELIVERY.format(name=name, code=codes[group][meaning]), at=i / 4)
    yield Ask(QUESTION.format(*people), expect=decodes(meant, keywords), at=1.0)
