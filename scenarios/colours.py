"""Colours: the user's favourite colour keeps changing; only the latest one counts."""

from ltm_bench import Ask, Dice, Fact, Script, Tell, names_only, scenario

PALETTE = (
    "red", "blue", "green", "yellow", "purple", "orange", "pink", "brown",
    "black", "white", "grey", "turquoise", "beige", "gold", "silver",
)  # fmt: skip

FIRST = (
    "By the way, my favourite colour is {colour}.",
    "Something about me: of all the colours, I like {colour} best.",
    "If you ever pick out a gift for me, make it {colour}: that is my favourite colour.",
    "You might like to know my favourite colour. It is {colour}.",
    "We have just painted the front door {colour}, because that is my favourite colour.",
    "Here is a small thing to remember about me: my favourite colour is {colour}.",
)

CHANGED = (
    "I have changed my mind about my favourite colour: now it is {colour}.",
    "My taste has moved on. From today on, my favourite colour is {colour}.",
    "Forget what I said about colours: my favourite is {colour} now.",
    "These days I prefer {colour}; call it my new favourite colour.",
    "I have a new favourite colour, by the way: {colour}.",
    "It is funny how tastes change. My favourite colour is {colour} now.",
    "A correction about my favourite colour: from now on it is {colour}.",
    "As for my favourite colour, I have gone over to {colour}.",
)

QUESTIONS = (
    "What is my favourite colour now? Name the colour alone, please.",
    "Which colour is my favourite at present? One word will do.",
    "A quick question: what is my favourite colour these days? Answer with the colour and nothing else.",
    "Could you tell me what my current favourite colour is? Just the colour, please.",
    "My favourite colour: which one is it now? Reply with that one word.",
)


@scenario(skills={"recall", "conflict"}, topics={"favourite colour"}, version=2)
def colours(
    dice: Dice,
    *,
    changes: int = 3,
    palette: tuple[str, ...] = PALETTE,
    first: tuple[str, ...] = FIRST,
    changed: tuple[str, ...] = CHANGED,
) -> Script:
    """Name a different favourite colour `changes` times; then ask for the latest."""
    last = dice.card("colour", palette)
    told = [*dice.sample([colour for colour in palette if colour != last], changes - 1), last]
    for i, colour in enumerate(told):
        text = dice.choice(changed if i else first)
        fact = Fact("favourite colour", colour, words=("colour",))
        yield Tell(text.format(colour=colour), at=i / changes, facts=(fact,))
    expect = names_only(last, among=palette, stale=told[:-1])
    yield Ask(dice.choice(QUESTIONS), expect=expect, at=1.0)
