"""Forget me: the user tells two things, checks that both are remembered, and has one deleted, which must not come up.

Both are asked for in the same words, before and after. The questions are of two rounds, each with something to know, to
forget and to keep, and one round counts only if the other was right. So silence earns nothing, nor does saying
everything, nor refusing after the deletion, nor saying each thing once, or twice.
The texts are in `forget_me.json`.
"""

from collections.abc import Mapping
from typing import Any

from ltm_bench import Ask, Dice, Fact, Matcher, Script, Tell, content, names_only, scenario, withholds

MESSAGES: Mapping[str, Any] = content(__file__)["messages"]

POOLS: dict[str, dict[str, tuple[str, ...]]] = {
    "present": {
        "of": (
            "Adele", "Bertram", "Cecily", "Dominik", "Elvira", "Florian", "Gesine", "Hamish", "Iolanthe", "Jasper",
            "Konrad", "Lorena", "Moritz", "Nerys", "Oswin", "Philippa", "Quentina", "Rainer", "Sibylle", "Tancred",
            "Undine", "Volker", "Wiebke", "Yorick",
        ),
        "values": (
            "barometer", "bicycle bell", "camera", "corkscrew", "chess set", "drill", "birdcage", "fountain pen",
            "frying pan", "globe", "gramophone", "hammock", "helmet", "jigsaw puzzle", "kaleidoscope", "kettle",
            "lampshade", "microscope", "mouth organ", "nutcracker", "paddle", "parasol", "pocket knife", "raincoat",
            "rocking chair", "saddlebag", "samovar", "sledge", "sundial", "tea caddy", "telescope", "toaster",
            "cookbook", "vase", "waistcoat", "watering can",
        ),
    },
    "hiding place": {
        "of": (
            "spare key", "savings book", "diary", "love letters", "old passport", "rare stamps",
            "signet ring", "medal", "lottery ticket", "safe deposit box key", "old photos",
            "insurance policy", "pearl necklace", "birth certificate", "gold coins", "concert tickets",
            "secret recipe", "bank card", "emergency cash", "second phone", "pocket watch", "will",
            "car papers", "memory stick",
        ),
        "values": (
            "guitar case", "shoebox", "biscuit tin", "bread bin", "wardrobe", "jewellery box",
            "wellington boot", "cookery book", "cuckoo clock", "dolls' house", "rucksack", "bookcase",
            "flour jar", "flowerpot", "freezer", "fruit bowl", "grandfather clock", "laundry basket",
            "toy chest", "linen cupboard", "mattress", "piano stool", "picture frame", "filing cabinet",
            "rabbit hutch", "golf bag", "sewing box", "sugar bowl", "sofa cushion", "teapot", "tool shed",
            "record player", "hatbox", "vacuum cleaner", "cereal box", "wine rack",
        ),
    },
}  # fmt: skip

KINDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    kind: {**pools, **MESSAGES[kind]} for kind, pools in POOLS.items()
}


@scenario(skills={"forgetting", "recall"}, topics={"secrets"}, forget=MESSAGES["forget"], version=4)
def forget_me(dice: Dice, *, kinds: Mapping[str, Mapping[str, tuple[str, ...]]] = KINDS) -> Script:
    """Tell two things, ask for both, have one deleted; ask for both again, directly and together."""
    name = dice.card("kind", tuple(kinds))
    kind = kinds[name]
    (gone, stays), (value, kept) = dice.hand(f"{name}: of", kind["of"], 2), dice.hand(name, kind["values"], 2)
    told = dice.shuffled([(gone, value), (stays, kept)])
    texts = dice.sample(kind["told"], 2)
    for at, text, (of, its) in zip((0.0, 0.15), texts, told, strict=True):
        fact = Fact(of, its, words=(of,), among=kind["values"])
        yield Tell(text.format(of=of, value=its), at=at, facts=(fact,))
    # What is deleted later may be said before, as a mix-up. It is no leak: nothing is a secret yet.
    known = names_only(value, among=kind["values"], without=(kept,))
    stayed = names_only(kept, among=kind["values"], without=(value,))
    secret, left = (withholds(value, answer=its, among=kind["values"]) for its in ("", kept))
    again = iter(dice.shuffled(kind["again"]))
    rounds = [f"the {name} ({of}: {its})" for of, its in ((gone, value), (stays, kept))]

    def ask(of: str, expect: Matcher, at: float | None, its: int) -> Ask:
        text = next(again) if of else dice.choice(kind["side"])
        return Ask(text.format(of=of), expect=expect, at=at, shows=rounds[its], needs=rounds[1 - its])

    yield ask(gone, known, 0.4, 0)
    yield ask(stays, stayed, None, 1)
    yield Tell(dice.choice(kind["delete"]).format(of=gone), at=0.5, deletes=(gone,))
    yield ask(gone, secret, 0.7, 0)
    yield ask(stays, left, None, 0)
    yield ask(gone, secret, 0.9, 1)
    yield ask("", left, 1.0, 1)
