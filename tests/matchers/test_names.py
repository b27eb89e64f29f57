"""Table: which replies name the value, and no other, as the answer."""

from datetime import UTC, datetime

import pytest

from ltm_bench import Message, Reply, Turn, names_only
from ltm_bench.core.messages import Outcome

AT = datetime(2026, 1, 5, tzinfo=UTC)
CORRECT, STALE, WRONG = Outcome.CORRECT, Outcome.STALE, Outcome.WRONG
ABSTAINED, MALFORMED, UNDECIDED = Outcome.ABSTAINED, Outcome.MALFORMED, Outcome.UNDECIDED
PALETTE = (
    "red",
    "blue",
    "green",
    "yellow",
    "purple",
    "pink",
    "brown",
    "white",
    "grey",
    "turquoise",
    "tan",
    "light blue",
)
QUESTION = "What is my favourite colour? Name just the one."
EXPECT = names_only("red", among=PALETTE, stale=("blue", "green"))  # blue, then green, then red

TABLE = [
    ("Red", CORRECT, "the word alone"),
    ("RED!", CORRECT, "case and punctuation"),
    ("Your favourite colour is red.", CORRECT, "a sentence"),
    ("Your favorite color is **red**.", CORRECT, "American spelling and markdown"),
    ("“Red” 🙂", CORRECT, "typographic quotes"),
    ('{"colour": "red"}', CORRECT, "JSON although nobody asked"),
    (
        '{"colour": "red"}\n\nFirst you said blue, and after that green, which you no longer like.',
        CORRECT,
        "JSON, then an explanation",
    ),
    ('Blue was the first one. {"answer": "Red"}', CORRECT, "an explanation, then JSON"),
    ('```json\n{"answer": "green"}\n```\nRed would be wrong.', STALE, "JSON with the stale one"),
    ('It is blue. {"answer": "red"}', CORRECT, "a sentence with another one, then JSON"),
    ('It is red. {"answer": "blue"}', STALE, "a sentence with the right one, then JSON with the stale one"),
    ("Red is on my list, but I'd go for blue.", UNDECIDED, "a sentence of talk, and a choice against it"),
    (
        "You mentioned red last, but your favourite colour is blue.",
        UNDECIDED,
        "what was said last, and a but",
    ),
    ("Red replaced the blue.", CORRECT, "what replaces is right"),
    ("Blue replaced the red.", STALE, "what is replaced is not"),
    ("It's red now (previously blue, then green)", CORRECT, "a history in parentheses"),
    ("- Blue (old)\n- Green (old)\n- Red (new)", CORRECT, "marked in parentheses"),
    ("Red (from the village)", CORRECT, "an origin in parentheses"),
    ("Which word stands for the letter F in the alphabet?", WRONG, "another question"),
    ("Your favourite colour is the one that you named most recently.", WRONG, "the question's own words"),
    ("Blue was first, and red came next, but now it's green.", STALE, "set aside in so many words"),
    ("Red, but it used to be blue.", CORRECT, "a but about the past"),
    ("You like the red-haired dog.", UNDECIDED, "a part of another word"),
    ('{"answer": "red or blue"}', UNDECIDED, "JSON with two"),
    ('{"answer": null}', ABSTAINED, "JSON with nothing"),
    ("Red is your favourite colour now; it used to be green.", CORRECT, "the old one is told as old"),
    ("It was blue first, then green, and now it is red.", CORRECT, "the whole history, in order"),
    ("Red (you changed it from green).", CORRECT, "where it came from"),
    (
        "You first said blue, later green. Your current favourite colour is red.",
        CORRECT,
        "history in sentences",
    ),
    ("Not green any more: it is red.", CORRECT, "the old one is denied"),
    ("It was blue, but it was changed to green and then red.", CORRECT, "one after the other"),
    ("You said that it was green, but then you said it was red.", CORRECT, "then something else was said"),
    ("It is red; before that you told me blue and then green.", CORRECT, "the old ones one after the other"),
    ("First red, then green, then blue.", STALE, "the wrong one comes last"),
    ("Blue, then green, then red. I am not sure which one it is.", UNDECIDED, "in order, but not sure"),
    ("It's red, not blue.", CORRECT, "the other is denied"),
    ("It is no longer green, it's red.", CORRECT, "denied with no longer"),
    ("Based on what you told me, red is the latest one.", CORRECT, "latest"),
    ("I believe it's red.", CORRECT, "a hedge that still names one"),
    ("<think>They said blue, then green, then red.</think>Red", CORRECT, "thinking aloud"),
    ("Green", STALE, "the value before"),
    ("Your favourite colour is blue.", STALE, "the first value"),
    (
        "Answer: red. Long answer: it was green, and then changed.",
        CORRECT,
        "a conclusion about the past yields",
    ),
    ("It used to be red, but now it is green.", STALE, "the order turned round"),
    ("Purple.", WRONG, "never said"),
    ("Light blue.", WRONG, "a longer name hides a shorter one"),
    ("You have not shared that.", ABSTAINED, "sha-red holds red"),
    ("I do not know. Maybe red?", ABSTAINED, "a guess without knowing"),
    ('{"first": "blue", "answer": "red"}', CORRECT, "JSON of two texts, read as a whole"),
    ('{"answer": 5}', WRONG, "JSON without a text"),
    ('It is red. {"answer": "blue"}', STALE, "JSON of one text is the answer"),
    ("That is an important question, but I do not know.", ABSTAINED, "impor-tan-t holds tan"),
    ("I'm sorry, I don't have any information about your favourite colour.", ABSTAINED, "an apology"),
    ("I cannot recall your favourite colour.", ABSTAINED, "cannot recall"),
    ("You haven't told me your favourite colour yet.", ABSTAINED, "never told"),
    ("Red, blue, green, yellow, purple, pink, brown, white, grey, turquoise, tan", WRONG, "every candidate"),
    ("It is red or green.", UNDECIDED, "two of them"),
    ("Red and blue.", UNDECIDED, "both, side by side"),
    ("It could be red, green or blue; I am not sure which.", WRONG, "undecided"),
    ("It is not red.", WRONG, "denied"),
    ("Anything but red.", WRONG, "denied otherwise"),
    ("Red (the one I noted), blue (the other one)", UNDECIDED, "two, each with a remark"),
    ("Red (the one I noted), not blue", CORRECT, "one, with a remark"),
    ("You said blue, green, and red.", UNDECIDED, "a list whose last one is right"),
    ("It is certainly not: red", UNDECIDED, "denied before a colon"),
    ("Red - no, that is wrong, forget it. I do not know.", ABSTAINED, "taken back"),
    ("It is red. is not the answer.", UNDECIDED, "denied in another sentence"),
    ("I do not know. <!-- red -->", ABSTAINED, "in a comment, which is not shown"),
    ("I do not know. <details><summary>More</summary>It is red.</details>", ABSTAINED, "folded away"),
    (
        "I do not know. ![red](a.png) [here](b.html 'red')",
        ABSTAINED,
        "instead of a picture, and as a link's title",
    ),
    ("First it was blue. Green came after it, and at last another one.\n\nRed", CORRECT, "alone at the end"),
    ("Blue. Hmm, no – I mixed that up. Red.", CORRECT, "a correction"),
    ("Vermilion.", UNDECIDED, "perhaps another word for it"),
    ("Red is what I should say, but also what I should not.", CORRECT, "the one that it names"),
    (QUESTION, WRONG, "an echo of the question"),
    ("Okay.", WRONG, "no answer at all"),
    ("", MALFORMED, "nothing"),
    ("   \n", MALFORMED, "white space"),
]


def turn(reply: str) -> Turn:
    return Turn(Message(QUESTION, datetime(2026, 1, 5, tzinfo=UTC), 0), Reply(reply))


@pytest.mark.parametrize(("reply", "outcome", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_the_value_must_be_the_answer(reply: str, outcome: Outcome, why: str) -> None:
    verdict = EXPECT.verdict(reply, [turn(reply)])
    assert verdict.outcome is outcome, verdict.reason
    assert verdict.score == (1.0 if outcome is CORRECT else 0.0)


def test_a_typing_slip_is_forgiven_and_another_word_is_not() -> None:
    expect = names_only("turquoise", among=PALETTE)
    assert expect.verdict("Turqouise.", []).outcome is CORRECT
    assert expect.verdict("Turquose.", []).outcome is CORRECT
    assert names_only("white", among=PALETTE).verdict("A while ago.", []).outcome is WRONG
    assert names_only("pink", among=PALETTE).verdict("I think so.", []).outcome is WRONG


def test_a_value_that_comes_back_is_not_stale() -> None:
    expect = names_only("blue", among=PALETTE, stale=("blue", "red"))
    assert expect.stale == ("red",)
    assert expect.verdict("Blue.", []).outcome is CORRECT


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("I am a hat maker.", CORRECT),
        ("She is a milliner by trade.", CORRECT),
        ("The author makes hats for a living.", CORRECT),
        ("A tailor.", WRONG),
        ("A seamstress.", WRONG),
        ("A milliner or a tailor.", UNDECIDED),
    ],
)
def test_a_value_may_have_other_names(reply: str, outcome: Outcome) -> None:
    also = {"hat maker": ("milliner", "makes hats"), "tailor": ("seamstress",)}
    expect = names_only("hat maker", among=("hat maker", "tailor", "cobbler"), also=also)
    assert expect.verdict(reply, []).outcome is outcome


@pytest.mark.parametrize(
    "reply",
    [
        "She comes from Turku.",
        "Your great-aunt is from Turku.",
        "You told me: “This one is from Turku, where my great-aunt was born.”",
        "A stone over the door says in which town she was born: Turku.",
    ],
)
def test_an_origin_is_not_a_change(reply: str) -> None:
    expect = names_only("Turku", among=("Turku", "Split", "Jena"))
    assert expect.verdict(reply, []).outcome is CORRECT
    assert (
        names_only("Jena", among=expect.among).verdict("It changed from Turku to Jena.", []).outcome
        is CORRECT
    )


def test_what_is_said_of_somebody_else_is_no_answer() -> None:
    question = "You know some of my friends. Which instrument does Zoran play?"
    expect = names_only("sitar", among=("sitar", "oboe", "harp"))

    def outcome(reply: str) -> Outcome:
        return expect.verdict(
            reply, [Turn(Message(question, datetime(2026, 1, 5, tzinfo=UTC), 0), Reply(reply))]
        ).outcome

    assert outcome("The sitar is Dunja's instrument; for Zoran I have nothing, so: unknown") is not CORRECT
    assert outcome("The sitar is what Dunja plays. About Zoran you told me little.") is UNDECIDED
    assert outcome("Zoran plays the sitar, as Dunja said.") is CORRECT
    assert outcome("As you told me on Monday, he plays the sitar.") is CORRECT


def test_among_what_was_told_a_part_of_a_name_may_do() -> None:
    expect = names_only("fruit bowl", among=("fruit bowl", "sugar bowl", "tool box", "lunch box"))
    told = [
        Message(text, datetime(2026, 1, 5, tzinfo=UTC), 0)
        for text in ("The key is in the fruit bowl.", QUESTION)
    ]

    def outcome(reply: str) -> Outcome:
        return expect.verdict(reply, [Turn(each, Reply(reply)) for each in told]).outcome

    assert outcome("In the bowl.") is CORRECT
    assert outcome("In the sugar bowl.") is WRONG
    assert outcome("In the box.") is WRONG


LOOKS = "Where will she look for the puppet first? One word."
SALLY = [
    (
        "She'll look in the locker, where she left it.",
        CORRECT,
        "named, and then referred to",
    ),
    ("She believes it's still in the locker, so she'll look there.", CORRECT, "the only place that is named"),
    (
        "It went from the case to the locker. She thinks it's in the case, so she'll look there.",
        UNDECIDED,
        "there",
    ),
    (
        "Since it was moved to the locker, she'll look where she had put it.",
        UNDECIDED,
        "where she had put it",
    ),
    ("It's now in the locker, but she'll go to the original place.", UNDECIDED, "the original place"),
    (
        "It's in the case now, but she'll search where she left it.",
        UNDECIDED,
        "referred to, and perhaps right",
    ),
]


@pytest.mark.parametrize(("reply", "outcome", "why"), SALLY, ids=[why for _, _, why in SALLY])
def test_a_place_that_is_only_referred_to_is_not_read(reply: str, outcome: Outcome, why: str) -> None:
    asked = Turn(Message(LOOKS, datetime(2026, 1, 5, tzinfo=UTC), 0), Reply(reply))
    verdict = names_only("locker", among=("locker", "case", "crate")).verdict(reply, [asked])
    assert verdict.outcome is outcome, verdict.reason


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Ghent", CORRECT),
        ("Ghent, both times.", CORRECT),
        ("Ghent, not Porto.", CORRECT),
        ("Ghent. (It's your aunt for whom you gave two towns.)", CORRECT),
        ("Ghent, but earlier you said Porto.", WRONG),
        ("Ghent (previously Porto)", WRONG),
        ("You said Porto first, and later Ghent.", WRONG),
        ("You contradicted yourself: first Porto, later Ghent.", WRONG),
        ("Ghent and Porto", WRONG),
        ("You said both Ghent and Porto.", WRONG),
        ("Ghent. Your brother is the one in Porto.", UNDECIDED),
        ("Ghent, and only that; Porto was your brother.", UNDECIDED),
        ("Only Ghent: you said that he moved there from Porto.", UNDECIDED),
        ("Ghent for your uncle and Porto for Ada.", UNDECIDED),
    ],
)
def test_where_several_are_asked_for_if_there_are_several_a_false_alarm_is_wrong(
    reply: str, outcome: Outcome
) -> None:
    question = "Where was my uncle born? If I've said two different things, tell me both."
    asked = Turn(Message(question, datetime(2026, 1, 5, tzinfo=UTC), 0), Reply(reply))
    verdict = names_only("Ghent", among=("Ghent", "Porto", "Bergen", "Lima")).verdict(reply, [asked])
    assert verdict.outcome is outcome, verdict.reason


def test_without_other_names_the_expectation_is_written_as_before() -> None:
    assert type(names_only("red", among=PALETTE, also={})) is type(EXPECT)


def test_beside_what_should_not_be_mentioned_the_answer_is_undecided_however_it_is_meant() -> None:
    expect = names_only("red", among=PALETTE, without=("blue",))
    assert expect.verdict("It is red.", []).outcome is CORRECT
    assert EXPECT.verdict("It was blue, and now it is red.", []).outcome is CORRECT
    for reply in (
        "It was blue, and now it is red.",
        "You told me that it is red, and that hers is blue.",
        "Hers is the blue one. So yours is red.",
    ):
        verdict = expect.verdict(reply, [])
        assert (verdict.outcome, verdict.score) == (UNDECIDED, 0.0), reply
    assert verdict.reason == "the reply says red, and mentions blue"
    spoken_of = expect.verdict("Blue.", [])
    assert (spoken_of.outcome, spoken_of.score) == (WRONG, 0.0)


def test_what_only_describes_the_answer_denies_nothing() -> None:
    tents = names_only("Lundy", among=("Vireo", "Dovrefell", "Lundy"))
    for reply in ("The one that won't leak is Lundy.", "The one which never lets you down is Lundy."):
        assert tents.verdict(reply, []).outcome is UNDECIDED, reply
    assert tents.verdict("The one that you like is not Lundy.", []).outcome is WRONG


def test_part_of_a_name_with_another_word_attached_may_be_the_answer_but_is_no_other_value() -> None:
    doors = ("wooden hatch", "iron door")
    hatch = names_only("wooden hatch", among=doors).verdict("The escape hatch.", [])
    assert (hatch.outcome, hatch.score) == (UNDECIDED, 0.0)
    door = names_only("iron door", among=doors, stale=("wooden hatch",)).verdict("The escape hatch.", [])
    assert (door.outcome, door.score) == (UNDECIDED, 0.0)
    assert (
        door.reason
        == "“escape” may be another word for what is expected; read as a whole: iron door is not named"
    )


def test_reciting_what_was_told_is_not_an_answer() -> None:
    told = "My favourite colour is red now, since I painted the whole kitchen door with it last Sunday."
    heard = Turn(Message(told, datetime(2026, 1, 5, tzinfo=UTC), 0), Reply("Noted."))
    assert EXPECT.verdict(told, []).outcome is CORRECT
    recited = EXPECT.verdict(told, [heard, turn(told)])
    assert (recited.outcome, recited.score) == (WRONG, 0.0)
    assert "recites" in recited.reason


def test_its_own_wrong_replies_are_wrong_in_every_way_and_its_right_ones_right() -> None:
    outcomes = {EXPECT.verdict(reply, []).outcome for reply in EXPECT.wrong()}
    assert outcomes == {STALE, WRONG, ABSTAINED, MALFORMED}
    assert {EXPECT.verdict(reply, []).outcome for reply in EXPECT.right()} == {CORRECT}
    fresh = names_only("red", among=PALETTE)
    assert [fresh.verdict(reply, []).outcome for reply in fresh.wrong()[:2]] == [WRONG, WRONG]
    assert EXPECT.chance == 1 / 12


@pytest.mark.parametrize("among", [(), ("blue", "green"), ("Red",)])
def test_a_value_that_could_not_be_the_answer_is_an_error(among: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"names_only\('red'\): among lacks this value"):
        names_only("red", among=among)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (
            "She'll look elsewhere, as she doesn't know about the barrel.",
            "the reply gives no answer, and says of",
        ),
        ("I don't know, perhaps the drawer.", "the reply does not know, and guesses: drawer"),
        ("The drawer or the barrel.", "the reply does not choose: drawer or barrel"),
        (
            "It's in the drawer now, but she'll look where she left it.",
            "the reply says drawer, and refers back",
        ),
    ],
)
def test_a_reason_says_only_what_is_true_of_the_reply(reply: str, reason: str) -> None:
    verdict = names_only("barrel", among=("barrel", "drawer", "crate")).verdict(reply, [])
    assert reason in verdict.reason


@pytest.mark.parametrize("between", [", ", "; ", "; and ", ", and "])
def test_values_side_by_side_are_no_answer_whatever_divides_them(between: str) -> None:
    colours = ("white", "pink", "red", "blue", "green", "grey")
    for value in colours[:3]:
        assert names_only(value, among=colours).verdict(between.join(colours[:3]), []).score == 0


@pytest.mark.parametrize("place", ["comes second", "is third", "came in second", "ranks fourth"])
def test_what_comes_later_in_a_row_is_not_surely_the_answer(place: str) -> None:
    birds = ("skylark", "lapwing", "robin")
    reply = f"The skylark {place}, after the lapwing."
    assert names_only("skylark", among=birds).verdict(reply, []).outcome is Outcome.UNDECIDED
    assert (
        names_only("skylark", among=birds).verdict("The skylark, after the lapwing.", []).outcome
        is Outcome.CORRECT
    )


def test_a_cue_of_the_question_is_none_in_the_reply_whatever_its_ending() -> None:
    turn = Turn(
        Message("What does my former neighbour keep?", AT, 0), Reply("Your former neighbour keeps a gecko.")
    )
    assert (
        names_only("gecko", among=("gecko", "goat")).verdict(turn.reply.text, [turn]).outcome
        is Outcome.CORRECT
    )


def test_a_false_alarm_stands_beside_an_answer() -> None:
    asked = "What was her first job? If I've said two different things, I need both."
    turn = Turn(Message(asked, AT, 0), Reply("She started out as a typist."))
    verdict = names_only("weaver", among=("weaver", "typist")).verdict(turn.reply.text, [turn])
    assert (verdict.outcome, verdict.reason) == (Outcome.WRONG, "the reply says typist, expected weaver")
