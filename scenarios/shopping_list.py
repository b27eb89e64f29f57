"""Shopping list: items are added to a list and removed from it; what is on it in the end, and how many?"""

from ltm_bench import Ask, Dice, Script, Tell, item_counts, scenario

GOODS = (
    "apple", "lemon", "carrot", "onion", "cucumber", "yoghurt", "candle", "sponge",
    "toothbrush", "notebook", "light bulb", "battery", "pineapple", "baguette",
)  # fmt: skip

ADD = (
    "Please put {amount} on my shopping list.",
    "I need {amount}. Add that to my shopping list.",
    "One more thing for the shopping list: {amount}.",
)

REMOVE = (
    "Take {amount} off my shopping list again, please.",
    "I do not need that many: strike {amount} from my shopping list.",
)

QUESTION = (
    "What is on my shopping list now, and how many of each? Answer with a JSON list of objects that have the keys "
    "'item' and 'quantity', and with nothing else."
)


def _amount(item: str, count: int) -> str:
    """Write an amount in words: `an apple`, `2 batteries`."""
    if count == 1:
        return f"{'an' if item[0] in 'aeiou' else 'a'} {item}"
    plural = item[:-1] + "ies" if item.endswith("y") else item + "es" if item.endswith("sh") else item + "s"
    return f"{count} {plural}"


FORGET = "I have bought everything that was on my shopping list. From now on it is empty."


@scenario(skills={"recall", "conflict", "aggregation"}, topics={"shopping list"}, forget=FORGET)
def shopping_list(
    dice: Dice,
    *,
    changes: int = 6,
    goods: tuple[str, ...] = GOODS,
    most: int = 3,
    add: tuple[str, ...] = ADD,
    remove: tuple[str, ...] = REMOVE,
) -> Script:
    """Change a list `changes` times, by one to `most` of one item; then ask for the whole list."""
    cart: dict[str, int] = {}
    for i in range(changes):
        # Something always stays on the list, so that the empty answer is never right.
        spare = [item for item, count in cart.items() if len(cart) > 1 or count > 1]
        if spare and dice.chance(0.25):
            item = dice.choice(spare)
            count = dice.integer(1, cart[item] if len(cart) > 1 else cart[item] - 1)
            cart[item] -= count
            if not cart[item]:
                del cart[item]
            text = dice.choice(remove)
        else:
            item = dice.choice(goods)
            count = dice.integer(1, most)
            cart[item] = cart.get(item, 0) + count
            text = dice.choice(add)
        yield Tell(text.format(amount=_amount(item, count)), at=i / changes)
    yield Ask(QUESTION, expect=item_counts(cart, among=goods), at=1.0)
