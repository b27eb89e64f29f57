"""Prospective memory: the user gives a quotation; much later, it must be added to the n-th reply from then on.

The quotations, by fictitious people, and the small talk are in `prospective_memory.json`.
"""

import json
from pathlib import Path

from ltm_bench import Ask, Chat, Dice, Script, Tell, said_in, scenario

_POOLS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

QUOTATIONS: dict[str, str] = _POOLS["quotations"]
"""Author and sentence."""

SMALL_TALK: tuple[str, ...] = tuple(_POOLS["small_talk"])

TELL = (
    "I came across a sentence by {author} that I would like to keep: “{quotation}”",
    "{author} once put it like this: “{quotation}” I like that very much.",
    "There is a line by {author} that I never want to forget: “{quotation}”",
    "My aunt has embroidered something by {author} on a cushion: “{quotation}”",
    "Somebody read a sentence by {author} to us last night: “{quotation}”",
    "Do you know what {author} used to say? “{quotation}” Please keep that for me.",
)

REQUESTS = (
    "Please add the sentence by {author}, word for word, to the end of your {nth} reply from now on, and to no other. "
    "Your reply to this message counts as the first one.",
    "Do you still have the sentence by {author}? I would like to see it at the end of your {nth} reply, in its exact "
    "words, and nowhere else. We start counting now: your answer to this message is the first reply.",
    "A little task: your {nth} reply, counting your reply to this message as the first, should end with the sentence "
    "by "
    "{author}, word for word. Leave it out of all the others.",
)

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")

ANSWER = "Let me think about that."


@scenario(
    skills={"prospective", "recall"},
    topics={"quotations"},
    forget="Thank you. No more quotations are wanted from here on.",
    version=2,
)
def prospective_memory(
    dice: Dice,
    *,
    least: int = 2,
    most: int = 8,
    quotations: dict[str, str] = QUOTATIONS,
    small_talk: tuple[str, ...] = SMALL_TALK,
) -> Script:
    """Give a quotation; at the end of the span, ask for it in a reply `least` to `most` turns ahead."""
    if not 2 <= least <= most <= len(ORDINALS):
        raise ValueError(
            f"least = {least}, most = {most}: from 2 to {len(ORDINALS)} are possible, least first"
        )
    author = dice.card("author", tuple(quotations))
    quotation = quotations[author]
    nth = dice.integer(least, most)
    yield Tell(dice.choice(TELL).format(author=author, quotation=quotation), at=0.0)
    request = dice.choice(REQUESTS).format(author=author, nth=ORDINALS[nth - 1])
    yield Chat(request, at=0.9)  # several replies come before the question
    talk = dice.hand("small talk", small_talk, most)[:nth]
    for i, text in enumerate(talk[:-1], start=2):
        yield Chat(text, ideal=f"{ANSWER} {quotation}" if i == nth else ANSWER)
    yield Ask(talk[-1], expect=said_in(quotation, nth))
