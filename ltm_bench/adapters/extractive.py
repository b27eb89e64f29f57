"""Answers questions by quoting what was said: no model, no network, and only a little English grammar.

If a message asks something (`question_in`), the recalled passages about the same things are candidates, and the newest
of the best ones is quoted.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ltm_bench.adapters import hashing
from ltm_bench.adapters.passages import Passage, sentences
from ltm_bench.core.clock import spoken_duration, stamp
from ltm_bench.core.messages import Message

_REQUESTS = frozenset(
    "answer collect decode describe enumerate express give guess list name provide quote recall remind repeat reply "
    "respond retell return say send show sort state summarise summarize tell type write".split()
)
_BEFORE_REQUEST = frozenset("please now then so and ok okay well first finally next kindly".split())
_POLITE = re.compile(r"^(?:can|could|would|will) you (?:please |kindly )?(\w+)")
_INSTRUCTION = re.compile(
    r"^(?:(?:please|kindly|now|also|and|can you|could you|would you|will you),? )*"
    r"(?:add|bring|buy|change|get|include|note|put|remember|set|take)\b",
    re.IGNORECASE,
)
# Words about the asking and the form of the answer, not about what is asked.
_ABOUT_ASKING = frozenset(
    map(
        hashing.stem,
        "tell told say said talk mention mentioned remember recall recalled remind repeat know give list json array "
        "string strings format order chronological answer answers reply respond express ago minute minutes hour hours "
        "day days week weeks month months earlier before conversation all every each exactly single element key "
        "object provide question told quote".split(),
    )
)
_PERSONAL = frozenset("i i'm i've i'd i'll me my mine myself we we're we've us our ours".split())
_UNITS = {"minute": 1, "hour": 60, "day": 1440, "week": 10080, "month": 43200}
_NUMBERS = {
    name: value
    for value, names in enumerate(
        "zero,a an one,two couple,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fourteen,fifteen,"
        "sixteen,seventeen,eighteen,nineteen,twenty".split(",")
    )
    for name in names.split()
}
_AMOUNT = re.compile(rf"\b(\d+|{'|'.join(_NUMBERS)})\s+(?:of\s+)?({'|'.join(_UNITS)})s?\b")
_POINTS_BACK = re.compile(r"\b(?:it|that|one|he|she|they|them|him|her|his|its|their)\b", re.IGNORECASE)
_BRIEF = re.compile(
    r"(?i)^(?:only|just|no|one|a|the|two)\b.{0,40}\b(?:words?|please|sentence|enough|alone|name|nothing else|will do)\b"
    r"|^(?:only|just|no) \w.{0,30}$"
)
"""A short sentence that says in which form to answer: `Just the colour, please.`"""
# Sentences about the form of the answer: they name a format, or forbid something.
_FORM = re.compile(r"\bjson\b|\bformat\b|^(?:please )?(?:do not|don't|never)\b", re.IGNORECASE)
_EVERYTHING = frozenset(("list", "all", "every", "each", "everything"))
_QUANTITY = frozenset(("many", "numbers", "count", "counts", "quantities", "amounts"))
_OLD = frozenset(("first", "original", "originally", "initially"))
_UNKNOWN = "I do not remember that."


def asks(sentence: str) -> bool:
    """Whether a sentence wants an answer: a question, or a request to say something."""
    lowered = sentence.lower().strip(" \"'“”‘’()*-")
    if lowered.startswith(("q:", "a:")):
        return False
    if "json" in lowered:
        return True
    if polite := _POLITE.match(lowered):
        return polite[1] in _REQUESTS
    if lowered.endswith("?"):
        return True
    said = [word for word in hashing.words(lowered) if word not in _BEFORE_REQUEST]
    requests = bool(said) and said[0] in _REQUESTS and not lowered.endswith(":")
    return requests or _BRIEF.match(lowered) is not None


def question_in(text: str) -> str:
    """Return the sentences of a message that want an answer; empty if it only states something.

    A question between statements is part of what is told (a joke, a story), unless it is about the speaker. Where a
    pronoun points back, the statement before the question comes first.
    """
    said = [sentence for line in text.splitlines() for sentence in sentences(line)]
    wanting = [asks(sentence) for sentence in said]
    found: list[str] = []
    for i, sentence in enumerate(said):
        told = ": " in sentence or not all(wanting[:i])
        rhetorical = sentence.rstrip("\"'”’)* ").endswith("?") and told and not all(wanting[i:])
        if wanting[i] and not (rhetorical and not is_personal(sentence)):
            if i and not found and not wanting[i - 1] and _POINTS_BACK.search(sentence):
                found.append(said[i - 1])
            found.append(sentence)
    return " ".join(found)


def statement_in(passage: str) -> str:
    """Return a passage without trailing questions and requests, which state nothing."""
    said = sentences(passage)
    while said and asks(said[-1]):
        said.pop()
    return " ".join(said)


def time_spoken_of(question: str, now: datetime) -> datetime | None:
    """Return the time meant by `3 hours and 5 minutes ago` or `yesterday`; None without such a phrase."""
    lowered = question.lower()
    before, ago, _ = lowered.partition(" ago")
    if ago:
        said = _AMOUNT.findall(before)
        minutes = sum((int(n) if n.isdigit() else _NUMBERS[n]) * _UNITS[unit] for n, unit in said)
        return now - timedelta(minutes=minutes) if said else None
    return now - timedelta(days=1) if "yesterday" in lowered else None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that may answer the question."""

    passage: Passage
    said: str
    matched: frozenset[str]
    worth: float


def answer(message: Message, passages: Sequence[Passage]) -> str:
    """Answer a message that asks something, from these passages, nearest first."""
    question = question_in(message.query)
    asked = set(hashing.words(question))
    as_json = not asked.isdisjoint({"json", "array"})
    if own := _own_answers(message.text):
        return json.dumps(own, ensure_ascii=False) if as_json else "\n".join(own)
    focus = focus_of(question)
    spoken_of = time_spoken_of(question, message.at)
    found = list(candidates_for(question, focus, passages))
    matched = [each for each in found if each.matched]
    candidates = found if spoken_of is not None and not matched else matched
    best = max((each.worth for each in candidates), default=0.0)
    if not candidates or (best < 0.34 and spoken_of is None):
        return _UNKNOWN
    in_order = sorted(candidates, key=lambda each: each.passage.key)
    if spoken_of is not None:
        alike = [each for each in in_order if each.worth >= best / 2]
        return _quoted(min(alike, key=lambda each: abs(each.passage.at - spoken_of)), message.at, question)
    if as_json or not asked.isdisjoint(_EVERYTHING):
        told = list(dict.fromkeys(each.said for each in in_order if each.worth >= 0.75 * best))
        if as_json:
            return _listed(told, asked, focus)
        return f"You told me: {'; '.join(map('“{}”'.format, told))}"
    first = next(each for each in candidates if each.worth == best)
    # A later statement about the same thing replaces an earlier one, unless the question asks for the old one.
    same = [each for each in in_order if each.worth >= 0.9 * best and _about_the_same(each, first)]
    return _quoted(same[-1 if asked.isdisjoint(_OLD) else 0], message.at, question)


def _own_answers(text: str) -> list[str]:
    """Return the answers that a message contains itself."""
    return [line.rpartition("A: ")[2].strip() for line in text.splitlines() if "A: " in line]


def _about_the_same(one: Candidate, first: Candidate) -> bool:
    return one.matched >= first.matched and is_personal(one.said) == is_personal(first.said)


def _listed(said: Sequence[str], asked: set[str], focus: dict[str, float]) -> str:
    """Return what statements say about the focus, as a JSON list."""
    numbers = not asked.isdisjoint(_QUANTITY)
    values = [number_in(each) if numbers else phrase(each, focus) for each in said]
    return json.dumps(list(dict.fromkeys(v for v in values if v is not None)), ensure_ascii=False)


def focus_of(question: str) -> dict[str, float]:
    """Return the words that say what a question is about, each with its weight."""
    said = sentences(question)
    about = [each for each in said if not (_FORM.search(each) or _BRIEF.match(each))] or said
    found = [word for each in about for word in hashing.content_words(each) if word not in _ABOUT_ASKING]
    return {word: hashing.weight(word) for word in dict.fromkeys(found)}


def candidates_for(
    question: str, focus: dict[str, float], passages: Sequence[Passage]
) -> Iterator[Candidate]:
    """Yield each passage's statement with its relevance: the share of the question's weight that it mentions."""
    lowered = question.lower()
    of_agent = re.search(r"\byou (?:\w+ )?(?:say|said|tell|told|answer|recommend|suggest|reply)", lowered)
    speaker = "agent" if of_agent and not re.search(r"\bi (?:\w+ )?t(?:ell|old) you", lowered) else "user"
    personal = is_personal(question)
    whole = sum(focus.values())
    for passage in passages:
        if passage.speaker != speaker or not (said := statement_in(passage.text)):
            continue
        spoken = set(hashing.content_words(said))
        matched = frozenset(word for word in focus if any(_akin(word, other) for other in spoken))
        worth = sum(focus[word] for word in focus if word in matched) / whole if whole else 0.0
        if matched and personal and is_personal(said):
            worth += 0.4
        if said != passage.text.strip():  # a message that asked tells little
            worth *= 0.5
        yield Candidate(passage, said, matched, round(worth, 6))


def is_personal(text: str) -> bool:
    """Whether a text is about its speaker; `tell me` alone does not count."""
    text = re.sub(
        r"\b(?:tell|told|remind|give|show|send) me\b|\bi (?:\w+ )?(?:told|tell) you\b", " ", text.lower()
    )
    return not _PERSONAL.isdisjoint(hashing.words(text))


def _akin(word: str, other: str) -> bool:
    """Whether two stems belong to one word: `allergi` and `allergic`, not `port` and `portrait`."""
    if word == other:
        return True
    shorter = min(len(word), len(other))
    return shorter >= 5 and abs(len(word) - len(other)) <= 3 and word[: shorter - 1] == other[: shorter - 1]


def phrase(said: str, focus: dict[str, float]) -> str:
    """Return what a statement says about the focus: the quoted part, or what follows the verb, or the rest."""
    if quoted := re.search(r"[\"“]([^\"”]{1,1000})[\"”]", said):
        return quoted[1]
    best = next((each for each in sentences(said) if set(focus) & set(hashing.content_words(each))), said)
    best = _INSTRUCTION.sub("", best)
    after = re.search(r"(?:\b(?:is|are|was|were|be|called|named|became|becomes)\b|:|=)\s*(.+)", best)
    rest = re.split(r"[;,.!?]\s|(?<![.!?])[.!?]+$", after[1])[0] if after else best
    pieces: list[list[str]] = [[]]
    for word in re.findall(r"[\w'’-]+|[^\w\s]", rest):
        stem = hashing.stem(word.casefold())
        if stem in focus or stem in _ABOUT_ASKING or not re.search(r"\w", word):
            pieces.append([])
        elif pieces[-1] or word.casefold() not in hashing.STOP_WORDS:
            pieces[-1].append(word)
    for piece in pieces:
        while piece and piece[-1].casefold() in hashing.STOP_WORDS:
            piece.pop()
    return " ".join(max(pieces, key=lambda piece: len(" ".join(piece)))) or rest


def number_in(said: str) -> int | float | None:
    """Return the first number of a statement, in figures or as a word; articles do not count."""
    for word in re.findall(r"\d+(?:\.\d+)?|[a-z]+", said.lower()):
        if word[0].isdigit():
            return float(word) if "." in word else int(word)
        if word in _NUMBERS and word not in ("a", "an", "couple"):
            return _NUMBERS[word]
    return None


def _quoted(chosen: Candidate, now: datetime, question: str) -> str:
    who = "You told me" if chosen.passage.speaker == "user" else "I told you"
    if re.search(r"\bwhen did\b|\bhow long ago\b", question.lower()):
        who += f" {spoken_duration(now - chosen.passage.at)} ago, on {stamp(chosen.passage.at)}"
    return f"{who}: “{chosen.said}”"
