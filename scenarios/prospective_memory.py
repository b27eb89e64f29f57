"""Prospective memory: a quotation is given; much later it has to be added to the n-th reply from then on."""

from ltm_bench import Ask, Chat, Dice, Script, Tell, said_in, scenario

QUOTATIONS = {
    "Ambrose Tull": "A lighthouse never asks which ship it has saved.",
    "Philippa Marsh": "Whoever counts the stairs arrives at the top out of breath twice.",
    "Hedwig Lorne": "The best maps leave room for the coffee that will be spilt on them.",
    "Casimir Vey": "Silence is a piano with its lid closed, not one without strings.",
    "Odile Brandt": "Every bridge was once an argument between two banks.",
    "Tobias Quill": "Give a clock to an impatient man and you have made two enemies.",
    "Marit Solberg": "Winter keeps its promises, and only summer makes excuses.",
    "Ezra Finch": "He who plants walnuts does not do it for the nuts.",
}

TELL = (
    "I came across a sentence by {author} that I would like to keep: “{quotation}”",
    "{author} once put it like this: “{quotation}” I like that very much.",
)

REQUEST = (
    "Please add the sentence by {author} to the end of your {nth} reply from now on, and to no other. "
    "Your reply to this message is the first one."
)

SMALL_TALK = (
    "What could I cook with two aubergines?",
    "Name three things that float on water.",
    "How would you explain a rainbow to a child?",
    "What is a good name for a grey kitten?",
    "Which plants need hardly any water?",
    "What do you think of getting up early?",
    "How do I get a coffee stain out of a shirt?",
    "Suggest a small present for a colleague.",
    "What could one do on a rainy Sunday?",
    "How many strings does a violin have?",
)

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")

ANSWER = "Let me think about that."


@scenario(
    skills={"prospective", "recall"},
    topics={"quotations"},
    forget="Thank you. No more quotations are wanted from here on.",
)
def prospective_memory(
    dice: Dice,
    *,
    least: int = 2,
    most: int = 8,
    quotations: dict[str, str] = QUOTATIONS,
    small_talk: tuple[str, ...] = SMALL_TALK,
) -> Script:
    """Give a quotation; at the end of the span, request it in the reply that is `least` to `most` turns ahead."""
    if not 2 <= least <= most <= len(ORDINALS):
        raise ValueError(
            f"least = {least}, most = {most}: from 2 to {len(ORDINALS)} are possible, least first"
        )
    author = dice.choice(tuple(quotations))
    quotation = quotations[author]
    nth = dice.integer(least, most)
    yield Tell(dice.choice(TELL).format(author=author, quotation=quotation), at=0.0)
    request = REQUEST.format(author=author, nth=ORDINALS[nth - 1])
    yield Chat(request, at=0.9)  # several replies come before the question
    talk = dice.sample(small_talk, nth)
    for i, text in enumerate(talk[:-1], start=2):
        yield Chat(text, ideal=f"{ANSWER} {quotation}" if i == nth else ANSWER)
    yield Ask(talk[-1], expect=said_in(quotation, nth))
