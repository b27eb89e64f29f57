"""The restaurant's waiter: how he understands an order belongs to the scenario's version."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.plugins.files import find, load

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
    ("The rsiotto, please. No curry.", ["mushroom risotto with parsley"]),
    ("Not the duck.", []),
    ("Instead of the curry I'd like the dumplings.", ["spinach dumplings with brown butter"]),
    ("No mushroom risotto for me, thanks.", []),
    ("The duck sounds tempting, but I'll go with the curry.", ["pumpkin curry with rice"]),
    ("I can't decide between the duck and the curry. What would you recommend?", []),
    ("The lamb, please.", ["lamb stew with white beans"]),
    ("I'll take the grilled salmon.", []),
    ("<think>the duck</think> The onion soup.", ["onion soup with toasted bread"]),
    ("As an AI, I do not eat.", []),
]  # fmt: skip
"""What the waiter of version 2 hears, his errors included: a conversation must not change with a scorer."""


@pytest.mark.parametrize(("reply", "wanted"), TOLD)
def test_the_waiter_understands_what_he_always_has(reply: str, wanted: list[str]) -> None:
    assert restaurant.heard(reply, restaurant.DISHES) == wanted


@st.composite
def _typos(draw: st.DrawFn) -> str:
    word = draw(st.sampled_from(WORDS))
    at = draw(st.integers(0, len(word) - 1))
    kinds = (word, word[:at] + word[at + 1 :], word[:at] + "e" + word[at:], word.upper(), word + "s")
    return draw(st.sampled_from(kinds))


SAID = st.lists(_typos() | st.sampled_from(GLUE), max_size=25)


ORDERS = given(said=SAID, joint=st.sampled_from([" ", "", ", "]), menu=st.sampled_from(MENUS))


@ORDERS
@settings(max_examples=150, deadline=None)
def test_the_waiter_takes_each_dish_of_the_menu_once(
    said: list[str], joint: str, menu: tuple[str, ...]
) -> None:
    takes_each_once(said, joint, menu)


@pytest.mark.slow
@pytest.mark.proof(scenarios=("restaurant",))
@ORDERS
@settings(max_examples=1000, deadline=None, derandomize=True)
def test_the_waiter_takes_each_dish_once_in_a_thousand_orders(
    said: list[str], joint: str, menu: tuple[str, ...]
) -> None:
    takes_each_once(said, joint, menu)


def takes_each_once(said: list[str], joint: str, menu: tuple[str, ...]) -> None:
    wanted = restaurant.heard(joint.join(said), menu)
    assert len(wanted) == len(set(wanted))
    assert set(wanted) <= set(menu)
