"""Table: which replies notice two statements that cannot both be right."""

import pytest

from ltm_bench import both_said
from ltm_bench.core.messages import Outcome

CORRECT, PARTIAL, WRONG = Outcome.CORRECT, Outcome.PARTIAL, Outcome.WRONG
EXPECT = both_said("Ghent", "Porto", among=("Ghent", "Porto", "Bergen", "Lima", "Riga"))
TABLE = [
    ("Ghent, Porto", CORRECT, "both, and nothing else"),
    ("Ghent and Porto", CORRECT, "both"),
    ("- Ghent\n- Porto", CORRECT, "both, in a list"),
    ("You've told me two different places: Ghent and, later on, Porto.", CORRECT, "both, in order"),
    ("First you said Ghent, then you said Porto. Which is right?", CORRECT, "asks back"),
    ("Was it Ghent or Porto? You have mentioned both.", CORRECT, "a question"),
    ("Ghent, then Porto", CORRECT, "both, in the order in which they were said"),
    ("Ghent (in your first message), but later you said Porto.", CORRECT, "who said what, and when"),
    ("You changed it from Ghent to Porto.", PARTIAL, "a change"),
    ("First Ghent, then Porto. I'd go with Porto.", PARTIAL, "a choice after the order"),
    ("Most recently Porto, before that Ghent.", CORRECT, "the order in which they were said, backwards"),
    ("In your latest message it's Porto, in the first one it's Ghent.", CORRECT, "by message"),
    ("Porto is what you said last; Ghent is what you said first.", CORRECT, "last and first"),
    ("It was Ghent, but currently Porto.", PARTIAL, "what holds now"),
    ("Ghent. Earlier you said Porto.", CORRECT, "one, and that the other was said as well"),
    ("There is a contradiction: once it was Porto, another time Ghent.", CORRECT, "the other way round"),
    ("Both Ghent and Porto have come up, so I can't be sure.", CORRECT, "not sure, and rightly so"),
    ("You said Ghent, then later Porto. These conflict.", CORRECT, "says that they conflict"),
    ("You said Ghent at first, but now it is Porto.", PARTIAL, "takes it for a change"),
    ("You mentioned Porto once, but it is not Porto. Final answer: Ghent.", PARTIAL, "settles on one"),
    ("Ghent.", WRONG, "one alone"),
    ("She was born in Porto.", WRONG, "the other alone"),
    ("Ghent, Porto, Bergen, Lima, Riga", WRONG, "every candidate"),
    ("Ghent, Porto or Riga.", WRONG, "one too many"),
    (
        "Ghent, definitely. Porto is where your grandmother was born.",
        Outcome.UNDECIDED,
        "the other one of something else",
    ),
    ("I don't know.", Outcome.ABSTAINED, "does not know"),
    ("You told me two different things.", WRONG, "names neither"),
    ("", Outcome.MALFORMED, "nothing"),
]


@pytest.mark.parametrize(("reply", "outcome", "why"), TABLE, ids=[why for *_, why in TABLE])
def test_both_must_be_named_and_neither_chosen(reply: str, outcome: Outcome, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.outcome is outcome, verdict.reason
