"""Restaurant: a play in five scenes; who remembers the menu, the dish, and the drink?

What the waiter says is in `restaurant.json`.

The waiter reacts to what the guest orders, so the way an order is *heard* decides what is said next. How it is heard is
therefore part of this scenario, and frozen with its `version`: matchers can improve without changing a
conversation.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ltm_bench import Ask, Chat, Dice, Script, Tell, content, names_only, orders, scenario

_CONTENT: Mapping[str, Any] = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]
ROLES: tuple[str, ...] = _CONTENT["pools"]["roles"]
"""Who serves, if there are several restaurants."""

DRINKS = (
    "apple juice", "mint tea", "sparkling water", "elderflower lemonade", "hot chocolate", "malt beer",
    "vanilla milkshake", "mango lassi", "pear cider", "blackcurrant cordial", "rhubarb spritzer", "double espresso",
    "cold buttermilk", "peach nectar", "ginger kombucha", "cherry cola", "white wine", "mulled punch", "honey mead",
    "banana smoothie", "oat latte", "bitter tonic", "coconut kefir", "almond horchata", "red sangria", "dry sherry",
    "lime squash", "cucumber fizz", "quince liqueur", "plum schnapps",
)  # fmt: skip

DISHES = (
    "onion soup with toasted bread", "beetroot salad with walnuts", "grilled trout with almonds",
    "mushroom risotto with parsley", "lamb stew with white beans", "spinach dumplings with brown butter",
    "roast duck with red cabbage", "pumpkin curry with rice", "plum tart with cinnamon", "leek quiche with chives",
    "beef goulash with paprika", "chicken pie with peas", "lentil burger with pickles", "potato gratin with thyme",
    "fish chowder with dill", "vegetable moussaka with mint", "pork schnitzel with lemon", "prawn paella with saffron",
    "tomato ravioli with sage", "cheese fondue with pears", "turkey enchiladas with sour cream",
    "apple strudel with vanilla sauce", "rabbit terrine with mustard", "crab croquettes with capers",
    "venison meatballs with cranberries", "sweetcorn fritters with chutney", "artichoke pizza with olives",
    "veal kebab with cucumber", "barley porridge with figs", "buckwheat pancakes with maple syrup",
    "oxtail ragout with polenta", "egg noodles with ginger", "rhubarb crumble with custard",
    "chestnut pudding with cream", "anchovy sandwich with radishes", "tuna tacos with lime",
    "smoked eel with horseradish", "poached cod with fennel", "braised ribs with honey",
    "chocolate mousse with raspberries",
    "chickpea couscous with raisins", "stuffed peppers with feta", "broad bean falafel with tahini",
    "steamed mussels with garlic", "hazelnut waffles with cherries", "parsnip gnocchi with blue cheese",
)  # fmt: skip
"""No two of them share a noun, so "the soup" is an order."""


@scenario(
    skills={"role play", "recall", "conflict"},
    topics={"the restaurant"},
    forget=lambda given: MESSAGES["forget_several" if given["several"] else "forget"],
    version=4,
    decoys={"several": True},
)
def restaurant(
    dice: Dice,
    *,
    drinks: tuple[str, ...] = DRINKS,
    dishes: tuple[str, ...] = DISHES,
    most_drinks: int = 6,
    most_dishes: int = 9,
    several: bool = False,
) -> Script:
    """Play the five scenes; if the guest orders nothing, the waiter decides, so that the play continues.

    The menu of an example has up to `most_drinks` and `most_dishes` of the pools. The drink is ordered from a menu in
    the same message, which takes no memory, so it is not scored. If there are `several` restaurants, somebody else
    serves in each example.
    """
    if min(len(drinks), most_drinks) < 2 or min(len(dishes), most_dishes) < 4:
        raise ValueError("drinks: 2 or more are needed on the menu, and 4 or more dishes")

    role = dice.card("role", ROLES) if several else "Waiter"

    def says(scene: str, **named: str) -> str:
        text = dice.choice(MESSAGES[scene]).replace("Waiter", role).replace("waiter", role.lower())
        return text.format(**named)

    drinks = tuple(dice.hand("drinks", drinks, min(len(drinks), most_drinks)))
    dishes = tuple(dice.hand("dishes", dishes, min(len(dishes), most_dishes)))
    yield Tell(says("rules"), at=0.0)
    menu = says("menu", drinks=_listed(drinks), dishes=_listed(dishes))
    reply = yield Chat(menu, ideal=f"The {dice.choice(drinks)}, please.", at=0.2)
    wanted = _order(reply.text, drinks)
    drink = wanted or dice.choice(drinks)
    scene = says("served" if wanted else "chosen", drink=drink)
    reply = yield Ask(_begun(scene), expect=orders(dishes), at=0.4, inline=True)
    wanted = _order(reply.text, dishes)
    gone = wanted or dice.choice(dishes)
    scene = says("sold_out" if wanted else "no_order", dish=gone)
    reply = yield Ask(scene, expect=orders(dishes, gone=[gone]), at=0.6, inline=True)
    left = tuple(dish for dish in dishes if dish != gone)
    wanted = _order(reply.text, left)
    dish = wanted or dice.choice(left)
    yield Tell(says("taken" if wanted else "decided", dish=dish))
    # Any plate may come, the right one too: neither a complaint nor an echo is worth more than chance.
    scene = says("plate", dish=dice.choice(dishes))
    yield Ask(_begun(scene), expect=names_only(dish, among=dishes), at=0.8, inline=True)
    yield Ask(says("drink"), expect=names_only(drink, among=drinks), at=1.0)


def _begun(scene: str) -> str:
    """Write what the waiter says first with a capital: a scene may begin with an item."""
    who, _, said = scene.partition(": ")
    return f"{who}: {said[0].upper()}{said[1:]}"


def _listed(items: Sequence[str]) -> str:
    return ", ".join(items[:-1]) + f", and {items[-1]}"


def _order(reply: str, menu: tuple[str, ...]) -> str | None:
    """Return the first item that the guest orders; a guest who recites the menu orders nothing."""
    wanted = heard(reply, menu)
    return wanted[0] if 0 < len(wanted) <= max(1, len(menu) // 2) else None


# How the waiter hears an order. Frozen: any change to what follows can change a conversation and needs a new `version`.

_READ = 100_000
"""Characters of a reply that the waiter listens to."""

_ADDRESS = ("waitress", *map(str.lower, ROLES))
"""Ignored: `waiter` would otherwise be `water` with a typo, and `butler` butter."""

_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-"})
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+){0,8}")
_SPELLING = {"gray": "grey", "favorite": "favourite", "color": "colour", "colors": "colours"}
_SENTENCE = re.compile(r"(?<=[.!?\n])")
_CLAUSE = re.compile(
    r"[,;:()]|\b(?:but|though|although|while|however)\b|(?=\b(?:i'd|i'll|i would|i will|let me|bring me|give me)\b)"
)
_REQUEST = re.compile(r"\b(?:(?:could|can|may|might) (?:i|we|you)|please|how about|make (?:it|that))\b")
_WEIGHED = re.compile(
    r"\b(?:sounds?|looks?|tempting|tempted|almost|nearly|was going to|considered|torn|had my eye on|last time)\b"
)
"""Words of a clause that mentions a dish without ordering it."""
_OPEN = re.compile(
    r"\b(?:(?:can't|cannot|can not|couldn't|haven't) (?:quite )?decided?|undecided|torn) (?:between|whether)\b"
)
"""Words of a sentence that leaves the choice open."""
_GARNISH = re.compile(r"\b(?:with|served|in|on|of|from|topped|and its)\b")
_DENIAL = re.compile(
    r"\b(?:not(?! only\b| just\b| forget\b| to forget\b)|no(?! problem| doubt| worries)|isn't|wasn't|aren't|don't want|"
    r"never(?! forget\b)|no longer|"
    r"instead of|rather than|other than|anything but|anything except|neither|nor)\b"
)


def heard(reply: str, menu: Sequence[str]) -> list[str]:
    """Return the items on the menu that a reply orders, as it names them, without those it asks about or declines."""
    names = [(name, item) for item in menu for name in _names(item, menu)]
    found: dict[str, None] = {}
    for sentence in _SENTENCE.split(_plain(reply)):
        if _OPEN.search(sentence) or (sentence.rstrip().endswith("?") and not _REQUEST.search(sentence)):
            continue
        for clause in filter(None, _CLAUSE.split(sentence)):
            if _WEIGHED.search(clause):
                continue
            said = [word for word in _words(_DENIAL.split(clause, maxsplit=1)[0]) if word not in _ADDRESS]
            found.update((item, None) for _, item in sorted(_spoken(said, names)))
    return list(found)


def _spoken(said: Sequence[str], names: Sequence[tuple[Sequence[str], str]]) -> Iterator[tuple[int, str]]:
    """Yield where these words name each item."""
    for name, item in names:
        for begin in range(len(said) - len(name) + 1):
            end = begin + len(name)
            short = name[0] == "the" and end < len(said) and said[end] not in _AFTER
            if not short and all(map(_same, said[begin:end], name)):
                yield begin, item


_AFTER = ("please", "for", "then", "and", "thank", "thanks", "today", "as", "would", "will")
"""Words that may follow a dish named by its first word alone."""


def _names(item: str, menu: Sequence[str]) -> list[list[str]]:
    """Return the ways to name an item: the words before its garnish, or its noun alone if no other item has it."""
    own = _head(item)
    others = [word for other in menu if other != item for word in _head(other)]
    names = [own] if any(_same(own[-1], word) for word in others) else [own, own[-1:]]
    if len(own) > 1 and len(own[0]) > 3 and not any(_same(own[0], word) for word in others):
        names.append(["the", own[0]])  # `the lamb`
    return names


def _head(item: str) -> list[str]:
    return _words(_GARNISH.split(_plain(item), maxsplit=1)[0]) or _words(item)


def _plain(text: str) -> str:
    """Return a text in lower case, without reasoning, accents or curly quotes."""
    if "</" in text:
        *_, last = _THOUGHT.split(text)
        text = last if last.strip() else text
    text = text[:_READ]
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.translate(_STRAIGHT))[:_READ]
    if text.isascii():
        return text.lower()
    return "".join(c for c in text if not unicodedata.combining(c)).casefold()


def _words(text: str) -> list[str]:
    return [_SPELLING.get(word, word) for word in _WORD.findall(_plain(text))]


@lru_cache(maxsize=4096)
def _same(said: str, meant: str) -> bool:
    """Whether two words differ at most in number, by one letter, or by two swapped letters."""
    said, meant = _singular(said), _singular(meant)
    if said == meant:
        return True
    shorter = min(len(said), len(meant))
    if shorter < 5 or abs(len(said) - len(meant)) > 1 or any(map(str.isdigit, said + meant)):
        return False
    i = next((i for i in range(shorter) if said[i] != meant[i]), shorter)
    swapped = said[i : i + 2] == meant[i : i + 2][::-1] and said[i + 2 :] == meant[i + 2 :]
    return said[i + 1 :] == meant[i:] or said[i:] == meant[i + 1 :] or swapped


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("'s"):
        word = word[:-2]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        return word[:-2]
    if len(word) > 4 and word.endswith("ves"):
        return word[:-3] + "f"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
