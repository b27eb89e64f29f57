"""Which integers a reply mentions, and which one it gives as its answer."""

import pytest

from ltm_bench.matchers.reading.figures import given_number, told_numbers

TOLD = [
    ("8, 15 and 42", [8, 15, 42], "in prose"),
    ("8 counts: 1, 2, 3", [1, 2, 3], "a number that announces the others is none of them"),
    ("20 (corrected from 19)", [20], "a replaced one"),
    ("not 12 but 13", [13], "a denied one"),
    ("~~3~~ 4", [4], "a struck out one"),
    ("1. 15\n2. 4", [15, 4], "a numbered list"),
    ("Night 1: 28\nNight 2: 33", [28, 33], "labels of lines"),
    ("**Star 1:** 28 and 33", [28, 33], "a bold label"),
    ("Option 1: She slept.\nOption 2: He woke.", [], "labels alone"),
    ("The counts were 28: no more.", [28], "a colon in a sentence labels nothing"),
    ("fifteen and thirty-eight", [15, 38], "in words"),
    ("one of them is 4", [4], "one is a pronoun"),
    ("81.0", [81], "with a decimal point"),
    ("21 stars, 4 stars and 16 stars", [21, 4, 16], "counted things announce nothing"),
    ("| # | stars |\n|---|---|\n| 1 | 21 |\n| 2 | 4 |", [21, 4], "a column that only counts the rows"),
    ("two thousand, a hundred and four, three dozen", [2000, 104, 36], "large numbers in words"),
    ("一共5个，还有7个", [5, 7], "beside Chinese"),
    ("version 2.5 of b12", [], "decimals and names are no counts"),
]
GIVEN = [
    ("It is 15.", 15, "in a sentence"),
    ("1,234", 1234, "with a separator"),
    ("12 + 3 = 15", 15, "the result of a sum"),
    ("-5", -5, "a minus"),
    ("It was 12, now it is 15.", 15, "what holds now"),
    ("3, 4 and 5, so 12 in all, from 3 counts.", 12, "a conclusion"),
    ("May: 3 + 1 = 4; June: 2 + 5 = 7. Total: **11**", 11, "a total after the sums"),
    ("May: 3 + 1 = 4; June: 2 + 5 = 7; 11 altogether", 11, "what the sums come to"),
    ("6 + 3 = 9 (from 2 pages)", 9, "a number after the result that is neither"),
    ("There are none.", None, "no number"),
]


@pytest.mark.parametrize(("reply", "numbers", "why"), TOLD, ids=[why for *_, why in TOLD])
def test_the_numbers_that_a_reply_mentions(reply: str, numbers: list[int], why: str) -> None:
    assert list(told_numbers(reply)) == numbers


@pytest.mark.parametrize(("reply", "number", "why"), GIVEN, ids=[why for *_, why in GIVEN])
def test_the_one_number_that_a_reply_gives(reply: str, number: int | None, why: str) -> None:
    assert given_number(reply, signed=True) == number
