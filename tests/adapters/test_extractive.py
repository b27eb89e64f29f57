"""Answers that quote what was said, tested through the agent that gives them."""

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters import extractive
from ltm_bench.filler.filler import shipped

if TYPE_CHECKING:
    from tests.memories import START, turn
    from tests.vectors import Converse, trivia
else:
    from memories import START, turn
    from vectors import Converse, trivia


def answers(converse: Converse, told: list[str], question: str) -> str:
    return str(converse().say(*told, question)[-1])


@pytest.mark.parametrize(
    "text",
    [
        "My favourite soup is goulash.",
        "When I was young, we had a goat.",
        "Could you please put two candles on the list?",
        "I know a riddle. What has a bed but never sleeps? A river.",
        "Here is one: What has keys but opens no door? A piano.",
        trivia(0, 5),
        "Shopping list: milk and honey",
    ],
)
def test_statements_are_acknowledged(converse: Converse, text: str):
    assert converse().say(text) == ["Noted."]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("I sold the goat. What is my dog called?", "What is my dog called?"),
        ("Hello! Where do I live? Thanks.", "Where do I live?"),
        ("Please tell me the name of the goat.", "Please tell me the name of the goat."),
        ("Can you repeat that?", "Can you repeat that?"),
        ("Can you feed the goat?", ""),
        ("Q: Who wrote Emma? A: Jane Austen", ""),
        ("Name my goat. Nothing else.", "Name my goat."),
        ("I sold a goat. What was it called?", "I sold a goat. What was it called?"),
    ],
)
def test_what_calls_for_an_answer_is_recognised(text: str, question: str):
    assert extractive.question_in(text) == question


def test_the_best_passage_is_quoted(converse: Converse):
    told = ["I was born in a lighthouse.", "My aunt lives in a windmill.", trivia(0, 40)]
    assert answers(converse, told, "Where was I born?") == "You told me: “I was born in a lighthouse.”"


def test_what_was_said_later_replaces_what_was_said_before(converse: Converse):
    told = ["My locker is number 17.", "The weather is fine.", "My locker is now number 23."]
    assert "23" in answers(converse, told, "Which number is my locker?")
    assert "17" in answers(converse, told, "Which number was my locker originally?")


def test_a_later_remark_about_something_else_replaces_nothing(converse: Converse):
    told = ["My locker at the pool is number 17.", "The pool is closed on Mondays."]
    assert "17" in answers(converse, told, "What is the number of my locker at the pool?")


def test_a_question_about_me_is_answered_from_what_i_said_about_me(converse: Converse):
    told = [
        "We adopted a cat and called him Tripod.",
        "Q: What is the scientific name of the cat? A: Felis catus",
    ]
    assert "Tripod" in answers(converse, told, "What is the name of our cat?")


def test_general_questions_are_answered_from_what_was_told_in_general(converse: Converse):
    assert "Vaduz" in answers(
        converse,
        ["Q: What is the capital of Liechtenstein? A: Vaduz"],
        "What is the capital of Liechtenstein?",
    )


def test_a_question_is_not_answered_with_a_question(converse: Converse):
    told = ["What is my blood type?", "Tell me my blood type.", "I baked a cake. What is my blood type?"]
    assert answers(converse, told, "What is my blood type?") == "I do not remember that."


def test_what_was_never_said_is_not_remembered(converse: Converse):
    told = ["My aunt lives in a windmill.", trivia(0, 40)]
    assert answers(converse, told, "What did I weigh at birth?") == "I do not remember that."


def test_the_agents_own_words_are_quoted_when_they_are_asked_for(converse: Converse):
    talk = converse([turn(0, "What shall I cook?", "I recommend a goulash.")])
    assert talk.say("Which dish did you recommend to cook, the goulash?") == [
        "I told you: “I recommend a goulash.”"
    ]
    assert talk.say("Did I tell you about goulash?") == ["I do not remember that."]


def test_a_json_list_holds_what_was_said_in_order_of_time(converse: Converse):
    told = [
        "My name is Ada.",
        trivia(0, 40),
        "My name is now Berta.",
        "I changed my name: it is “Cleo” from today.",
    ]
    said = answers(
        converse, told, "What have my names been? Answer with a JSON list of strings, oldest first."
    )
    assert json.loads(said) == ["Ada", "Berta", "Cleo"]


def test_a_json_list_of_numbers_holds_numbers(converse: Converse):
    told = ["I saw 12 herons at the lake.", "Today I saw three herons there.", "I saw a boat."]
    said = answers(converse, told, "How many herons did I see each time? Reply with a JSON list of numbers.")
    assert json.loads(said) == [12, 3]


def test_a_list_without_json_is_a_sentence(converse: Converse):
    told = ["My goat Else is grey.", "My goat Frieda is white."]
    said = answers(converse, told, "List all my goats.")
    assert said == "You told me: “My goat Else is grey.”; “My goat Frieda is white.”"


def test_items_on_a_list_lose_the_verb(converse: Converse):
    told = ["Please add two candles to my list of gifts.", "Could you add a lamp to my list of gifts, too?"]
    said = answers(converse, told, "What is on my list of gifts? Answer as a JSON array.")
    assert json.loads(said) == ["two candles", "lamp"]


def test_answers_that_the_message_itself_holds_are_taken_from_it(converse: Converse):
    asked = f"Reply with the answers alone, as a JSON list.\n{trivia(0, 3)}"
    assert json.loads(converse().say(asked)[0]) == [item.answer for item in shipped().items[:3]]


def test_the_time_mentioned_decides_between_memories(converse: Converse):
    told = ["I saw a heron in the reeds.", "I like rain.", "I saw a heron on the roof.", "I like snow."]
    assert "reeds" in answers(converse, told, "Where did I see a heron 4 minutes ago?")
    assert "roof" in answers(converse, told, "Where did I see a heron two minutes ago?")


def test_without_a_subject_the_time_alone_decides(converse: Converse):
    told = ["I like rain.", "The goat is ill.", "The lamp is lit."]
    assert "goat" in answers(converse, told, "What did I tell you 2 minutes ago?")


@pytest.mark.parametrize(
    ("spoken", "minutes"),
    [
        ("What was it 3 hours and 5 minutes ago?", 185),
        ("And 2 days, 1 hour and 1 minute ago?", 2 * 1440 + 61),
        ("What did I say an hour ago?", 60),
        ("Two weeks ago?", 2 * 10080),
        ("a couple of days ago", 2880),
        ("What did I buy yesterday?", 1440),
        ("What did I buy long ago?", None),
        ("What did I buy for 3 days?", None),
    ],
)
def test_times_are_understood(spoken: str, minutes: int | None):
    found = extractive.time_spoken_of(spoken, START)
    assert found == (None if minutes is None else START - timedelta(minutes=minutes))


def test_when_is_answered_with_the_time(converse: Converse):
    said = answers(converse, ["I broke my wrist.", "I like rain."], "When did I break my wrist?")
    assert said == "You told me 2 minutes ago, on Monday, 5 January 2026, 09:00: “I broke my wrist.”"


@pytest.mark.parametrize(
    ("said", "focus", "value"),
    [
        ("My name is Ada.", {"name"}, "Ada"),
        ("From now on my car is the old green Saab, as I said.", {"car"}, "old green Saab"),
        ("I bought three lamps for my garden.", {"garden"}, "bought three lamps"),
        ("The word is “no, never”.", {"word"}, "no, never"),
        ("My password: plum-harbour", {"password"}, "plum-harbour"),
    ],
)
def test_a_phrase_is_cut_out_of_a_statement(said: str, focus: set[str], value: str):
    assert extractive.phrase(said, dict.fromkeys(focus, 1.0)) == value


@pytest.mark.parametrize(
    ("said", "number"), [("I have 3 goats.", 3), ("seven of 9", 7), ("1.5 litres", 1.5), ("a goat", None)]
)
def test_numbers_are_read(said: str, number: float | None):
    assert extractive.number_in(said) == number
