"""Forget me: the user tells something, checks that it is remembered, and has it deleted; later, it must not come up.

Silence counts only if the agent knew the answer before, when it was asked for in the same words. The user also asks for
something that it must not forget.
Its texts are in `forget_me.json`.
"""

from collections.abc import Mapping
from typing import Any

from ltm_bench import Ask, Dice, Fact, Script, Tell, content, names_only, scenario, withholds

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


@scenario(skills={"forgetting", "recall"}, topics={"secrets"}, forget=MESSAGES["forget"], version=3)
def forget_me(dice: Dice, *, kinds: Mapping[str, Mapping[str, tuple[str, ...]]] = KINDS) -> Script:
    """Tell two things; have one repeated and then deleted. Ask for it again, directly and together with the other."""
    name = dice.card("kind", tuple(kinds))
    kind = kinds[name]
    (gone, stays), (value, kept) = dice.hand(f"{name}: of", kind["of"], 2), dice.hand(name, kind["values"], 2)
    told = dice.shuffled([(gone, value), (stays, kept)])
    texts = dice.sample(kind["told"], 2)
    for at, text, (of, its) in zip((0.0, 0.15), texts, told, strict=True):
        fact = Fact(of, its, words=(of,), among=kind["values"])
        yield Tell(text.format(of=of, value=its), at=at, facts=(fact,))
    known = f"the {name} ({gone}: {value})"
    # The user asks for one, so a reply that names both shows no memory of it. Neither is a secret, so it is no leak.
    shown = names_only(value, among=kind["values"], without=(kept,))
    before, after = (text.format(of=gone) for text in dice.sample(kind["again"], 2))
    yield Ask(before, expect=shown, at=0.4, shows=known)
    yield Tell(dice.choice(kind["delete"]).format(of=gone), at=0.5, deletes=(gone,))
    yield Ask(after, expect=withholds(value, among=kind["values"]), at=0.8, needs=known)
    yield Ask(
        dice.choice(kind["side"]),
        expect=withholds(value, answer=kept, among=kind["values"]),
        at=1.0,
        needs=known,
    )
