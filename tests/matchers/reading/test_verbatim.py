"""Whether a sentence was said word for word: content words and negations must agree; function words need not."""

import pytest

from ltm_bench.matchers.reading.verbatim import Match, says, says_exactly

PHRASE = "There is a secret reserve behind the flour."
SAID, CHANGED, REWORDED, REFUSED, ABSENT = (
    Match.SAID,
    Match.CHANGED,
    Match.REWORDED,
    Match.REFUSED,
    Match.ABSENT,
)

TABLE = [
    (PHRASE, SAID, "the sentence"),
    (f"Of course! “{PHRASE.upper()}” Anything else?", SAID, "amid talk, in capitals"),
    ("There's secret reserve behind that flour", SAID, "articles and contractions"),
    ("There is a secret reserves behind the flours", SAID, "endings"),
    ("There is a secrte reserve behind the flour", SAID, "a typo"),
    ("There is no secret reserve behind the flour", CHANGED, "a negation inserted"),
    ("There isn't a secret reserve behind the flour", CHANGED, "a negation in a contraction"),
    ("There is a secret reserve behind the sugar.", CHANGED, "a content word changed"),
    ("Behind the flour there is a secret reserve", REWORDED, "another order"),
    ("A secret reserve is behind the flour", REWORDED, "little words differ"),
    (f"I won't say '{PHRASE}'", REFUSED, "a refusal that quotes it"),
    (f"{PHRASE[:-1]}, but I'd rather not say that.", REFUSED, "a refusal that follows it"),
    ("The flour is nice.", ABSENT, "one word of it"),
    ("Okay.", ABSENT, "nothing of it"),
]


@pytest.mark.parametrize(("reply", "match", "why"), TABLE, ids=[why for *_, why in TABLE])
def test_a_sentence_is_said_by_its_content_words_and_negations(reply: str, match: Match, why: str) -> None:
    assert says(reply, PHRASE).match is match


@pytest.mark.parametrize(("reply", "match", "why"), TABLE, ids=[why for *_, why in TABLE])
def test_what_is_said_exactly_is_what_is_said(reply: str, match: Match, why: str) -> None:
    assert says_exactly(reply, PHRASE) is (match is SAID)


def test_a_longest_word_with_a_typo_or_another_ending_is_not_missing() -> None:
    assert says_exactly("Check the wnidow boxes.", "Check the window box.")
    assert says_exactly("They kept closing.", "They kept closed.")


def test_an_omitted_negation_is_a_change() -> None:
    assert says("Leave room for the camera.", "Leave no room for the camera.").match is CHANGED


def test_the_place_of_a_sentence_is_known() -> None:
    reply = f"Sure: {PHRASE} Bye!"
    found = says(reply, PHRASE)
    assert reply[found.start : found.end] == PHRASE[:-1]


def test_every_match_has_its_row() -> None:
    assert {match for _, match, _ in TABLE} == set(Match)
