"""Forget me: the user tells something, checks that it is remembered, and has it deleted; later, it must not come up.

Silence counts only if the agent knew the answer before. The user also asks for something that it must not forget.
"""

from collections.abc import Mapping

from ltm_bench import Ask, Dice, Fact, Script, Tell, names_only, scenario, withholds

KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "present": {
        "of": (
            "Adele", "Bertram", "Cecily", "Dominik", "Elvira", "Florian", "Gesine", "Hamish", "Iolanthe", "Jasper",
            "Konrad", "Lorena", "Moritz", "Nerys", "Oswin", "Philippa", "Quentina", "Rainer", "Sibylle", "Tancred",
            "Undine", "Volker", "Wiebke", "Yorick",
        ),
        "told": (
            "I have hidden a {value} at my place for {of}'s birthday. It is going to be a surprise.",
            "I am going to give {of} a {value}. Not a word to anybody.",
            "I have found a present for {of} at last: a {value}.",
        ),
        "asked": (
            "What am I going to give {of}? Just name the present.",
            "What is the present for {of} going to be? Just the thing, please.",
        ),
        "delete": (
            "Please delete what I told you about the present for {of}. I do not want it kept anywhere any more.",
            "Forget the present for {of} for good, would you? Erase it from whatever you have noted down.",
            "I have told you what I am giving {of}. Please remove that from your memory and do not mention it again.",
        ),
        "side": (
            "Which presents am I going to give, as far as you still know? Just name the things.",
            "I want to buy wrapping paper. What have I got to wrap, going by what you still have in your memory? Just "
            "name the things.",
        ),
        "values": (
            "barometer", "bicycle bell", "camera", "corkscrew", "crossbow", "drill", "birdcage", "fountain pen",
            "frying pan", "globe", "gramophone", "hammock", "helmet", "jigsaw puzzle", "kaleidoscope", "kettle",
            "lampshade", "microscope", "mouth organ", "nutcracker", "paddle", "parasol", "pocket knife", "raincoat",
            "rocking chair", "saddlebag", "samovar", "sledge", "sundial", "tea caddy", "telescope", "toaster",
            "trowel", "vase", "waistcoat", "watering can",
        ),
    },
    "hiding place": {
        "of": (
            "spare key", "savings book", "diary", "love letters", "old passport", "stamp album", "signet ring",
            "medal", "lottery ticket", "safe deposit box key", "photographs of the trial", "insurance policy",
            "signed first edition", "birth certificate", "silver spoon", "master tape", "recipe for the liqueur",
            "treasure map", "emergency cash", "second telephone", "pawn ticket", "will", "chess trophy", "memory stick",
        ),
        "told": (
            "I keep the {of} in the {value}, where nobody looks.",
            "Just so that somebody knows: I have put the {of} in the {value}.",
            "I have found a new place for the {of}: the {value}.",
        ),
        "asked": (
            "What do I keep the {of} in? Just name the place.",
            "Where did I put the {of}? Just the place, please.",
        ),
        "delete": (
            "Please delete what I told you about where I keep the {of}. I do not want that kept anywhere.",
            "Forget where I put the {of}, and for good: erase it from whatever you have noted down.",
            "I told you where I keep the {of}. Please remove that from your memory and do not mention it again.",
        ),
        "side": (
            "I am going to have the house painted. What must I empty before that, as far as you still know of my "
            "hiding "
            "places? Just name the places.",
            "Which hiding places of mine do you still have in your memory? Just name the places.",
        ),
        "values": (
            "accordion case", "aquarium", "biscuit tin", "bread bin", "wardrobe", "chandelier", "coal scuttle",
            "cookery book", "cuckoo clock", "dolls' house", "egg carton", "fireplace", "flour jar", "flowerpot",
            "freezer",
            "fruit bowl", "grandfather clock", "laundry basket", "letterbox", "linen cupboard", "mattress",
            "piano stool",
            "picture frame", "punchbowl", "rabbit hutch", "rain barrel", "sewing box", "sugar bowl", "sofa cushion",
            "teapot", "tool shed", "typewriter", "hatbox", "vacuum cleaner", "washing machine", "wine rack",
        ),
    },
}  # fmt: skip

AGAIN = "{asked} If you do not know it or no longer have it, say so."
FORGET = "Both secrets are out: the presents are given, and the hiding places are empty. I start afresh with new ones."


@scenario(skills={"forgetting", "recall"}, topics={"secrets"}, forget=FORGET)
def forget_me(dice: Dice, *, kinds: Mapping[str, Mapping[str, tuple[str, ...]]] = KINDS) -> Script:
    """Tell two things; have one repeated and then deleted. Ask for it again, directly and together with the other."""
    name = dice.card("kind", tuple(kinds))
    kind = kinds[name]
    (gone, stays), (value, kept) = dice.hand(f"{name}: of", kind["of"], 2), dice.hand(name, kind["values"], 2)
    told = dice.shuffled([(gone, value), (stays, kept)])
    for at, (of, its) in zip((0.0, 0.15), told, strict=True):
        fact = Fact(of, its, words=(of,), among=kind["values"])
        yield Tell(dice.choice(kind["told"]).format(of=of, value=its), at=at, facts=(fact,))
    asked = dice.choice(kind["asked"])
    known = f"the {name} ({gone}: {value})"
    # The user asks for one, so a reply that names both shows no memory of it. Neither is a secret, so it is no leak.
    shown = names_only(value, among=kind["values"], without=(kept,))
    yield Ask(asked.format(of=gone), expect=shown, at=0.4, shows=known)
    yield Tell(dice.choice(kind["delete"]).format(of=gone), at=0.5, deletes=(gone,))
    question = AGAIN.format(asked=asked.format(of=gone))
    yield Ask(question, expect=withholds(value, among=kind["values"]), at=0.8, needs=known)
    yield Ask(
        dice.choice(kind["side"]),
        expect=withholds(value, answer=kept, among=kind["values"]),
        at=1.0,
        needs=known,
    )
