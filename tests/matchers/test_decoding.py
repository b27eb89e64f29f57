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
    ("They left cryptic messages.", 0.0, "nothing decoded"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "score", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_each_message_is_decoded_or_not(reply: str, score: float, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.score == pytest.approx(score, abs=1e-6), verdict.reason


def test_an_abstention_is_recognised() -> None:
    assert EXPECT.verdict("I do not remember any messages.", []).outcome is Outcome.ABSTAINED
    assert EXPECT.verdict("", []).outcome is Outcome.MALFORMED
