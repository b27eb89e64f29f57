"""Table: which replies list the right things in the right amounts."""

from datetime import UTC, datetime

import pytest

from ltm_bench import Message, Reply, Turn, item_counts
from ltm_bench.core.messages import Outcome
from ltm_bench.matchers.items import read_items

CORRECT, PARTIAL, WRONG = Outcome.CORRECT, Outcome.PARTIAL, Outcome.WRONG
ABSTAINED, MALFORMED = Outcome.ABSTAINED, Outcome.MALFORMED
EXPECT = item_counts(
    {"apple": 3, "light bulb": 1, "milk": 2}, among=("apple", "light bulb", "milk", "battery", "candle")
)

TABLE = [
    ('[{"item": "apple", "quantity": 3}, {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}]', 1.0, "as asked"),
    ('[{"item":"Apples","quantity":3},{"item":"Light bulbs","quantity":1},{"item":"Milk","quantity":2}]', 1.0, "plurals and capitals"),
    ('```json\n[{"item": "apples", "quantity": "3"}, {"item": "light bulb", "quantity": "1"}, {"item": "milk", "quantity": "2"}]\n```', 1.0, "a fence, and numbers as strings"),
    ('{"shopping_list": [{"item": "apple", "quantity": 3}, {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}]}', 1.0, "a wrapping object"),
    ('{"apple": 3, "light bulb": 1, "milk": 2}', 1.0, "a mapping"),
    ('["3 apples", "1 light bulb", "2 milk"]', 1.0, "strings with amounts"),
    ('[["apple", 3], ["light bulb", 1], ["milk", 2]]', 1.0, "pairs"),
    ('[{"name": "apple", "count": "three"}, {"name": "light bulb", "count": "one"}, {"name": "milk", "count": "two"}]', 1.0, "words for numbers, other keys"),
    ("Sure! [{'item': 'apple', 'quantity': 3,}, {'item': 'light bulb', 'quantity': 1}, {'item': 'milk', 'quantity': 2}] Anything else?", 1.0, "single quotes, a comma too many, prose around it"),
    ('[{"item": "apple", "quantity": 3}, // fruit\n {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}]', 1.0, "a comment"),
    ('First I had [] but now: [{"item": "apple", "quantity": 3}, {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}]', 1.0, "a draft before it"),
    ('[{"item": "bottles of milk", "quantity": 2}, {"item": "apples", "quantity": 3}, {"item": "light bulb", "quantity": 1}]', 1.0, "packings"),
    ('[{"item": "apple", "quantity": 3}, {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}, {"item": "candle", "quantity": 0}]', 1.0, "what is no longer on it, with a zero"),
    ("- 3 apples\n- 1 light bulb\n- 2 milk", 1.0, "a bulleted list that can be read"),
    ("- 3 apples\n- 1 light bulb\n- 2 milk\n- ~~4 candles~~", 1.0, "a struck-out bullet"),
    ('["3 aplpes", "1 lihgt bulb", "2 milk"]', 1.0, "typos"),
    ("- 3 apples ~~x~~\n- 1 light bulb\n- 2 milk", 1.0, "a bullet of which a letter is struck out"),
    (f"- 3 apples\n- 1 light bulb\n- 2 milk\n- 4 candles{', if you will, ' * 6}", 1.0, "a bullet too long for an entry"),
    (f"- 3 apples\n- 1 light bulb\n- 2 milk\n- {'x' * 80}", (1 + 1 + 2 / 3) / 3 * 2 / 3, "one that is just not too long"),
    ("| Item | Amount |\n|---|---|\n| apple | 3 |\n| light bulb | 1 |\n| milk | 2 packs |", 1.0, "a table"),
    ("| Amount | Item | Where |\n|---|---|---|\n| 3 | apple | shelf 9 |\n| 1 | light bulb | shelf 8 |\n| 2 | milk | shelf 7 |", 1.0, "a table with the amount first, and a shelf"),
    ("| Item | First | Now |\n|---|---|---|\n| apples | 1 | 3 |\n| light bulb | 4 | 1 |\n| milk | 5 | 2 |", 1.0, "a table whose last amount counts"),
    ("| Item | Where |\n|---|---|\n| 3 apples | kitchen |\n| 1 light bulb | hall |\n| 2 milk | cellar |", 1.0, "a table with the amount beside the name"),
    ("| Amount | Item |\n|---|---|\n| 3 | apple |\n| 1 | light bulb |\n| 2 | milk |\n| 6 | |", 1.0, "a table with their sum below"),
    ("You need 3 apples, light bulb ×1 & 2 packs of milk; no candles, not 4 batteries.", 1.0, "prose, with what is not needed"),
    ("You need 3 apples, 1 light bulb, 2 milk, and 4 light coats.", 1.0, "prose, with half a name in something else"),
    ("You need 3 apples plus 1 light bulb and 2 milk; 5 candles; candle or battery.", (1 + 1 + 2 / 3) / 3 * 2 / 3, "prose, with one more"),
    ('{"item": "apple", "quantity": 3}\n{"item": "light bulb", "quantity": 1}\n{"item": "milk", "quantity": 2}', 1.0, "an object on each line"),
    ('{"item": "milk", "quantity": 2}\n{"item": "apple", "quantity": 3}', (2 / 3 + 2 / 3 + 1) / 3, "two objects, each on its line"),
    ('[{"item": "apple", "quantity": 1}, {"item": "apple", "quantity": 2}, {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}]', 1.0, "an amount in two parts"),
    ('[{"item": "apple", "quantity": 2}, {"item": "apple", "quantity": 3}, {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}]', (1 + 1 + 2 / 3) / 3 * 2 / 3, "the same thing again, corrected"),
    ('[{"item": "apple"}, {"item": "light bulb"}, {"item": "milk"}]', 2 / 3, "no amounts"),
    ('[{"item": "apple", "quantity": 3}, {"item": "candle", "quantity": 1}]', 0.0, "as many wrong as right"),
    ('[{"item": "apple", "quantity": 2}, {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}]', (1 + 2 / 3 + 1) / 3, "one amount wrong"),
    ('[{"item": "apple", "quantity": 3}, {"item": "milk", "quantity": 2}]', (2 / 3 + 2 / 3 + 1) / 3, "one missing"),
    ('[{"item": "apple", "quantity": 3}, {"item": "light bulb", "quantity": 1}, {"item": "milk", "quantity": 2}, {"item": "candle", "quantity": 1}]', (1 + 1 + 2 / 3) / 3 * 2 / 3, "one too many"),
    ('[{"item": "chocolate milk", "quantity": 2}, {"item": "apple", "quantity": 3}, {"item": "light bulb", "quantity": 1}]', (2 / 3 + 2 / 3 + 1 / 2) / 3 / 2, "chocolate milk is no milk"),
    ('[{"item": "apple", "quantity": 3}, {"item": "apple", "quantity": 3}, {"item": "apple", "quantity": 3}]', 0.0, "one thing again and again"),
    ('["apple", "light bulb", "milk", "battery", "candle", "sponge"]', 0.0, "everything there is"),
    ('[{"item": "battery", "quantity": 1}]', 0.0, "only what was never on it"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "score", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_things_and_amounts_are_compared(reply: str, score: float, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.score == pytest.approx(score, abs=1e-6), verdict.reason
    assert verdict.outcome is (CORRECT if score == 1 else PARTIAL if score else WRONG)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("I do not know what is on your list.", ABSTAINED),
        ("I don't have access to your shopping list. A list could look like this: [{\"item\": \"apple\", \"quantity\": 1}], for example.", ABSTAINED),
        ("", MALFORMED),
        ("Okay.", MALFORMED),
        ('{"item": ', MALFORMED),
        ("null", ABSTAINED),
        ("- I don't know what is on your list", ABSTAINED),
        ("[]", ABSTAINED),
        ("What is on my shopping list now, and how many of each? Answer with a JSON list of objects that have the keys 'item' and 'quantity', and with nothing else.", MALFORMED),
    ],
)  # fmt: skip
def test_a_reply_without_a_list_is_not_called_wrong(reply: str, outcome: Outcome) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert (verdict.outcome, verdict.score) == (outcome, 0)


def test_an_empty_list_is_right_when_nothing_is_left() -> None:
    right = item_counts({}, among=("apple",)).verdict("[]", [])
    assert (right.outcome, right.score) == (CORRECT, 1)
    verdict = item_counts({}, among=("apple",)).verdict('[{"item": "apple", "quantity": 1}]', [])
    assert (verdict.outcome, verdict.score) == (WRONG, 0)


def test_an_empty_list_is_wrong_when_something_is_left() -> None:
    verdict = EXPECT.verdict("Your list is now: []", [])
    assert (verdict.outcome, verdict.score, verdict.reason) == (WRONG, 0, "the list is empty")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('[{"item": "apple", "quantity": 3}, {"item": "milk", "quantity": 1}]', "2 of 3 items, 1 amounts right; missing: light bulb"),
        ('["3 apples", "1 light bulb", "2 milk", "candle", "battery"]', "3 of 3 items, 3 amounts right; extra: candle, battery"),
        (f'["3 apples", "1 light bulb", "2 milk", "{"x" * 41}"]', f"3 of 3 items, 3 amounts right; extra: {'x' * 40}"),
        ('["1 light bulb", "ab", "ac", "ad", "ae", "af", "ag", "ah", "ai", "aj"]', "1 of 3 items, 1 amounts right; missing: apple, milk; extra: ab, ac, ad, ae, af, ag, ah, ai"),
    ],
)  # fmt: skip
def test_the_reason_says_what_is_missing_and_what_is_too_much(reply: str, reason: str) -> None:
    assert EXPECT.verdict(reply, []).reason == reason


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ({"a": 1, "b": "two"}, [("a", 1), ("b", 2)]),
        ({"a": 1, "b": None}, None),
        ({}, None),
        ({"Item": "x", "Qty": 2}, [("x", 2)]),
        ({"item": 5}, None),
        ({"list": [["a", 1]]}, [("a", 1)]),
        ({"note": "two lists", "one": [["a", 1]], "other": [["b", 2]]}, None),
        ({"one": [["a", 1]], "other": [{"q": 1, "r": 2}]}, [("a", 1)]),
        (["2 a"], [("2 a", 2)]),
        ([["a", "three"], {"b": 3}], [("a", 3), ("b", 3)]),
        ([["a", 1, 2]], None),
        ([[1, "a"]], None),
        ([{"a": 3, "b": 2}], None),
        ([{"name": " "}], None),
        ([{"name": "3 apples"}, {"name": "pears", "count": "some"}], [("3 apples", 3), ("pears", None)]),
        ([{"quantity": 2, "item": "x", "units": 4, "title": "y"}], [("x", 2)]),
        ([], []),
        ("a", None),
        (None, None),
    ],
    ids=str,
)
def test_a_list_of_items_is_read_in_every_usual_shape(
    value: object, items: list[tuple[str, int | None]] | None
) -> None:
    assert read_items(value) == items


def test_it_knows_right_lists_and_typical_wrong_ones() -> None:
    matcher = item_counts({"apple": 3, "milk": 2}, among=("apple", "milk", "tea"))
    assert all(matcher.verdict(reply, []).outcome is CORRECT for reply in matcher.right())
    everything, nothing, more, *_ = matcher.wrong()
    assert (
        everything
        == '[{"item": "apple", "quantity": 1}, {"item": "milk", "quantity": 1}, {"item": "tea", "quantity": 1}]'
    )
    assert nothing == "[]"
    assert more == '[{"item": "apple", "quantity": 4}, {"item": "milk", "quantity": 3}]'
    assert matcher.right()[1].startswith('```json\n{\n "shopping_list": [\n  {\n')
    _, two, one, *_ = item_counts({}, among=("apple", "milk", "tea")).wrong()
    assert two == '[{"item": "apple", "quantity": 1}, {"item": "milk", "quantity": 1}]'
    assert one == '[{"item": "apple", "quantity": 1}]'


def test_a_reply_that_recites_the_conversation_is_wrong() -> None:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    said = [
        f"Put {n} of the {thing} on my list, please."
        for n, thing in enumerate(("apples", "light bulbs", "milk"), 1)
    ]
    turns = [Turn(Message(text, at, n), Reply("Noted.")) for n, text in enumerate(said)]
    verdict = EXPECT.verdict("\n".join(f"- {text}" for text in said), turns)
    assert (verdict.outcome, verdict.score) == (WRONG, 0)
