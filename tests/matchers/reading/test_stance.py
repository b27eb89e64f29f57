"""A reply's stance on what it names: denied, replaced, past, present, guessed, concluded. A row for each kind of cue."""

from collections.abc import Callable, Mapping

import pytest

from ltm_bench.matchers.reading import Force, Mention, Time, lexicon, mentions, read
from ltm_bench.matchers.reading.cues import CUES, Effect, Reach
from ltm_bench.matchers.reading.stance import places
from tests.pace import cpu, in_proportion

COLOURS = lexicon(("red", "blue", "green", "yellow"))

IS: Mapping[str, Callable[[Mention], bool]] = {
    "denied": lambda m: m.denied,
    "replaced": lambda m: m.time is Time.REPLACED,
    "past": lambda m: m.time is Time.PAST,
    "now": lambda m: m.time is Time.NOW,
    "next": lambda m: m.next,
    "hedged": lambda m: m.force is Force.HEDGED,
    "conditional": lambda m: m.force is Force.CONDITIONAL,
    "question": lambda m: m.force is Force.QUESTION,
    "taken back": lambda m: m.taken_back,
    "choice": lambda m: m.choice,
    "final": lambda m: m.final,
    "lead": lambda m: m.lead,
}


def named(reply: str) -> tuple[Mention, ...]:
    return mentions(read(reply), COLOURS)


def meant(reply: str) -> str:
    """Give the stance on each thing: `red: replaced, blue: now final`."""
    return ", ".join(
        f"{m.value}: {' '.join(name for name, holds in IS.items() if holds(m)) or 'said'}"
        for m in named(reply)
    )


TABLE = [
    # What is said plainly
    ("You will find it in the red box.", "red: said"),
    ("Red.", "red: lead"),
    ("It is **red** that I have down, after much thought about blue.", "red: lead, blue: replaced"),
    ("It is red, so the answer is blue.", "red: said, blue: final"),
    # Denied
    ("It's red, not blue.", "red: lead, blue: denied"),
    ("Neither red nor blue.", "red: denied, blue: denied"),
    ("Everything but red.", "red: denied"),
    ("It can't be anything but red.", "red: said"),
    ("Not only red but also blue.", "red: said, blue: said"),
    ("Blue is wrong.", "blue: denied"),
    ("Not blue, green or yellow, so red.", "blue: denied choice, green: denied choice, yellow: denied choice, red: final"),
    ("~~red~~ blue", "red: denied, blue: said"),
    ("I haven't forgotten red.", "red: said"),
    # Replaced, and what took its place
    ("It is no longer red; it's blue.", "red: replaced, blue: said"),
    ("Instead of red you like blue.", "red: replaced, blue: said"),
    ("Red fell through.", "red: replaced"),
    ("Red for a while, and now blue.", "red: said, blue: now"),
    ("Red → blue → green", "red: replaced, blue: replaced, green: now next"),
    ("You changed it from red to blue.", "red: replaced, blue: now next"),
    ("You switched red for blue.", "red: replaced, blue: now next"),
    ("Blue replaced red.", "blue: said, red: replaced"),
    ("Red was replaced by blue.", "red: replaced, blue: now next"),
    ("It was red until you said blue.", "red: past, blue: past"),
    ("Until yesterday it was red, now it is blue.", "red: past, blue: now"),
    ("Red and blue were earlier.", "red: past, blue: past"),
    ("Before: first red, then blue. Now: green", "red: replaced, blue: past next, green: now"),
    # Past and present
    ("You told me red.", "red: past"),
    ("You said red, then blue.", "red: past, blue: past next"),
    ("It was red first, then blue, and finally green.", "red: replaced, blue: past next, green: now"),
    ("Originally red, now blue.", "red: replaced, blue: now"),
    ("These days you like blue.", "blue: said"),
    # How it is put forward
    ("I think it's red.", "red: hedged"),
    ("I'm not totally certain, but it's red.", "red: said"),
    ("It's red, right?", "red: hedged"),
    ("Is it red?", "red: question"),
    ("Red? No, blue.", "red: replaced question taken back, blue: said"),
    ("If you meant red, tell me.", "red: conditional"),
    ("It's blue, although red is nice.", "blue: lead, red: said"),
    ("It could be any colour, e.g. red.", "red: conditional"),
    # A choice that is left open
    ("Red or blue.", "red: choice, blue: choice"),
    ("It's either red or blue.", "red: choice, blue: choice"),
    ("It's between red and blue.", "red: choice, blue: choice"),
    ("I'm not sure whether it's red or blue.", "red: conditional choice, blue: conditional choice"),
    ("You like red. Or blue. I can't tell which.", "red: choice, blue: choice"),
    # Concluded, and taken back
    ("You said red, so it is blue.", "red: past, blue: final"),
    ("Answer: red", "red: final lead"),
    ("Blue comes to mind, but red is the answer.", "blue: said, red: final"),
    ("It is red. No wait, blue.", "red: replaced taken back, blue: said"),
    ("Red... scratch that, blue.", "red: replaced taken back, blue: said"),
    # Side by side, all meant alike
    ("You said red, blue, and green.", "red: past, blue: past, green: past"),
    ("It was red, blue, or green.", "red: past choice, blue: past choice, green: past choice"),
    ("Not red, blue, or green.", "red: denied choice, blue: denied choice, green: denied choice"),
    ("Red / blue", "red: choice, blue: choice"),
    # Alone in its sentence, at the end
    ("You liked red. Blue was mentioned.\n\nGreen.", "red: said, blue: past, green: final"),
    ("Red. Blue. Green.", "red: said, blue: said, green: said"),
    # Refuted by what comes next
    ("It is certainly not: red", "red: denied"),
    ("Red - that is wrong.", "red: denied"),
    ("It is red. is not the answer.", "red: denied"),
    # What stands above it
    ("Old: red\nNow: blue", "red: replaced, blue: now"),
    ("## Previously\n- red\n- green\n\n## Answer\nblue", "red: replaced, green: replaced, blue: final"),
    ("| | colour |\n|--|--|\n| old | red |\n| current | blue |", "red: replaced, blue: now final"),
    ("{\"old\": \"red\", \"current\": \"blue\"}", "red: replaced, blue: now final"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "expected"), TABLE, ids=[reply for reply, _ in TABLE])
def test_a_reply_means_what_it_says(reply: str, expected: str) -> None:
    assert meant(reply) == expected


def test_every_stance_has_its_row() -> None:
    said = " ".join(expected for _, expected in TABLE)
    assert [each for each in IS if each not in said] == []


def test_the_place_of_a_name_is_its_place_in_the_reply() -> None:
    reading = read("Not **Blue**.\n\n| a | RED |\n|---|---|\n| b | Green |\n- yellow")
    found = mentions(reading, COLOURS)
    assert [reading.text[m.start : m.end].lower() for m in found] == [m.value for m in found]
    assert [m.value for m in found] == ["blue", "green", "yellow"], "a table's header is not an answer"


def test_places_are_those_of_the_mentions() -> None:
    for text in (
        "I do not know.",
        "No. It was red!\n\n# Blue\n- not green, yellow; or **red**",
        'Hm: {"a": "red", "b": 1}, so blue.',
    ):
        assert places(read(text), COLOURS) == [(m.start, m.end) for m in mentions(read(text), COLOURS)]


def test_a_name_within_json_has_no_place() -> None:
    assert places(read('It is blue: {"a": "red"}'), COLOURS) == [(6, 10), (-1, -1)]


def test_a_later_line_that_names_nothing_takes_back_what_was_named() -> None:
    assert [m.taken_back for m in mentions(read("It is red.\nNo."), COLOURS)] == [True]


def test_the_questions_own_words_are_not_cues() -> None:
    reply = read("She will look first in the red box.")
    assert mentions(reply, COLOURS)[0].time is Time.REPLACED
    assert mentions(reply, COLOURS, "Where will she look first?")[0].time is Time.PLAIN


ENDINGS = {
    "former*": "ly",
    "initial*": "ly",
    "original*": "ly",
    "previous*": "ly",
    "begin*": "ning",
    "current*": "ly",
    "final*": "ly",
    "recent*": "ly",
    "contradict*": "s",
}
"""What stands for the star of a cue."""

FRAMES = {
    (Effect.DENIES, Reach.AFTER): ("It is blue, {} red.", "denied"),
    (Effect.DENIES, Reach.BEFORE): ("It is blue; red {}.", "denied"),
    (Effect.REPLACED, Reach.AFTER): ("It changed {} red.", "replaced"),
    (Effect.REPLACED, Reach.ALL): ("It is blue; {} red.", "replaced"),
    (Effect.REPLACED, Reach.BEFORE): ("It is blue; red {}.", "replaced"),
    (Effect.PAST, Reach.ALL): ("You {} red.", "past"),
    (Effect.NOW, Reach.ALL): ("It {} red.", "now"),
    (Effect.NEXT, Reach.ALL): ("It was blue and {} red.", "next"),
    (Effect.CHANGES, Reach.AFTER): ("You {} it from blue to red.", "now"),
    (Effect.HEDGES, Reach.ALL): ("{} it is red.", "hedged"),
    (Effect.CONDITIONS, Reach.AFTER): ("It is blue, {} you meant red.", "conditional"),
    (Effect.CONCLUDES, Reach.AFTER): ("You said blue, {} red.", "final"),
    (Effect.CONCLUDES, Reach.BEFORE): ("Red {}.", "final"),
    (Effect.CORRECTS, Reach.AFTER): ("Red. {}, blue.", "taken back"),
    (Effect.CHOICE, Reach.AFTER): ("It is {} red and blue.", "choice"),
    (Effect.CHOICE, Reach.BEFORE): ("Red or so, blue, not sure {}.", "choice"),
    (Effect.NONE, Reach.AFTER): ("There is {} red.", "not denied"),
}
"""For each kind of cue, a sentence in which it says this of `red`."""


MOST = 80


def test_the_cues_are_few() -> None:
    assert sum(len(phrases.split("|")) for phrases in CUES.values()) <= MOST


def stands(m: Mention) -> bool:
    return not m.denied


@pytest.mark.parametrize("kind", CUES, ids=lambda kind: f"{kind[0].name} {kind[1].name}")
def test_every_phrase_of_every_cue_does_what_its_kind_does(kind: tuple[Effect, Reach]) -> None:
    frame, expected = FRAMES[kind]
    holds = IS.get(expected, stands)
    silent = []
    for phrase in CUES[kind].split("|"):
        reply = frame.format("e.g." if phrase == "e.g" else phrase.replace("*", ENDINGS.get(phrase, "ed")))
        if not any(holds(m) for m in named(reply) if m.value == "red"):
            silent.append(reply)
    assert silent == []


@pytest.mark.slow
@pytest.mark.proof(scenarios=())
@pytest.mark.parametrize(
    ("head", "repeated"),
    [("", each) for each in ("red. ", "red ", "red, ", "red or ", "red → ", "not red ", "no wait. ", "**red** ", "- red\n", "red, (old), ", "red and blue or ", "was ", "if ", "red: ", "red/")]
    + [("red. " * 500, "no wait. "), ("red. " * 500, "one of them. "), ("red " * 1900, "one of them. "), (f"# {'old ' * 2000}\n", "- red\n")],
)  # fmt: skip
def test_reading_takes_time_in_proportion_to_the_reply(head: str, repeated: str) -> None:
    def took(size: int) -> float:
        reading = read(head + repeated * (size // len(repeated)))
        return cpu(lambda: mentions(reading, COLOURS))

    assert in_proportion(took, 10_000)
