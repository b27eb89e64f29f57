"""`follows`, `no_longer` and `corrects`, reply by reply: what each makes of a change, and of none."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from ltm_bench import Matcher, Message, Outcome, Reply, Turn, corrects, follows, no_longer

TOWNS = ("Ghent", "Porto", "Lima", "Graz", "Cork", "Turku")
HELD = ("biscuit tin", "blue suitcase", "tea chest")
UPDATED = follows("Ghent", among=TOWNS, stale=("Porto",))
KEPT = follows("Porto", among=TOWNS, over=("Ghent",))
HOLDS = follows("biscuit tin", among=HELD, over=("Ghent", "Lima"), premise="Porto")
PLAN = follows("Ghent", among=TOWNS, over=("Lima",))
CORRECTED = corrects("Ghent", premise="Porto", among=TOWNS)
GONE = no_longer("Porto", among=TOWNS)
TOLD = ("My passport is in the biscuit tin.", "The blue suitcase and the tea chest are in Porto.")
ASKED = "Which town is my passport in? Just the town, or say “unknown”."
TAKEN = "I'm going to Porto to fetch my passport. What's it in? One sentence, please."

NOT_THERE = (
    "It isn't there any more.",
    "It's no longer there.",
    "The van is no longer parked there.",
    "You won't find it there.",
    "They are not here any longer.",
    "It is not in the yard any more.",
)
PERHAPS = (
    "Don't leave it there any longer!",
    "You won't need anything else there.",
    "Don't worry, it's not going anywhere any more.",
    "The station is not far from there.",
)
DEPENDS = (
    "Cork, unless Adele calls, then Ghent.",
    "If Adele calls, Ghent.",
    "In case Adele calls, Ghent.",
    "Ghent, if Adele calls.",
    "Ghent, provided Adele calls.",
)
REPLIES = [
    (UPDATED, "Ghent.", Outcome.CORRECT),
    (UPDATED, "It was in Porto, but the suitcase went to Ghent, so it's in Ghent now.", Outcome.CORRECT),
    (UPDATED, "Ghent, since it was in the tin, and that was in the suitcase.", Outcome.CORRECT),
    (UPDATED, "Porto.", Outcome.STALE),
    (UPDATED, "It's still in Porto.", Outcome.STALE),
    (UPDATED, "Lima.", Outcome.WRONG),
    (UPDATED, "Unknown.", Outcome.ABSTAINED),
    (UPDATED, "You never told me.", Outcome.ABSTAINED),
    (KEPT, "Porto.", Outcome.CORRECT),
    (KEPT, "It's still in Porto; only the tea chest went to Ghent.", Outcome.CORRECT),
    (KEPT, "Ghent.", Outcome.OVERDONE),
    (KEPT, "It used to be in Porto, but it's in Ghent now.", Outcome.OVERDONE),
    (KEPT, "Lima.", Outcome.WRONG),
    (KEPT, "I don't know.", Outcome.ABSTAINED),
    (KEPT, "", Outcome.MALFORMED),
    (HOLDS, "It's in the biscuit tin.", Outcome.CORRECT),
    (HOLDS, "Look in the biscuit tin in Porto.", Outcome.CORRECT),
    (HOLDS, "The biscuit tin, but it isn't there any more.", Outcome.OVERDONE),
    (HOLDS, "The biscuit tin is no longer in Porto.", Outcome.OVERDONE),
    (HOLDS, "Don't go: it's in Ghent now.", Outcome.OVERDONE),
    (HOLDS, "It's in the biscuit tin. The other suitcase is in Ghent now.", Outcome.UNDECIDED),
    (HOLDS, "The tea chest.", Outcome.WRONG),
    (HOLDS, "I don't know.", Outcome.ABSTAINED),
    (CORRECTED, "It's in the biscuit tin, but that's in Ghent now.", Outcome.CORRECT),
    (CORRECTED, "Careful: your passport isn't in Porto any more, it's in Ghent.", Outcome.CORRECT),
    (CORRECTED, "It isn't there any more.", Outcome.CORRECT),
    (CORRECTED, "It's no longer in Porto.", Outcome.CORRECT),
    (CORRECTED, "The suitcase was taken to Ghent, so you won't find it in Porto.", Outcome.CORRECT),
    (CORRECTED, "Ghent is where you need to go, not Porto.", Outcome.CORRECT),
    (CORRECTED, "You'd go there in vain: it's in Ghent now.", Outcome.CORRECT),
    (CORRECTED, "Porto or Ghent, look there.", Outcome.UNDECIDED),
    (CORRECTED, "It's in the biscuit tin.", Outcome.STALE),
    (CORRECTED, "In Porto you'll find it in the biscuit tin.", Outcome.STALE),
    (CORRECTED, "It's in Lima now.", Outcome.WRONG),
    (CORRECTED, "I don't know.", Outcome.ABSTAINED),
    (GONE, "Unknown.", Outcome.CORRECT),
    (GONE, "Nobody can know: Ada moved out and didn't say where to.", Outcome.CORRECT),
    (GONE, "It was in Porto, but Ada has moved away, so I don't know where it is now.", Outcome.CORRECT),
    (GONE, "I can't tell. It used to be in Porto.", Outcome.CORRECT),
    (GONE, "Nobody can know that any more.", Outcome.CORRECT),
    (GONE, "There's no telling.", Outcome.CORRECT),
    (GONE, "Unknown; last seen in Porto.", Outcome.CORRECT),
    (GONE, "Not known. Until recently it was in Porto.", Outcome.CORRECT),
    (GONE, "I don't know. Porto.", Outcome.UNDECIDED),
    (GONE, "Nobody knows, maybe Vienna.", Outcome.UNDECIDED),
    (GONE, "Porto.", Outcome.STALE),
    (GONE, "It's in Porto, with Ada.", Outcome.STALE),
    (GONE, "I don't know, maybe still Porto.", Outcome.UNDECIDED),
    (GONE, "Ghent.", Outcome.WRONG),
    (GONE, "Okay.", Outcome.WRONG),
    # Given and doubted in the same breath
    (KEPT, "It was in Porto, but I don't know where it is now.", Outcome.OVERDONE),
    (KEPT, "Last I knew it was in Porto, but I can't say where it is now.", Outcome.OVERDONE),
    (KEPT, "It was in Porto, but they moved away, so I don't know.", Outcome.OVERDONE),
    (KEPT, "Porto, as far as I know.", Outcome.CORRECT),
    (UPDATED, "It was in Ghent, but I don't know where it is now.", Outcome.UNDECIDED),
    (UPDATED, "It cannot be Porto, since that was replaced. Ghent.", Outcome.CORRECT),
    (UPDATED, "I haven't forgotten Porto, but that was before. Ghent.", Outcome.CORRECT),
    (
        UPDATED,
        "It is no longer in Porto. It was in Ghent, but I don't know where it is now.",
        Outcome.UNDECIDED,
    ),
    (HOLDS, "I have gone back over our conversation: the biscuit tin.", Outcome.CORRECT),
    (HOLDS, "That leaves me with the biscuit tin.", Outcome.CORRECT),
    # Left, or never left
    (KEPT, "It was in Porto until yesterday.", Outcome.UNDECIDED),
    (KEPT, "It left Porto.", Outcome.UNDECIDED),
    (KEPT, "Porto, until it went to Ghent.", Outcome.UNDECIDED),
    (KEPT, "Until further notice it's in Porto.", Outcome.CORRECT),
    (KEPT, "It never left Porto.", Outcome.CORRECT),
    (KEPT, "It hasn't left Porto.", Outcome.CORRECT),
    (KEPT, "You left it in Porto.", Outcome.CORRECT),
    (KEPT, "Porto; only the tea chest has left Porto.", Outcome.CORRECT),
    (CORRECTED, "Note that the car has left Porto.", Outcome.CORRECT),
    (CORRECTED, "Your nephew drove it away from Porto.", Outcome.CORRECT),
    (CORRECTED, "It's in the tin, which never left Porto.", Outcome.UNDECIDED),
    (CORRECTED, "Porto? The van has gone.", Outcome.UNDECIDED),
    (CORRECTED, "The van has been taken elsewhere.", Outcome.UNDECIDED),
    (GONE, "It was in Porto, but Ruth has moved.", Outcome.UNDECIDED),
    (GONE, "Ruth has left Porto, hard to say.", Outcome.UNDECIDED),
    (GONE, "There is no one there but Ruth in Porto.", Outcome.STALE),
    (GONE, "Nobody has said where to.", Outcome.CORRECT),
    (GONE, "No one can tell.", Outcome.CORRECT),
    # No longer there, or anything else that is not
    *((CORRECTED, each, Outcome.CORRECT) for each in NOT_THERE),
    *((HOLDS, f"The biscuit tin. {each}", Outcome.OVERDONE) for each in NOT_THERE),
    *((CORRECTED, f"It's in the tin. {each}", Outcome.UNDECIDED) for each in PERHAPS),
    *((HOLDS, f"The biscuit tin. {each}", Outcome.UNDECIDED) for each in PERHAPS),
    (HOLDS, "The biscuit tin in Porto. Don't forget your keys there!", Outcome.CORRECT),
    # A premise that is doubted
    (HOLDS, "It's in the biscuit tin, but check first whether it's still in Porto.", Outcome.UNDECIDED),
    (HOLDS, "It's in the biscuit tin, which somebody has driven away.", Outcome.UNDECIDED),
    (HOLDS, "In the biscuit tin, if that's still in Porto.", Outcome.UNDECIDED),
    (HOLDS, "The biscuit tin, which never left Porto.", Outcome.CORRECT),
    # The old one beside the new one
    (CORRECTED, "It's in Ghent, and in Porto.", Outcome.UNDECIDED),
    (CORRECTED, "It's in Ghent and also in Porto.", Outcome.UNDECIDED),
    (CORRECTED, "It's in Ghent, not in Porto.", Outcome.CORRECT),
    (CORRECTED, "✅ Ghent now\n\n❌ Porto (outdated)", Outcome.CORRECT),
    (CORRECTED, "If you're going to Porto, note that it's in Ghent.", Outcome.CORRECT),
    # What depends on something
    *((PLAN, each, Outcome.UNDECIDED) for each in DEPENDS),
    (PLAN, "Ghent, if I remember correctly.", Outcome.CORRECT),
    (PLAN, "Ghent, since Adele called.", Outcome.CORRECT),
    (PLAN, "If Adele calls, Ghent. She called, so Ghent.", Outcome.CORRECT),
]


def turns(reply: str, question: str) -> Sequence[Turn]:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    told = [Turn(Message(text, at, i), Reply("Okay."), "tell") for i, text in enumerate(TOLD)]
    return [*told, Turn(Message(question, at, len(told)), Reply(reply), "ask")]


@pytest.mark.parametrize(("expect", "reply", "outcome"), REPLIES)
def test_what_a_reply_makes_of_a_change_is_told_apart(expect: Matcher, reply: str, outcome: Outcome) -> None:
    asked = TAKEN if expect in (HOLDS, CORRECTED) else ASKED
    verdict = expect.verdict(reply, turns(reply, asked))
    assert verdict.outcome is outcome, verdict.reason


@pytest.mark.parametrize("expect", [KEPT, HOLDS])
def test_what_would_follow_from_something_else_is_over_updated(expect: Matcher) -> None:
    outcomes = [expect.verdict(each, ()).outcome for each in expect.wrong()]
    assert outcomes[0] is Outcome.OVERDONE


@pytest.mark.parametrize("expect", [UPDATED, KEPT, HOLDS])
def test_who_gives_the_answer_and_does_not_know_earns_nothing(expect: Matcher) -> None:
    (said,) = (each for each in expect.wrong() if each.endswith("where it is now."))
    assert expect.verdict(said, turns(said, ASKED)).score == 0


def test_a_value_that_could_not_be_the_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="name all values"):
        follows("Oslo", among=TOWNS)
    with pytest.raises(ValueError, match="name all values"):
        corrects("Ghent", premise="Oslo", among=TOWNS)
