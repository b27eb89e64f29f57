"""Which of the things that a reply names is its answer, and whether text alone can tell."""

import pytest

from ltm_bench.matchers.reading import lexicon, mentions, read, resolve

COLOURS = lexicon(("red", "blue", "green", "yellow"))

SURE = [
    ("Red.", "red", "it alone is named"),
    ("Red. You used to say blue.", "red", "the other is replaced"),
    ("Not blue: red.", "red", "the other is denied"),
    ("You said blue, and later red.", "red", "it came next"),
    ("Blue → green → red", "red", "the end of a chain"),
    ("Blue, then green, so it's red.", "red", "a conclusion"),
    ("Blue was mentioned. **Red** it is.", "red", "it alone is bold"),
    ("Blue, I think. No wait, red.", "red", "a correction"),
    ("You told me blue and green.\n\nRed", "red", "the last line says nothing else"),
    ("Red\n\nThat is what you told me after green.", "red", "the first line says nothing else"),
    ("Earlier: blue, green. Currently: red.", "red", "what holds now"),
    ("It is not red.", "", "nothing is asserted"),
    ("Red or blue.", "red blue", "a choice that is left open is not one answer"),
    ("It's between red and blue.", "red blue", "nor is one between two"),
    ("Red, blue, green, yellow.", "red blue green yellow", "everything there is"),
]
UNSURE = [
    ("Red and blue.", "red blue", "two side by side"),
    (
        "Red.\n\nSo the answer is blue.",
        "blue red",
        "the reply's beginning and end disagree; the end is the better guess",
    ),
    ("Was it red?", "red", "a question"),
    ("If you meant red, tell me.", "red", "on a condition"),
]


@pytest.mark.parametrize(("reply", "values", "why"), SURE, ids=[why for *_, why in SURE])
def test_a_reply_is_read_as_it_says(reply: str, values: str, why: str) -> None:
    decision = resolve(mentions(read(reply), COLOURS))
    assert (decision.values, decision.sure) == (tuple(values.split()), True)


@pytest.mark.parametrize(("reply", "values", "why"), UNSURE, ids=[why for *_, why in UNSURE])
def test_what_text_cannot_decide_is_reported_with_the_best_guess_first(
    reply: str, values: str, why: str
) -> None:
    decision = resolve(mentions(read(reply), COLOURS))
    assert (decision.values, decision.sure) == (tuple(values.split()), False)
