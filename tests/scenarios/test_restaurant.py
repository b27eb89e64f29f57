"""The restaurant's waiter: the way an order is heard is frozen, and is the way of 0.1.0."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench import ordered
from ltm_bench.plugins.files import find, load

REPLIES = Path(__file__).parents[3] / "shared" / "data" / "replies" / "replies.jsonl"

restaurant: Any = load(find("scenarios", "restaurant"))

MENUS: list[tuple[str, ...]] = [
    restaurant.DRINKS,
    restaurant.DISHES,
    ("apple juice", "mint tea", "iced tea", "sparkling water", "malt beer"),
    ("favorite pie", "colours soup", "lamb stew", "crème brûlée", "pear-and-fig tart"),
]
WORDS = [word for menu in MENUS for item in menu for word in item.split()]
GLUE = (
    "not but though please . ! ? , ; : ( with and waiter Waiter: instead of rather than I'd like the could I no never "
    "favorite gray ’ “ é ﷺ １ </think> ＜／think＞ 's es ies \n"
).split(" ")

TOLD = [
    ("I'll have the trout, please.", ["grilled trout with almonds"]),
    ("The mushroom risotto, and then the lamb stew.", ["mushroom risotto with parsley", "lamb stew with white beans"]),
    ("I'd rather not have the lamb stew, but the tart would be nice.", ["plum tart with cinnamon"]),
    ("What is in the lamb stew?", []),
    ("How about the lamb stews?", ["lamb stew with white beans"]),
    ("The rsiotto, please. No curry.", ["mushroom risotto with parsley", "pumpkin curry with rice"]),
    ("Not the duck.", []),
    ("Instead of the curry I'd like the dumplings.", []),
    ("<think>the duck</think> The onion soup.", ["onion soup with toasted bread"]),
    ("As an AI, I do not eat.", []),
]  # fmt: skip
"""What the waiter of 0.1.0 hears, his errors included: he heard them then, so he hears them still."""


@pytest.mark.parametrize(("reply", "wanted"), TOLD)
def test_the_waiter_hears_what_he_heard_in_0_1_0(reply: str, wanted: list[str]) -> None:
    assert restaurant.heard(reply, restaurant.DISHES) == wanted


@st.composite
def _typos(draw: st.DrawFn) -> str:
    word = draw(st.sampled_from(WORDS))
    at = draw(st.integers(0, len(word) - 1))
    kinds = (word, word[:at] + word[at + 1 :], word[:at] + "e" + word[at:], word.upper(), word + "s")
    return draw(st.sampled_from(kinds))


SAID = st.lists(_typos() | st.sampled_from(GLUE), max_size=25)


# While `orders` reads replies as 0.1.0 did, the two must agree; drop this test, not the waiter, when `orders` changes.
@given(said=SAID, joint=st.sampled_from([" ", "", ", "]), menu=st.sampled_from(MENUS))
@settings(max_examples=1000, deadline=None)
def test_the_waiter_hears_what_the_matcher_reads(said: list[str], joint: str, menu: tuple[str, ...]) -> None:
    assert restaurant.heard(joint.join(said), menu) == ordered(joint.join(said), menu)


@pytest.mark.skipif(not REPLIES.is_file(), reason="the collected replies are not at hand")
def test_the_waiter_hears_what_the_matcher_reads_in_collected_replies() -> None:
    for line in REPLIES.read_text("utf-8").splitlines():
        reply = json.loads(line)["reply"]
        assert [restaurant.heard(reply, menu) for menu in MENUS] == [ordered(reply, menu) for menu in MENUS]
