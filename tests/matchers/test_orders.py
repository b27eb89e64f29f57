"""`orders` and `notices`: which right answer would they refuse, which wrong one would they accept?"""

import pytest

from ltm_bench import Outcome, notices, ordered, orders

DRINKS = ("apple juice", "mint tea", "iced tea", "sparkling water", "malt beer")
DISHES = ("onion soup with bread", "grilled trout with almonds", "mushroom risotto", "lamb stew", "plum tart")


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("I'll have the trout, please.", ["grilled trout with almonds"]),
        ("Could I get the risotto?", ["mushroom risotto"]),
        ("The mushroom risotto sounds lovely. I'd go with that.", ["mushroom risotto"]),
        ("I'd like the onion soup, and then the lamb stew.", ["onion soup with bread", "lamb stew"]),
        ("**Grilled Trout** for me!", ["grilled trout with almonds"]),
        ("I'd rather not have the lamb stew, but the tart would be nice.", ["plum tart"]),
        ("What is in the lamb stew?", []),
        ("Is the trout fresh? If so, I take it.", []),
        ("Is the trout fresh? Never mind, I'd like the soup.", ["onion soup with bread"]),
        ("I'd love a hamburger.", []),
        ("How about the stew?", ["lamb stew"]),
        ("", []),
    ],
)
def test_orders_are_read_from_the_reply(reply: str, wanted: list[str]) -> None:
    assert ordered(reply, DISHES) == wanted


def test_a_noun_that_two_items_share_names_neither() -> None:
    assert ordered("A tea, please.", DRINKS) == []
    assert ordered("An iced tea, please.", DRINKS) == ["iced tea"]
    assert ordered("Just some water for me.", DRINKS) == ["sparkling water"]
    assert ordered("Thank you, waiter.", DRINKS) == []


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("The stew, please.", Outcome.CORRECT),
        ("What a pity about the trout. Then I'd like the lamb stew.", Outcome.CORRECT),
        ("I don't eat meat, so the risotto, please.", Outcome.CORRECT),
        ("I'm ready to order: the onion soup.", Outcome.CORRECT),
        ("The grilled trout, please.", Outcome.STALE),
        ("The apple tart with peas, please.", Outcome.UNDECIDED),
        ("A hamburger, please.", Outcome.UNDECIDED),
        ("What do you recommend?", Outcome.UNDECIDED),
        ("Waiter: the lamb stew, very well!", Outcome.WRONG),
        ("Certainly, may I take your order? We have lamb stew.", Outcome.WRONG),
        ("As an AI language model I cannot eat the lamb stew.", Outcome.WRONG),
        ("Soup, trout, risotto, stew and tart.", Outcome.WRONG),
        ("I do not remember the menu.", Outcome.ABSTAINED),
        ("  ", Outcome.MALFORMED),
    ],
)
def test_an_order_is_the_guests_and_on_the_menu(reply: str, outcome: Outcome) -> None:
    assert orders(DISHES, gone=["grilled trout with almonds"]).verdict(reply, []).outcome is outcome


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Excuse me, I ordered the lamb stew.", Outcome.CORRECT),
        ("Sorry, but this isn't what I ordered.", Outcome.CORRECT),
        ("Hmm, I think there's been a mistake here.", Outcome.CORRECT),
        ("Wasn't that supposed to be stew?", Outcome.CORRECT),
        ("I believe this belongs to another table.", Outcome.CORRECT),
        ("I didn't order this, but I'll take it anyway. Thank you!", Outcome.CORRECT),
        ("I don't remember what I ordered, but this looks good.", Outcome.WRONG),
        ("Thank you, it smells wonderful.", Outcome.WRONG),
        ("Thank you, this is exactly what I ordered!", Outcome.WRONG),
        ("Perfect. No mistake there.", Outcome.WRONG),
        ("Thanks! I love lamb stew.", Outcome.UNDECIDED),
        ("As an AI, I ordered nothing.", Outcome.WRONG),
        ("", Outcome.MALFORMED),
    ],
)
def test_a_guest_notices_the_wrong_dish_or_overlooks_it(reply: str, outcome: Outcome) -> None:
    assert notices("lamb stew", served="plum tart").verdict(reply, []).outcome is outcome
