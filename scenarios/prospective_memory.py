"""Prospective memory: the user gives a quotation; it must be said when, much later, a certain thing is mentioned.

Its texts, the cues, and the quotations by fictitious people are in `prospective_memory.json`.
"""

from collections.abc import Mapping

from ltm_bench import Ask, Chat, Dice, Script, Tell, content, said_in, scenario

_CONTENT = content(__file__)

MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]

QUOTATIONS: dict[str, str] = _CONTENT["pools"]["quotations"]
"""Author and sentence."""

CUES: tuple[str, ...] = _CONTENT["pools"]["cues"]
"""People of whom neither the small talk nor another scenario speaks."""

ANSWER = "Let me think about that."


@scenario(skills={"prospective", "recall"}, topics={"quotations"}, forget=MESSAGES["forget"], version=3)
def prospective_memory(
    dice: Dice,
    *,
    least: int = 2,
    most: int = 8,
    quotations: dict[str, str] = QUOTATIONS,
    cues: tuple[str, ...] = CUES,
    small_talk: tuple[str, ...] = MESSAGES["small_talk"],
) -> Script:
    """Ask for a quotation in the reply to the next message with a cue, which comes after `least` to `most` others."""
    if not 1 <= least <= most <= len(small_talk):  # after none, an agent that always says it would be right
        raise ValueError(
            f"least = {least}, most = {most}: from 1 to {len(small_talk)} are possible, least first"
        )
    author = dice.card("author", tuple(quotations))
    quotation = quotations[author]
    cue = dice.card("cue", cues)
    yield Tell(dice.choice(MESSAGES["told"]).format(author=author, quotation=quotation), at=0.0)
    yield Chat(dice.choice(MESSAGES["request"]).format(author=author, cue=cue), at=0.25)
    between = dice.integer(least, most)
    for i, text in enumerate(dice.hand("small talk", small_talk, most)[:between], start=1):
        yield Chat(text, ideal=ANSWER, at=0.25 + 0.75 * i / (between + 1))
    expect = said_in(quotation, between + 2, beyond=0)
    yield Ask(
        dice.choice(MESSAGES["cue"]).format(cue=cue), expect=expect, ideal=f"{ANSWER} {quotation}", at=1.0
    )
