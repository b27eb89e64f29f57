"""Colours: a favourite colour changes; only the last one counts."""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

PALETTE = (
    "red", "blue", "green", "yellow", "purple", "orange", "pink", "brown",
    "black", "white", "grey", "turquoise", "crimson", "indigo", "maroon",
)  # fmt: skip

FIRST = (
    "By the way, my favourite colour is {colour}.",
    "Something about me: of all colours I like {colour} best, it is my favourite.",
    "If you ever pick a gift for me, take {colour}: it is my favourite colour.",
)

CHANGED = (
    "I have changed my mind about my favourite colour: now it is {colour}.",
    "My taste has moved on. From today on my favourite colour is {colour}.",
    "Forget what I said about colours, {colour} is my favourite now.",
    "These days I prefer {colour}; call it my new favourite colour.",
)


@scenario(skills={"recall", "conflict"}, topics={"favourite colour"})
def colours(
    dice: Dice,
    *,
    changes: int = 3,
    palette: tuple[str, ...] = PALETTE,
    first: tuple[str, ...] = FIRST,
    changed: tuple[str, ...] = CHANGED,
) -> Script:
    """Name a favourite colour `changes` times, a different one each time; then ask for it."""
    told = dice.sample(palette, changes)
    for i, colour in enumerate(told):
        text = dice.choice(changed if i else first)
        yield Tell(text.format(colour=colour), at=i / changes)
    expect = names_only(told[-1], among=palette, stale=told[:-1])
    yield Ask("What is my favourite colour? Name just the one.", expect=expect, at=1.0)
