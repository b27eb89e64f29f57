"""Admissions that the answer is not known: read liberally in English, only in plain form in German and Chinese."""

import pytest

from ltm_bench.matchers.reading.abstaining import (
    abstains,
    gives_example,
    gives_up,
    in_own_words,
    is_foreign,
)

ABSTENTIONS = [
    "I don't know.",
    "I'm afraid I do not recall that.",
    "That hasn't come up in our conversation.",
    "You haven't told me your favourite colour yet.",
    "I have no record of that.",
    "Could you remind me?",
    "My memory fails me.",
    "It slips my mind.",
    "You have yet to tell me.",
    "I'd rather not guess.",
    "No idea, sorry!",
    "Das weiß ich leider nicht.",
    "Daran kann ich mich nicht erinnern.",
    "Keine Ahnung.",
    "我不记得了。",
    "抱歉，你没有告诉我。",
    "null",
    "N/A",
    '{"answer": null}',
    "???",
]
ANSWERS = [
    "It is red.",
    "Not blue: red.",
    "No problem! It's red.",
    "Nothing but red.",
    "The number is 12.",
    "It's neither here nor there, but in the red box.",
    "Es ist rot.",
    "红色",
    '{"answer": "red"}',
    "I can't wait to meet you all.",
    "You can't go wrong with red.",
]


@pytest.mark.parametrize(
    ("reply", "own"),
    [
        ("You told me: “If you do not know it or no longer have it, say so.”", "You told me:"),
        ('You said "I cannot tell you any more of it", and no more.', "You said , and no more."),
        ("“unknown”", "“unknown”"),
        ("“I am sorry, but I cannot tell you that.”", "“I am sorry, but I cannot tell you that.”"),
        ('{"answer": "I am sorry, but I do not know."}', '{"answer": "I am sorry, but I do not know."}'),
    ],
)
def test_what_a_reply_quotes_is_not_its_own(reply: str, own: str) -> None:
    assert " ".join(in_own_words(reply).split()) == own


@pytest.mark.parametrize("reply", ABSTENTIONS)
def test_this_is_an_abstention(reply: str) -> None:
    assert abstains(reply)


@pytest.mark.parametrize("reply", ANSWERS)
def test_this_is_not_an_abstention(reply: str) -> None:
    assert not abstains(reply)


def test_giving_up_is_more_than_being_unsure() -> None:
    assert gives_up("I don't remember; maybe red?")
    assert not gives_up("I'm not sure, but red.")


def test_an_example_is_not_an_answer() -> None:
    assert gives_example('I do not have it. For example: ["red"]')
    assert not gives_example('["red"]')


@pytest.mark.parametrize(
    ("reply", "foreign"),
    [("Es ist rot, und das ist gut.", True), ("红色", True), ("La couleur est le rouge.", True), ("It is red.", False), ("Red", False), ("The dish was “Coq au vin”.", False)],
)  # fmt: skip
def test_other_languages_are_not_read(reply: str, foreign: bool) -> None:
    assert is_foreign(reply) is foreign


@pytest.mark.parametrize(
    "knowing", ["knows where it's from", "has any idea", "can remember it", "could be sure of it"]
)
@pytest.mark.parametrize(
    "said", ["Nobody {}.", "No one {}, as the joke goes.", "“A stew, and no one {}, sir.” That one."]
)
def test_what_nobody_knows_is_no_admission(said: str, knowing: str) -> None:
    assert not gives_up(said.format(knowing))


@pytest.mark.parametrize("besides", ["no other places on record", "no other", "nothing else that I know of"])
def test_knowing_of_nothing_more_is_no_admission(besides: str) -> None:
    assert not gives_up(f"The bread bin. I've got {besides}.")
    assert gives_up(f"I don't know, and I've got {besides}.")


def test_that_nobody_has_told_it_is_an_admission() -> None:
    assert gives_up("Nobody has told me.")
    assert gives_up("No one told me, so I can't say.")
