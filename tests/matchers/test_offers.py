"""Every question that offers to say nothing takes its own words for an answer: `or tell me you don't`, “I don't”."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Message, Reply, Turn, never_said, withholds
from ltm_bench.core.messages import Outcome

SCENARIOS = Path(__file__).parents[2] / "scenarios"
TOWNS = ("Lima", "Ghent", "Oslo")
OFFER = re.compile(
    r"\b(?:or|and|only that, or) (?:just )?(?:(?:say|tell me|put) )?“(?P<word>[^”:…]+)”|\b(?:put|say) “(?P<said>[^”:…]+)”"
    r"|\b(?:or|and) (?:just )?(?:say|tell me)\b,? (?!(?:what|where|which|who|how)\b)(?P<told>[^.?!]+)"
    r"|\b(?:fine|no problem|no worries|understand) if (?P<fine>[^.?!]+)"
    r"|\bif (?P<then>[^.?!,]+), (?:just say so|just tell me|fair enough|that's fine)|\bor (?P<that>that you can't)\b"
    r"|\byou (?P<need>don't have to tell) me\b",
    re.IGNORECASE,
)
"""How a question offers that nothing is said, and the clause that says so. `say where …` asks for something."""
MAY_OFFER = re.compile(
    r"\b(?:or|else|otherwise)\b,? (?:just |only )?(?:say|tell me)\b|\bjust say (?:so|“)|\bfine if (?:you|I)\b"
    r"|\bif (?:you|I) (?:can't|don't|never|haven't|may not|mustn't)\b[^.?!]*\b(?:say|tell|put|write|answer)\b",
    re.IGNORECASE,
)
"""What may be an offer, in whatever form, in a text whose kind does not always make one."""
LEADS = re.compile(r"^(?:so\b|that\b(?!'| (?:is|was|has)\b))? ?(?:if |that )?(?P<or>.* or )?(?=\S)")
SWAPPED = {
    "you": "i", "you've": "i've", "you're": "i'm", "you'd": "i'd", "i": "you", "i've": "you've", "i'm": "you're",
    "me": "you", "my": "your",
}  # fmt: skip
CLAUSE = re.compile(r"(?:i|you|there|it|that)(?:'\w+)? [\w' ]+|it's \w+")
SHORT = re.compile(r"(?:i|you) (?:\w+n't|can't)\b|(?:it|that)'s (?:private|deleted)")
"""What may stand alone: `I don't know` is also `I don't`."""


def echoes(found: re.Match[str]) -> list[str]:
    """Return the literal echoes of an offer, in a sentence, after a word of regret, in short; none if it is not read."""
    if word := found["word"] or found["said"]:
        return [word, f"{word.capitalize()}.", f"{word}, sorry"]
    clause = next(filter(None, (found[name] for name in ("told", "fine", "then", "that", "need"))))
    clause = LEADS.sub("", clause.lower().removeprefix("that ") if found["that"] else clause.lower())
    said = " ".join(SWAPPED.get(word, word) for word in clause.split())
    said = "i can't tell you" if found["need"] else said.replace("i'm you", "you")
    if not CLAUSE.fullmatch(said):
        return []
    short = SHORT.match(said)
    full = re.sub(r"\bi\b", "I", said)
    return [
        f"{full[0].upper()}{full[1:]}.",
        f"Sorry, {full}.",
        *([f"{short[0].capitalize()}."] if short else []),
    ]


def lists(value: Any) -> Iterator[list[str]]:
    """Yield the lists of texts, each of one kind."""
    if isinstance(value, dict):
        for each in value.values():
            yield from lists(each)
    elif isinstance(value, list) and all(isinstance(each, str) for each in value):
        yield value


def offers() -> Iterator[tuple[str, str, re.Match[str] | None]]:
    """Yield every question of a kind that offers to say nothing, with its scenario and its offer."""
    for path in sorted(SCENARIOS.glob("*.json")):
        for texts in lists(json.loads(path.read_text("utf-8")).get("messages", {})):
            found = [(path.stem, text, OFFER.search(text)) for text in texts]
            if 2 * sum(offer is not None for *_, offer in found) > len(found):
                yield from found
            else:
                yield from (each for each in found if MAY_OFFER.search(each[1]))


OFFERS = list(offers())


def test_the_scenarios_that_offer_to_say_nothing_are_known() -> None:
    assert {name for name, *_ in OFFERS} >= {"forget_me", "gone_for_good", "never_told", "roles"}
    assert len(OFFERS) >= 60


@pytest.mark.parametrize(
    ("name", "text", "offer"), OFFERS, ids=[f"{name}: {text}" for name, text, _ in OFFERS]
)
def test_an_offer_is_taken_up_in_its_own_words(name: str, text: str, offer: re.Match[str] | None) -> None:
    said = echoes(offer) if offer else []
    assert said, (
        f"{name}: {text!r} has no offer that can be read. Teach OFFER its form, or word it as the others are"
    )
    asked = re.sub(r"\{[^{}]*\}", "Ines", text)
    expect = never_said(TOWNS, near=TOWNS[:1]) if name == "never_told" else withholds("Lima", among=TOWNS)
    for reply in said:
        turn = Turn(Message(asked, datetime(2026, 1, 5, tzinfo=UTC), 0), Reply(reply))
        verdict = expect.verdict(reply, [turn])
        assert verdict.outcome is Outcome.CORRECT, (
            f"{asked!r}, {reply!r}: {verdict.outcome}, {verdict.reason}"
        )
