"""Table: which replies list the right things in the right amounts."""

import pytest

from ltm_bench import item_counts
from ltm_bench.core.messages import Outcome

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
        ("[]", ABSTAINED),
        ("What is on my shopping list now, and how many of each? Answer with a JSON list of objects that have the keys 'item' and 'quantity', and with nothing else.", MALFORMED),
    ],
)  # fmt: skip
def test_a_reply_without_a_list_is_not_called_wrong(reply: str, outcome: Outcome) -> None:
    assert EXPECT.verdict(reply, []).outcome is outcome


def test_an_empty_list_is_right_when_nothing_is_left() -> None:
    assert item_counts({}, among=("apple",)).verdict("[]", []).outcome is CORRECT
