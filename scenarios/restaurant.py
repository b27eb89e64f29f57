"""Restaurant: a play in five scenes; who remembers the menu, the dish, and the drink?"""

from ltm_bench import Ask, Dice, Script, Tell, names_only, notices, ordered, orders, scenario

RULES = (
    "Let us play restaurant for a while, between other things. Whenever a message of mine begins with “Waiter:”, you "
    "are the guest, and answer as the guest, in a sentence or two. Order only what is on the menu, and if something is "
    "not as it should be, say so."
)

DRINKS = ("apple juice", "mint tea", "sparkling water", "elderflower lemonade", "hot chocolate", "malt beer")

DISHES = (
    "onion soup with toasted bread", "beetroot salad with walnuts", "grilled trout with almonds",
    "mushroom risotto with parsley", "lamb stew with white beans", "spinach dumplings with brown butter",
    "roast duck with red cabbage", "pumpkin curry with rice", "plum tart with cinnamon",
)  # fmt: skip

MENU = (
    "Waiter: Good evening, and welcome! This is our menu. To drink, we have {drinks}. To eat, we have {dishes}. "
    "I shall come for the dishes later. What may I bring you to drink?"
)

SERVED = "Waiter: Your {drink}, please. And what would you like to eat from our menu?"
CHOSEN = "Waiter: I have taken the liberty of bringing you the {drink}. And what would you like to eat from our menu?"
SOLD_OUT = (
    "Waiter: I am so sorry, the {dish} has just been sold out. What else from our menu may I bring you?"
)
NO_ORDER = "Waiter: I would have recommended the {dish}, but that is sold out. What else from our menu may I bring you?"
TAKEN = "Waiter: The {dish} it is. It will take a little while."
DECIDED = "Waiter: Then let me decide for you, and bring you the {dish}. It will take a little while."
MIXED_UP = "Waiter: Here you are, the {dish}. Enjoy your meal!"
APOLOGY = (
    "Waiter: I have to apologise for the trouble with your meal. Another one of your drink is on the house. "
    "Which drink was it that I brought you?"
)


@scenario(
    skills={"role play", "recall", "conflict"},
    topics={"the restaurant"},
    forget="The play in the restaurant is over, thank you. If there is another one, it begins with nothing ordered.",
)
def restaurant(dice: Dice, *, drinks: tuple[str, ...] = DRINKS, dishes: tuple[str, ...] = DISHES) -> Script:
    """Play the five scenes; where the guest orders nothing, the waiter decides, so that the play goes on."""
    if len(drinks) < 2 or len(dishes) < 4:
        raise ValueError("drinks: 2 or more are needed, and 4 or more dishes")
    drinks, dishes = tuple(dice.shuffled(drinks)), tuple(dice.shuffled(dishes))
    yield Tell(RULES, at=0.0)
    menu = MENU.format(drinks=", ".join(drinks), dishes=", ".join(dishes))
    reply = yield Ask(menu, expect=orders(drinks), at=0.2)
    wanted = _order(reply.text, drinks)
    drink = wanted or dice.choice(drinks)
    scene = SERVED if wanted else CHOSEN
    reply = yield Ask(scene.format(drink=drink), expect=orders(dishes), at=0.4)
    wanted = _order(reply.text, dishes)
    gone = wanted or dice.choice(dishes)
    scene = SOLD_OUT if wanted else NO_ORDER
    reply = yield Ask(scene.format(dish=gone), expect=orders(dishes, gone=[gone]), at=0.6)
    left = tuple(dish for dish in dishes if dish != gone)
    wanted = _order(reply.text, left)
    dish = wanted or dice.choice(left)
    yield Tell((TAKEN if wanted else DECIDED).format(dish=dish))
    spoken_of = [gone, dish, *ordered(reply.text, left)]
    other = dice.choice([each for each in dishes if each not in spoken_of] or [gone])
    yield Ask(MIXED_UP.format(dish=other), expect=notices(dish, served=other), at=0.8)
    yield Ask(APOLOGY, expect=names_only(drink, among=drinks), at=1.0)


def _order(reply: str, menu: tuple[str, ...]) -> str | None:
    """Return the first thing that the guest orders; who recites the menu orders nothing."""
    wanted = ordered(reply, menu)
    return wanted[0] if 0 < len(wanted) <= max(1, len(menu) // 2) else None
