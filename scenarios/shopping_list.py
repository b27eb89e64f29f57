"""Shopping list: the user adds items to a list and removes some; what is on it at the end, and how many of each?

Its texts are in `shopping_list.json`: `add` is for items that are not on the list yet, `more` for items that are,
`fewer` for items of which some stay on it, and `remove` for items that leave it.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, item_counts, scenario

GOODS = (
    "apple", "lemon", "carrot", "onion", "cucumber", "candle", "sponge", "toothbrush", "notebook", "battery",
    "pineapple", "baguette", "apricot", "artichoke", "avocado", "bagel", "balloon", "banana", "basket", "beetroot",
    "blanket", "bowl", "bucket", "cabbage", "cauliflower", "coaster", "coconut", "courgette", "crayon", "croissant",
    "cushion", "doughnut", "egg", "envelope", "flowerpot", "folder", "grapefruit", "handkerchief", "highlighter",
    "hook", "jar", "kiwi", "lampshade", "leek", "lime", "lollipop", "mango", "marker", "melon", "mousetrap", "muffin",
    "mug", "napkin", "nectarine", "orange", "padlock", "paintbrush", "pamphlet", "peach", "pear", "pencil", "pillow",
    "pizza", "plate", "plum", "postcard", "potato", "pretzel", "pumpkin", "radish", "razor", "ribbon", "ruler",
    "saucepan", "sausage", "scone", "spoon", "stamp", "tomato", "towel", "turnip", "yoghurt",
)  # fmt: skip

_CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]
OCCASIONS: tuple[str, ...] = _CONTENT["pools"]["occasions"]
"""What the user shops for, if there are several lists."""


def _named(item: str, count: int) -> str:
    """Write an item in the singular or the plural."""
    if count == 1:
        return item
    if item.endswith("y"):
        return item[:-1] + "ies"
    return item + ("es" if item.endswith(("sh", "ch", "to")) else "s")


def _added(item: str, count: int, *, more: bool) -> str:
    """Write what is added: `an apple`, `2 apples`, `another apple`, `2 more apples`."""
    if count == 1:
        return f"{'another' if more else 'an' if item[0] in 'aeiou' else 'a'} {item}"
    return f"{count}{' more' if more else ''} {_named(item, count)}"


def _removed(item: str, count: int, *, of: int) -> str:
    """Write what is removed: `the apple`, `both apples`, `all 3 apples`, `one of the apples`."""
    if count == of:
        return f"{ ({1: 'the', 2: 'both'}.get(of, f'all {of}')) } {_named(item, of)}"
    return f"{'one' if count == 1 else count} of the {_named(item, 2)}"


@scenario(
    skills={"recall", "conflict", "aggregation", "arithmetic", "format"},
    topics={"shopping list"},
    forget=lambda given: MESSAGES["forget_several" if given["several"] else "forget"],
    version=5,
    decoys={"several": True},
)
def shopping_list(
    dice: Dice,
    *,
    changes: int = 6,
    several: bool = False,
    goods: tuple[str, ...] = GOODS,
    most: int = 3,
    add: tuple[str, ...] = MESSAGES["add"],
    more: tuple[str, ...] = MESSAGES["more"],
    fewer: tuple[str, ...] = MESSAGES["fewer"],
    remove: tuple[str, ...] = MESSAGES["remove"],
) -> Script:
    """Change a list `changes` times, by one to `most` of one item; then ask for the whole list.

    If there are `several`, each example has a list of its own.
    """
    of = f"shopping list for {dice.card('occasion', OCCASIONS)}" if several else "shopping list"
    adding, raising, lowering, removing = (
        cycle(dice.shuffled(texts)) for texts in (add, more, fewer, remove)
    )
    cart: dict[str, int] = {}
    wanted = dice.hand("goods", goods, min(changes, len(goods)))
    for i in range(changes):
        # Something always stays on the list, so that the empty answer is never right.
        spare = [item for item, count in cart.items() if len(cart) > 1 or count > 1]
        if spare and dice.chance(0.25):
            item = dice.choice(spare)
            count = dice.integer(1, cart[item] if len(cart) > 1 else cart[item] - 1)
            text = next(removing if count == cart[item] else lowering)
            amount = _removed(item, count, of=cart[item])
            cart[item] -= count
            if not cart[item]:
                del cart[item]
        else:
            item = dice.choice(wanted)
            count = dice.integer(1, most)
            text = next(raising if item in cart else adding)
            amount = _added(item, count, more=item in cart)
            cart[item] = cart.get(item, 0) + count
        yield Tell(text.replace("shopping list", of).format(amount=amount), at=i / changes)
    question = dice.choice(MESSAGES["question"]).replace("shopping list", of)
    yield Ask(question, expect=item_counts(cart, among=goods), at=1.0)
