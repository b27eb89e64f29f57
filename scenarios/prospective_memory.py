"""Prospective memory: the user gives a quotation; it must be said when, much later, its moment has come.

That is when somebody is mentioned (a cue), or in the reply of a certain number. Its texts, the cues, and the quotations
by fictitious people are in `prospective_memory.json`.
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

ORDINALS = "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()

COUNTING = 1_200
"""Tokens in which an agent of many words can give ten replies."""

DUE = ("count", "cue", "both")


@scenario(
    skills={"prospective", "recall"}, topics={"quotations"}, forget=MESSAGES["forget"], version=5, decoys={}
)
def prospective_memory(
    dice: Dice,
    *,
    due: str = "cue",
    least: int = 2,
    most: int = 8,
    quotations: dict[str, str] = QUOTATIONS,
    cues: tuple[str, ...] = CUES,
    small_talk: tuple[str, ...] = MESSAGES["small_talk"],
    span: int = 0,
) -> Script:
    """Ask for a quotation in the reply that is due, after `least` to `most` other messages.

    `due` is `cue`: the reply to the next message with a cue; `count`: the reply of a number that the user names, to be
    counted while nothing else is said; or `both`: one example each in turn.
    """
    if due not in DUE:
        raise ValueError(f"due = {due!r}: it is one of {', '.join(DUE)}")
    counted = due == "count" or (due == "both" and dice.index % 2 == 0)
    possible = min(len(small_talk), len(ORDINALS)) if counted else len(small_talk)
    if not 1 <= least <= most <= possible:  # after none, an agent that always says it would be right
        raise ValueError(f"least = {least}, most = {most}: from 1 to {possible} are possible, least first")
    author = dice.card("author", tuple(quotations))
    quotation = quotations[author]
    cue = dice.card("cue", cues)
    yield Tell(dice.choice(MESSAGES["told"]).format(author=author, quotation=quotation), at=0.0)
    talk = dice.hand("small talk", small_talk, most)
    if counted:
        between = dice.integer(least, most)
        # The replies are counted without a pause, since nobody could tell which of those to others count. They come at
        # the end of the span, which must hold them all: half of a short one comes before.
        request = dice.choice(MESSAGES["counted"]).format(author=author, nth=ORDINALS[between - 1])
        yield Chat(request, at=max(0.5, 1 - COUNTING / span) if span else 0.5)
        for i, text in enumerate(talk[:between], start=1):
            yield Chat(text, ideal=f"{ANSWER} {quotation}" if i == between else ANSWER)
        last = dice.card("last small talk", small_talk)
        yield Ask(last, expect=said_in(quotation, between + 1), ideal=ANSWER)
        return
    yield Chat(dice.choice(MESSAGES["request"]).format(author=author, cue=cue), at=0.25)
    between = dice.integer(least, most)
    for i, text in enumerate(talk[:between], start=1):
        yield Chat(text, ideal=ANSWER, at=0.25 + 0.75 * i / (between + 1))
    expect = said_in(quotation, between + 2, beyond=0)
    yield Ask(
        dice.choice(MESSAGES["cue"]).format(cue=cue), expect=expect, ideal=f"{ANSWER} {quotation}", at=1.0
    )
