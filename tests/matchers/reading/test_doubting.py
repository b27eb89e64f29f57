"""Wrong is said only of a reply that was read; what a reply announces at its end is its answer."""

from datetime import UTC, datetime

import pytest

from ltm_bench import (
    Message,
    Reply,
    Turn,
    in_order,
    item_counts,
    names_only,
    never_said,
    orders,
    says,
    tallies,
)
from ltm_bench.core.messages import Matcher, Outcome
from ltm_bench.matchers.decoding import decodes
from ltm_bench.matchers.reading.doubting import announced, parts
from ltm_bench.matchers.routes import follows_route

AT = datetime(2026, 1, 5, tzinfo=UTC)
COLOUR = names_only("red", among=("red", "blue", "green", "white", "black", "grey"))
TRADE = names_only("night train", among=("night train", "train", "ferry", "plane"))
LIST = item_counts({"apple": 3, "light bulb": 1}, among=("apple", "light bulb", "milk"))
ORDER = in_order(["well", "roof", "stove"], among=("roof", "stove", "well", "gate", "fence"))
ROUTE = follows_route(
    "Opera", [("north", 2, "Mill"), ("east", 1, "Lido")], among=("Opera", "Mill", "Lido", "Jail")
)
GUEST = orders(("apple juice", "mint tea", "white wine", "hot chocolate"))
SPY = decodes(
    {"when": "noon", "what": "rope"},
    {"when": {"noon": ("noon",), "dusk": ("dusk",)}, "what": {"rope": ("rope",), "lamp": ("lamp",)}},
)
UNTOLD = never_said(("baker", "glazier"), near=["cobbler"])
CASES: list[tuple[Matcher, str, Outcome, str]] = [
    (COLOUR, "It was blue, then green. Red.", Outcome.CORRECT, "a bare value at the end"),
    (COLOUR, "You like blue for the hall and green outside. For the door it would be red.", Outcome.UNDECIDED, "A"),
    (COLOUR, "You began with blue, moved to green, and these days it's red.", Outcome.UNDECIDED, "A, a clause"),
    (COLOUR, "Crimson.", Outcome.UNDECIDED, "B: a word that nobody used"),
    (TRADE, "By overnight train.", Outcome.UNDECIDED, "B: an unknown word before a part of the name"),
    (COLOUR, "You told me a lot, blue for one, but what you meant in the end was this: crimson", Outcome.UNDECIDED, "B: an unknown word that is announced"),
    (COLOUR, "It is blue.", Outcome.WRONG, "read, and wrong"),
    (COLOUR, "red, blue, green, white, black, grey", Outcome.WRONG, "a recital"),
    (COLOUR, "First blue, then green, later white, then black, then grey, finally red.", Outcome.WRONG, "all of them"),
    (COLOUR, "Sie mochten zuerst die Farbe Rot und dann war es ein anderes, das ist blue.", Outcome.UNDECIDED, "a language"),
    (COLOUR, "I would say red. But no, I really do not know.", Outcome.UNDECIDED, "it ends with not knowing"),
    (COLOUR, "It is red. She has no idea of that.", Outcome.CORRECT, "somebody else does not know"),
    (COLOUR, "It is red. If that is still unclear, let me know.", Outcome.CORRECT, "a condition is no admission"),
    (COLOUR, "It is red. I might not have understood it correctly.", Outcome.CORRECT, "modesty is no admission"),
    (COLOUR, "It is red. I do not know anything else about it.", Outcome.CORRECT, "nothing else is known"),
    (COLOUR, "- blue\n- red\n- green\n\nRed", Outcome.CORRECT, "one of a list, and then alone"),
    (LIST, "You had milk, too. So the list is: 3 apples, 1 light bulb", Outcome.CORRECT, "a list that is announced"),
    (LIST, "3 apples, 1 light bulb. Not on it any more: milk", Outcome.CORRECT, "what is announced does not hold"),
    (LIST, "Apples: first 2, and 3 now. Light bulb: 1.", Outcome.UNDECIDED, "amounts that are there"),
    (LIST, "3 apples and 1 torch", Outcome.UNDECIDED, "an unknown thing for a missing one"),
    (LIST, "3 apples", Outcome.PARTIAL, "a thing is missing"),
    (ORDER, "The roof, no, the well was first. Right: well, roof, stove", Outcome.CORRECT, "an order that is announced"),
    (ORDER, '["well", "roof", "oven"]', Outcome.UNDECIDED, "another word in a list"),
    (ORDER, '["roof", "well", "stove"]', Outcome.PARTIAL, "another order"),
    (ROUTE, "2 km east, sorry, north, to the Mill, then 1 km east to the Lido.", Outcome.CORRECT, "a leg that is corrected"),
    (ROUTE, "2, north, Mill\n1, east, Lido", Outcome.CORRECT, "without units"),
    (ROUTE, "It is mostly north. 2 km north to the Mill, 1 km east to the Lido.", Outcome.CORRECT, "a remark before it"),
    (ROUTE, "2 km south to the Mill, 1 km east to the Lido.", Outcome.WRONG, "the other way"),
    (GUEST, "The mint tea looks nice. I will have a coffee.", Outcome.UNDECIDED, "something that is not on the menu"),
    (GUEST, "I will have the mint tea. Thank you.", Outcome.CORRECT, "an order, and thanks"),
    (SPY, "When: rope. What: noon.", Outcome.WRONG, "each under the other's label"),
    (SPY, "When: at noon, in the sun. What: a rope.", Outcome.CORRECT, "labels in a line"),
    (UNTOLD, "Unknown. But he fixes shoes: cobbler.", Outcome.UNDECIDED, "a guess that is announced"),
    (UNTOLD, "You never said. Answer: musician.", Outcome.UNDECIDED, "an unknown guess that is announced"),
    (says("Still waters run deep."), "I have already said “Still waters run deep.”", Outcome.UNDECIDED, "reported"),
    (tallies(12), "Seven in June, and then five more, which makes 12.", Outcome.CORRECT, "a total at the end"),
    (tallies(6), "Half a dozen.", Outcome.CORRECT, "half a dozen"),
]  # fmt: skip


@pytest.mark.parametrize(("expect", "reply", "outcome", "why"), CASES, ids=[why for *_, why in CASES])
def test_wrong_is_said_only_of_what_was_read(expect: Matcher, reply: str, outcome: Outcome, why: str) -> None:
    turns = [Turn(Message("Well, what was it?", AT, 0), Reply(reply), "ask")]
    verdict = expect.verdict(reply, turns)
    assert verdict.outcome is outcome, verdict.reason
    assert (verdict.score == 0) is (outcome not in (Outcome.CORRECT, Outcome.PARTIAL))


def test_a_word_of_the_question_or_of_the_conversation_is_no_unknown_one() -> None:
    told = Turn(Message("My aunt sings in the choir.", AT, 0), Reply("How nice."))
    asked = Turn(Message("What colour is the boat?", AT, 1), Reply("The choir boat."), "ask")
    assert COLOUR.verdict("The choir boat.", [told, asked]).outcome is Outcome.WRONG


def test_a_word_of_the_message_that_tells_the_answer_may_mean_it() -> None:
    told = Turn(Message("The boat is scarlet, a bright red.", AT, 0), Reply("How nice."))
    asked = Turn(Message("What colour is the boat?", AT, 1), Reply("Scarlet."), "ask")
    assert COLOUR.verdict("Scarlet.", [told, asked]).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        ("So it is: red", "red"),
        ("List = 2 apples", "2 apples"),
        ("pink → red", "red"),
        ("Old colour: red", ""),
        ("Not on it: milk", ""),
        ("red", ""),
        ('{"colour": "red"}', ""),
    ],
)
def test_what_is_announced_at_the_end(reply: str, end: str) -> None:
    assert announced(reply) == end


def test_a_reply_is_read_in_at_most_a_dozen_parts_each_once() -> None:
    reply = "\n\n".join(
        f"It is {n}; so I think, but who knows. It may be another (or not)." for n in range(500)
    )
    named = [part for _, part in parts(reply)]
    assert len(named) == len(set(named)) <= 12
