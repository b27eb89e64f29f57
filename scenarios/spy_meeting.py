"""Spy meeting: three people leave coded messages; when and where is the meeting, and what should be brought?

Its texts and the codes are in `spy_meeting.json`.
"""

from collections.abc import Mapping
from typing import Any

from ltm_bench import Ask, Dice, Script, Tell, content, decodes, scenario

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

CONTENT: Mapping[str, Any] = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
CODES: Mapping[str, Mapping[str, tuple[str, ...]]] = CONTENT["pools"]["codes"]
"""The codes of each meaning; if there are several, one of them is sent."""


@scenario(
    skills={"recall", "inference", "integration", "format"},
    topics={"spies"},
    forget=MESSAGES["forget"],
    version=5,
    decoys={},
)
def spy_meeting(
    dice: Dice,
    *,
    names: tuple[str, ...] = NAMES,
    codes: Mapping[str, Mapping[str, str | tuple[str, ...]]] = CODES,
    keywords: dict[str, dict[str, tuple[str, ...]]] = KEYWORDS,
) -> Script:
    """Name three people, deliver a coded message from each, then ask what the messages mean."""
    people = dice.hand("people", names, 3)
    yield Tell(dice.choice(MESSAGES["opening"]).format(*people), at=0.0)
    meant, delivery = {}, dice.sample(MESSAGES["delivery"], 3)
    dealt = zip(people, dice.shuffled(tuple(codes)), delivery, strict=True)
    for i, (name, group, text) in enumerate(dealt, start=1):
        meaning = dice.card(group, tuple(codes[group]))
        meant[group] = meaning
        texts = codes[group][meaning]
        code = texts if isinstance(texts, str) else dice.choice(texts)
        yield Tell(text.format(name=name, code=code), at=i / 4)
    yield Ask(dice.choice(MESSAGES["question"]).format(*people), expect=decodes(meant, keywords), at=1.0)
