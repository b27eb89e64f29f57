"""Shopping list: the user adds items to a list and removes some; what is on it at the end, and how many of each?"""

from ltm_bench import Ask, Dice, Script, Tell, item_counts, scenario

GOODS = (
    "apple", "lemon", "carrot", "onion", "cucumber", "candle", "sponge", "toothbrush", "notebook", "battery",
    "pineapple", "baguette", "apricot", "artichoke", "avocado", "bagel", "balloon", "banana", "basket", "belt",
    "blanket", "broom", "bucket", "cabbage", "calendar", "cauliflower", "coconut", "colander", "corkscrew", "crayon",
    "croissant", "cushion", "doormat", "envelope", "flowerpot", "football", "glove", "grapefruit", "hairbrush",
    "hammer", "handkerchief", "hinge", "hook", "kite", "kiwi", "ladle", "lampshade", "lollipop", "mango", "melon",
    "mop", "mousetrap", "muffin", "nutcracker", "padlock", "paintbrush", "pancake", "peach", "pencil", "pillow",
    "pizza", "plate", "postcard", "potato", "pretzel", "pumpkin", "puzzle", "radish", "razor", "ribbon", "ruler",
    "saucepan", "screwdriver", "sock", "spatula", "stapler", "teapot", "teaspoon", "thermometer", "tomato", "towel",
    "turnip", "umbrella", "vase", "wallet", "whisk", "whistle", "zip",
)  # fmt: skip

ADD = (
    "Please put {amount} on my shopping list.",
    "I need {amount}. Please add that to my shopping list.",
    "One more thing for the shopping list: {amount}.",
    "Before I forget, my shopping list should have {amount} on it.",
    "Would you write {amount} on my shopping list?",
)
"""For items that are not on the list yet."""

MORE = (
    "Please put {amount} on my shopping list, on top of what is there.",
    "I have thought about it: we need {amount}. Please add that to my shopping list.",
    "Could you raise the number on my shopping list? I want {amount}.",
    "Back to my shopping list, to which I would like to add {amount}.",
)
"""For items that are on the list already: `another apple`, `2 more apples`."""

FEWER = (
    "Take {amount} off my shopping list again, please.",
    "I do not need that many: please strike {amount} from my shopping list.",
    "We can make do with fewer, so please remove {amount} from my shopping list.",
)
"""For items of which some stay on the list: `one of the apples`, `2 of the apples`."""

REMOVE = (
    "We do not need {amount} after all: please take that off my shopping list.",
    "Please strike {amount} from my shopping list. That is done with.",
    "Somebody has already bought {amount}, so take that off my shopping list.",
)
"""For items that leave the list: `the apple`, `both apples`, `all 3 apples`."""

QUESTIONS = (
    "What is on my shopping list now, and how many of each? Answer with a JSON list of objects that have the keys "
    "'item' and 'quantity', and with nothing else.",
    "Please read me my shopping list as it is now: a JSON list of objects with the keys 'item' and 'quantity', without "
    "any other text.",
    "I am off to the shops. Give me my present shopping list as JSON, a list of objects with 'item' and 'quantity', "
    "and "
    "add nothing.",
    "What do I have to buy, according to my shopping list, and how many of each? I want a JSON list of objects whose "
    "keys are 'item' and 'quantity', and nothing else.",
)


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


FORGET = "I have bought everything that was on my shopping list. From now on it is empty."


@scenario(skills={"recall", "conflict", "aggregation"}, topics={"shopping list"}, forget=FORGET, version=2)
def shopping_list(
    dice: Dice,
    *,
    changes: int = 6,
    goods: tuple[str, ...] = GOODS,
    most: int = 3,
    add: tuple[str, ...] = ADD,
    more: tuple[str, ...] = MORE,
    fewer: tuple[str, ...] = FEWER,
    remove: tuple[str, ...] = REMOVE,
) -> Script:
    """Change a list `changes` times, by one to `most` of one item; then ask for the whole list."""
    cart: dict[str, int] = {}
    wanted = dice.hand("goods", goods, min(changes, len(goods)))
    for i in range(changes):
        # Something always stays on the list, so that the empty answer is never right.
        spare = [item for item, count in cart.items() if len(cart) > 1 or count > 1]
        if spare and dice.chance(0.25):
            item = dice.choice(spare)
            count = dice.integer(1, cart[item] if len(cart) > 1 else cart[item] - 1)
            text = dice.choice(remove if count == cart[item] else fewer)
            amount = _removed(item, count, of=cart[item])
            cart[item] -= count
            if not cart[item]:
                del cart[item]
        else:
            item = dice.choice(wanted)
            count = dice.integer(1, most)
            text = dice.choice(more if item in cart else add)
            amount = _added(item, count, more=item in cart)
            cart[item] = cart.get(item, 0) + count
        yield Tell(text.format(amount=amount), at=i / changes)
    yield Ask(dice.choice(QUESTIONS), expect=item_counts(cart, among=goods), at=1.0)
