"""Table: which replies decode what the messages meant."""

import pytest

from ltm_bench import decodes
from ltm_bench.core.messages import Outcome

KEYWORDS = {
    "when": {
        "noon": ("noon", "midday", "12 pm", "12pm"),
        "dusk": ("dusk", "sunset"),
        "midnight": ("midnight",),
    },
    "where": {"harbour": ("harbour", "harbor", "port", "pier"), "library": ("library", "bookshop")},
    "what": {"rope": ("rope",), "lantern": ("lantern", "torch", "lamp")},
}
EXPECT = decodes({"when": "noon", "where": "harbour", "what": "rope"}, KEYWORDS)
TABLE = [
    ("The meeting is at noon, at the harbour; bring a rope.", 1.0, "plain"),
    ("NOON. HARBOR. ROPES.", 1.0, "capitals, American spelling, plural"),
    ("**When:** midday (12 pm)\n**Where:** the port\n**What:** a rope", 1.0, "markdown and synonyms"),
    ("Meet at Noon near the pier and take along some rope.", 1.0, "in a sentence"),
    ("At 12pm in the harbour, with a rope. These are the key points.", 1.0, "a word that only sounds like a code"),
    ("At noon in the harbour.", 2 / 3, "one missing"),
    ("At noon in the library, with a rope.", 1 / 3, "one wrong: guessing costs a share"),
    ("At 12 p.m. in the harbour. Don't forget the rope.", 1.0, "p.m., and not forgetting is no denial"),
    ("Not at midnight but at noon, in the harbour, with a rope.", 1.0, "the other is denied"),
    ("Noon, dusk or midnight; harbour or library; rope or lantern.", 0.0, "every candidate"),
    ("At noon or dusk, in the harbour, with a rope.", 1 / 3, "two times to choose from are no time"),
    ("12:00, at the pier, with ropes", 1.0, "an hour in figures"),
    ("They left cryptic messages.", 0.0, "nothing decoded"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "score", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_each_message_is_decoded_or_not(reply: str, score: float, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.score == pytest.approx(score, abs=1e-6), verdict.reason


def test_an_abstention_is_recognised() -> None:
    assert EXPECT.verdict("I do not remember any messages.", []).outcome is Outcome.ABSTAINED
    assert EXPECT.verdict("", []).outcome is Outcome.MALFORMED


@pytest.mark.parametrize("when", ["14 Feb", "2/14", "14.2.", "Feb. 14th", "the fourteenth of February"])
def test_a_date_may_be_written_in_any_way(when: str) -> None:
    groups = {"when": {"Valentine's Day": ("valentine", "14 february", "february 14"), "Monday": ("monday",)}}
    expect = decodes({"when": "Valentine's Day"}, groups)
    assert expect.verdict(f"When: {when}", []).outcome is Outcome.CORRECT


def test_what_a_scenario_calls_otherwise_is_not_the_same() -> None:
    where = {"church": ("church",), "cemetery": ("cemetery", "churchyard")}
    assert (
        decodes({"where": "church"}, {"where": {"church": ("church",)}}).verdict("churchyard", []).score == 1
    )
    for said in ("churchyard", "church cemetery"):
        assert decodes({"where": "cemetery"}, {"where": where}).verdict(f"Where: {said}", []).score == 1, said
