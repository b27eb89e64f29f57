"""Composes filler of five kinds: a quiz, small talk, notes to sum up, a plan to comment on, a list to sort.

Nothing repeats until its deck is exhausted. With decoys, messages have the form of needles: some are a decoy alone, and
those of HOLDING have one inside. Needles stand inside longer messages in the same way (`around.py`). The shipped
questions are generated from the tables in `facts/`; TriviaQA's published files also work, and then give the quiz alone
its questions.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate, chain, islice
from json.encoder import encode_basestring
from operator import add
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.tokens import Counter
from ltm_bench.filler.kinds import (
    HOLDING,
    INLINE,
    KINDS,
    PROSE,
    Deck,
    deck,
    decks,
    digest,
    heads,
    kind,
    tables,
)
from ltm_bench.script.rehearsal import ACKNOWLEDGEMENTS

T = TypeVar("T")

Mode = Literal["scripted", "live"]
"""Whether the agent observes filler with canned answers, or must answer it itself."""

MAX_TOKENS = 1000
"""Approximate upper bound for a filler message and its canned reply, in tokens."""

_BYTES_PER_TOKEN = 3.7
COUNTED = "facts_tokens.json"
"""File with the token counts of the shipped bank; written by `scripts/count_facts`."""

SMALLEST = 60
"""Size of the smallest filler turn, in tokens: a gap is filled to within this many."""


ALONE = 1 / 6
"""The share of needles, and of filler with decoys, that are a sentence or two alone: more of them would take more
messages, and so calls, than a conversation without decoys has."""


class Trivia(NamedTuple):
    """A question and its answer."""

    question: str
    answer: str


class Counts(NamedTuple):
    """How many tokens each item of a deck adds to a message and to the reply.

    `cl100k_base` never joins tokens across a line break before a letter, or across a space: its pattern splits there.
    So a message of counted items need not be tokenised.
    """

    items: Sequence[int]
    """Tokens of each item as it stands in a message, with the space before it and what separates it from the next."""
    quoted: Sequence[int] = ()
    """Tokens of each answer to a quiz in JSON, with the space before it and the comma after it."""
    listed: Sequence[int] = ()
    """Tokens of each answer to a quiz as a line of a list, from the space before it to the line break after it."""


class Counted(NamedTuple):
    """The counts of decks."""

    tokenizer: str
    decks: Mapping[str, Counts]
    """By name; those of a quiz under `quiz`."""


class Bank(NamedTuple):
    """A source of trivia."""

    name: str
    """`shipped` or `triviaqa:<file name>`."""
    digest: str
    """First 16 hex digits of the SHA-256 of all questions and answers, and of the texts of the other kinds."""
    items: Sequence[Trivia]
    counted: Counted | None = None


class Frame(NamedTuple):
    """What a filler message holds besides its items."""

    kind: str
    deck: Deck
    counts: Counts | None
    """Those of the deck in the run's tokens, if they are known."""
    opening: Sequence[str]
    """Sentences that the message begins with, all but the first from the space on."""
    closing: str
    """What it ends with, from the space or line break on; may be empty."""
    head: tuple[str, str]
    """One of the deck's."""
    form: str
    """For a quiz, how the answers are to be returned: `json`, or the head of a line."""
    reply: str
    """The reply, if it is not a list; may name the first and the last item."""


class FillerMessage(NamedTuple):
    """A filler message and a good short reply to it."""

    text: str
    answers: str
    items: Sequence[int]
    """Indices of its items in the deck."""
    replied: Sequence[int]
    """The same in the order of the reply, if that is a list."""
    frame: Frame
    held: str = ""
    """What stands before one of its items."""


_ALONE = Frame("decoy", Deck("", (), (), (), "", (), {}, False, ()), None, (), "", ("", ""), "", "")
"""Of a message that is a decoy alone."""


_CODE = "2"
"""Raised when equal texts are composed in another way: part of the digest, so that older runs are not resumed."""


def _bank(name: str, items: Sequence[Trivia]) -> Bank:
    questions = "\n".join(f"{q}\t{a}" for q, a in items)
    found = hashlib.sha256(f"{_CODE}\n{digest()}\n{questions}".encode("utf-8", "replace"))
    return Bank(name, found.hexdigest()[:16], items)


def _quiz(bank: Bank) -> Deck:
    about = kind("quiz").decks["quiz"]
    questions, answers = ([item[i] for item in bank.items] for i in (0, 1))
    return Deck("quiz", questions, answers, (), about["joint"], heads(about), {}, True, ())


def count_items(bank: Bank, counter: Counter) -> Counted:
    """Count the tokens of every item of a bank, and of the other kinds of filler."""
    found = {
        each.name: Counts([counter.count(f" {_plain(each, i)}{each.joint}") for i in range(len(each.texts))])
        for each in (_quiz(bank), *(each for of in KINDS if of != "quiz" for each in decks(of)))
    }
    found["quiz"] = found["quiz"]._replace(
        quoted=[counter.count(f" {encode_basestring(item.answer)},") for item in bank.items],
        listed=[counter.count(f" {item.answer}\n") for item in bank.items],
    )
    return Counted(counter.name, found)


def _plain(deck: Deck, item: int) -> str:
    return f"{deck.texts[item]} {deck.keys[item]}" if deck.name == "quiz" else deck.texts[item]


def render(table: Mapping[str, Any]) -> Iterator[Trivia]:
    """Yield the questions of a table of facts: every row in every template for which it has all cells."""
    columns: list[str] = table["columns"]
    templates = [
        (each["ask"], each["answer"], re.findall(r"{(\w+)}", each["ask"] + each["answer"]))
        for each in table["questions"]
    ]
    for row in table["rows"]:
        cells = dict(zip(columns, row, strict=True))
        for ask, answer, used in templates:
            if all(map(cells.__getitem__, used)):
                yield Trivia(ask.format_map(cells), answer.format_map(cells))


@cache
def shipped() -> Bank:
    """Return the bank generated from `ltm_bench/filler/facts/*.json`."""
    bank = _bank("shipped", [trivia for table in tables().values() for trivia in render(table)])
    counted = json.loads(files("ltm_bench.filler").joinpath(COUNTED).read_text("utf-8"))
    # If the texts changed since they were counted, messages are tokenised.
    if counted["bank"] != bank.digest:
        return bank
    decks = {name: Counts(*counts) for name, counts in counted["decks"].items()}
    return bank._replace(counted=Counted(counted["tokenizer"], decks))


def triviaqa(path: Path) -> Bank:
    """Read TriviaQA: a published JSON file (rc or unfiltered), the reduced form with `AnswerValue`, or a folder.

    Skips entries without a question or an answer, and repeated questions. Raises ConfigError if nothing is left.
    """
    paths = sorted(path.glob("**/*.json")) if path.is_dir() else [path]
    found: dict[str, Trivia] = {}
    for each in paths:
        for entry in _entries(each):
            trivia = _trivia(entry)
            if trivia is not None:
                found.setdefault(trivia.question.casefold(), trivia)
    if not found:
        raise ConfigError(
            f"--filler triviaqa:{path}: no trivia found; expected TriviaQA's JSON, an object whose list 'Data' "
            "holds entries with 'Question' and 'Answer' (or 'AnswerValue')"
        )
    bank, ours = _bank(f"triviaqa:{path.name}", list(found.values())), shipped().counted
    if ours is not None:
        decks = {name: counts for name, counts in ours.decks.items() if name != "quiz"}
        bank = bank._replace(counted=ours._replace(decks=decks))
    return bank


def _entries(path: Path) -> Sequence[Any]:
    try:
        content = json_of(content_of(path))
    except OSError as error:
        raise ConfigError(f"--filler triviaqa:{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigError(f"--filler triviaqa:{path}: not JSON ({error})") from error
    data = content.get("Data") if isinstance(content, dict) else content
    return data if isinstance(data, list) else []


def _trivia(entry: Any) -> Trivia | None:
    """Read one entry in either form; None if it has no answer, as in TriviaQA's evaluation files."""
    if not isinstance(entry, dict):
        return None
    answer = entry.get("Answer")
    value = answer.get("Value") if isinstance(answer, dict) else entry.get("AnswerValue")
    question = entry.get("Question")
    if not isinstance(question, str) or not isinstance(value, str):
        return None
    trivia = Trivia(_one_line(question), _one_line(value))
    return trivia if all(trivia) else None


def _one_line(text: str) -> str:
    """Collapse white space, and undo the doubled quotes that some entries inherited from a CSV file."""
    text = " ".join(text.split())
    if len(text) > 1 and text[0] == text[-1] == '"' and '""' in text:
        text = text[1:-1].replace('""', '"')
    return text


@cache
def _labels(head: str) -> Sequence[str]:
    """Return the beginnings of the lines of a list, each after a line break. All have equally many tokens."""
    return [f"\n{head.format(n=i + 1, day=i // 5 + 1, hour=9 + 2 * (i % 5))} " for i in range(MAX_TOKENS)]


def _first(head: str) -> str:
    return _labels(head)[0].strip()


def _lines(head: str, texts: Sequence[str]) -> str:
    return "".join(chain.from_iterable(zip(_labels(head), texts, strict=False)))


WAITING = 8
"""Decoys from which a message takes the first for which it has room: pages wait for long ones."""


class _Cycle:
    """The items of a deck in an order of its own, from which messages take one after another, again and again."""

    def __init__(self, deck: Deck, counts: Counts | None, dice: Dice) -> None:
        self.deck = deck
        self.counts = counts
        self.at = 0  # items taken so far
        self._dice = dice
        self._items: Sequence[int] = ()
        self._before: Sequence[float] = ()  # estimated tokens before each of them
        self._most = 0  # items that a message can hold without saying anything twice

    def take(self, room: float, least: int, each: int) -> Sequence[int]:
        """Return the next items, for about this many tokens of message and reply: slightly less rather than more.

        Args:
            room: The tokens.
            least: Minimum number of items.
            each: Tokens of what stands before each item.
        """
        self._shuffle()
        size, chosen = len(self._items), list[int]()
        mean = self._before[-1] / size
        room *= mean / (mean + each)
        while True:
            begin = self.at % size
            before = self._before[begin]
            end = max(bisect_right(self._before, before + room, begin) - 1, begin + least - len(chosen))
            end = min(end, begin + self._most - len(chosen), size)
            chosen += self._items[begin:end]
            self.at += end - begin
            room -= self._before[end] - before
            if end < size or len(chosen) == self._most or (room <= 0 and len(chosen) >= least):
                return chosen

    def skip(self, count: int) -> int:
        """Take this many items; return the last one."""
        self._shuffle()
        self.at += count
        return self._items[(self.at - 1) % len(self._items)]

    def _shuffle(self) -> None:
        if self._items:
            return
        groups, dice = self.deck.groups, self._dice
        self._most = len(groups or self.deck.texts) * (1 if self.deck.once else min(map(len, groups)))
        self._items = order = dice.shuffled(range(len(groups or self.deck.texts)))
        if groups:
            start, rounds = dice.integer(0, 1 << 20), max(map(len, groups))
            # Steps of 13 change several choices of a template at once.
            turns = range(start, start + 13 * rounds, 13)
            self._items = [groups[i][(turn + 7 * i) % len(groups[i])] for turn in turns for i in order]
        self._before = [0, *accumulate(map(self._estimates().__getitem__, self._items))]

    def _estimates(self) -> Sequence[float]:
        """Return about how many tokens each item adds to message and reply together."""
        deck, counts = self.deck, self.counts
        answers = deck.name == "quiz"
        if counts is None:
            texts = map("".join, zip(deck.texts, deck.keys, strict=True)) if answers else deck.texts
            sizes = [len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN for text in texts]
            return [2 * size for size in sizes] if deck.ranks else sizes
        if answers or deck.ranks:
            return list(map(add, counts.items, counts.listed if answers else counts.items))
        return counts.items


def _apart(found: Deck, held: str) -> str:
    """Return what a message holds as it stands after an item, or after the opening."""
    return (found.joint or " ") + held


class Filler:
    """Composes filler messages of a given size; equal dice compose equal messages.

    A message is a slice of a deck's shuffled items, formatted beforehand, so composing costs little more than joining
    strings. Messages that are already in a log can be skipped without composing them.

    Args:
        bank: Where it takes its questions from.
        dice: Its own.
        counter: Counts tokens.
        max_tokens: Maximum tokens of a message and its reply.
        decoys: What messages hold, one after the other, without an end; None if they hold nothing.
    """

    def __init__(
        self,
        bank: Bank,
        dice: Dice,
        counter: Counter,
        max_tokens: int = MAX_TOKENS,
        decoys: Iterator[str] | None = None,
    ) -> None:
        if not bank.items:
            raise ConfigError(f"the filler bank {bank.name} is empty")
        self._bank = bank
        self._dice = dice
        self.count = counter.count
        self.opening: str | None = None
        """What is said before all filler, once."""
        self._known = cache(counter.count)  # for sentences that come again
        self._counted = bank.counted.decks if bank.counted else {}
        self._counting = bank.counted is not None and bank.counted.tokenizer == counter.name
        self._max_tokens = max_tokens
        self._cycles: dict[tuple[str, str], _Cycle] = {}
        self._decoys = decoys or iter(())
        self._waiting = list(islice(self._decoys, WAITING))
        self._kinds = KINDS + HOLDING if self._waiting else KINDS
        self._places = dice.child("decoys")

    def _cycle(self, of: str, name: str) -> _Cycle:
        cycle = self._cycles.get((of, name))
        if cycle is None:
            found = _quiz(self._bank) if of == "quiz" else deck(of, name)
            counts, dice = self._counted.get(found.name), self._dice.child(found.name)
            cycle = self._cycles[of, name] = _Cycle(found, counts, dice)
        return cycle

    def _frame(self) -> tuple[_Cycle, Frame]:
        """Choose everything but the items, by one roll."""
        number = self._dice.integer(0, (1 << 48) - 1)

        def pick(choices: Sequence[T]) -> T:
            nonlocal number
            number, place = divmod(number, len(choices))
            return choices[place]

        of = pick(self._kinds)
        words = kind(of)
        cycle = self._cycle(of, pick(words.names))
        found = cycle.deck
        lead, reason, head = pick(words.leads), pick(words.reasons), pick(found.heads)
        (ask, form), reply = pick(words.asks), pick(words.replies)
        last = words.last or (number % 2 and found.joint != INLINE)
        reason, ask, closing = reason.format_map(found.slots), ask.format_map(found.slots), ""
        opening = [lead, f" {reason}"] if lead else [reason]
        if ask and last:
            closing = (found.joint or " ") + ask
        elif ask:
            opening.append(f" {ask}")
        counts = cycle.counts if self._counting else None
        return cycle, Frame(of, found, counts, opening, closing, head, form, reply)

    def compose(self, tokens: int) -> FillerMessage:
        """Return filler of about `tokens` tokens, its reply included: slightly less rather than more.

        It holds at least as many items as its kind needs, and at most `max_tokens` tokens.
        """
        if self._max_tokens < tokens < self._max_tokens + SMALLEST:
            tokens = tokens // 2  # leave no gap that even the smallest filler would overshoot
        if not self._waiting:
            return self._composed(tokens)
        roll = self._places.fraction()
        decoy = next((each for each in self._waiting if self._known(each) < tokens), "")
        size = self._known(decoy)
        if decoy and (roll < ALONE or tokens < size + SMALLEST):
            self._used(decoy)
            return FillerMessage(decoy, ACKNOWLEDGEMENTS[size % len(ACKNOWLEDGEMENTS)], (), (), _ALONE)
        found = self._composed(tokens, decoy, roll / ALONE % 1)
        if found.held:
            self._used(decoy)
        return found

    def _used(self, decoy: str) -> None:
        """Let the next decoy wait; where half of them are too long for what room there is, give up the first."""
        place = self._waiting.index(decoy)
        del self._waiting[place]
        del self._waiting[: place // (WAITING // 2)]
        self._waiting += islice(self._decoys, WAITING - len(self._waiting))

    def holding(self, text: str, tokens: int) -> FillerMessage:
        """Return filler of about this many tokens that holds a text."""
        self._kinds = HOLDING
        return self._composed(tokens, text, self._places.fraction())

    def _composed(self, tokens: int, held: str = "", roll: float = 0.0) -> FillerMessage:
        cycle, frame = self._frame()
        held = held if frame.kind in HOLDING else ""
        # Sizes are estimated, so the text is not tokenised twice.
        letters = sum(map(len, frame.opening)) + len(frame.closing) + len(frame.reply) + len(held)
        room = min(tokens, self._max_tokens) - letters / 4
        chosen = cycle.take(room, kind(frame.kind).least, self._each(frame) + self._each_reply(frame))
        order = sorted(chosen, key=frame.deck.ranks.__getitem__) if frame.deck.ranks else chosen
        text = self._text(frame, chosen, held, int(roll * len(chosen)))
        return FillerMessage(text, self._reply(frame, order), chosen, order, frame, held)

    def _text(self, frame: Frame, chosen: Sequence[int], held: str, place: int) -> str:
        found, (head, middle) = frame.deck, frame.head
        texts = list(map(found.texts.__getitem__, chosen))
        if frame.kind == "quiz":
            texts = [f"{text}{middle} {found.keys[i]}" for text, i in zip(texts, chosen, strict=True)]
        opening = "".join(frame.opening)
        if held and place:  # never last, so that the message ends as `pass_over` expects
            texts[place - 1] += _apart(found, held)
        elif held:
            opening += _apart(found, held)
        inner = _lines(head, texts) if found.joint == "\n" else " " + f"{found.joint} ".join(texts)
        return opening + inner + frame.closing

    def _reply(self, frame: Frame, chosen: Sequence[int]) -> str:
        texts, keys = frame.deck.texts, frame.deck.keys
        if frame.kind == "quiz":
            answers = list(map(keys.__getitem__, chosen))
            if frame.form == "json":
                return f"[{', '.join(map(encode_basestring, answers))}]"
            return _lines(frame.form, answers)[1:]
        if frame.kind == "lists":
            texts = list(map(texts.__getitem__, chosen))
            return ", ".join(texts) if frame.deck.joint == INLINE else _lines(frame.head[0], texts)[1:]
        return frame.reply.format(first=keys[chosen[0]], last=keys[chosen[-1]], **frame.deck.slots)

    def pass_over(self, text: str) -> tuple[str, str]:
        """Skip a logged message as if it had been composed; return what it must begin and end with."""
        if self._waiting:
            self._places.fraction()
        if decoy := next((each for each in self._waiting if each in text), ""):
            self._used(decoy)
            if text == decoy:
                return decoy, ""
        cycle, frame = self._frame()
        found, opening = frame.deck, "".join(frame.opening)
        inner = text[len(opening) : len(text) - len(frame.closing)]
        inner = inner.replace(_apart(found, decoy), "", 1) if decoy else inner
        last = cycle.skip(inner.count(found.joint or ".") + (found.joint == INLINE))
        return opening, (found.keys if frame.kind == "quiz" else found.texts)[last] + frame.closing

    def tokens(self, message: FillerMessage) -> int:
        """Return the tokens of a composed message."""
        frame, counts, known = message.frame, message.frame.counts, self._known
        if counts is None or message.held:
            return self.count(message.text)
        found, last = frame.deck, message.items[-1]
        *most, end = frame.opening
        total = sum(map(known, most)) + known(end + found.joint.strip(INLINE))
        total += sum(map(counts.items.__getitem__, message.items)) + len(message.items) * self._each(frame)
        if frame.closing:
            return total + known(frame.closing.removeprefix("\n"))
        if found.joint == PROSE:
            return total
        return total - counts.items[last] + self._last(_plain(found, last), counts.items[last])

    def answer_tokens(self, message: FillerMessage) -> int:
        """Return the tokens of the reply to a composed message."""
        frame, counts, ids = message.frame, message.frame.counts, message.replied
        quiz, found = frame.kind == "quiz", frame.deck
        if frame.reply == message.answers:
            return self._known(frame.reply)
        if counts is None or len(ids) == 1 or not (quiz or found.ranks):
            return self.count(message.answers)
        said = found.keys if quiz else found.texts
        first, last = said[ids[0]], said[ids[-1]]
        if quiz and frame.form == "json":
            ends = f"[{encode_basestring(first)},", f" {encode_basestring(last)}]"
            return sum(map(self.count, ends)) + sum(map(counts.quoted.__getitem__, ids[1:-1]))
        known = counts.listed if quiz else counts.items
        total = sum(map(known.__getitem__, ids[1:-1])) + self._last(last, known[ids[-1]])
        if found.joint == INLINE:
            return total + self.count(f"{first},")
        return total + known[ids[0]] + len(ids) * self._each_reply(frame)

    def _last(self, text: str, known: int) -> int:
        """Return the tokens of the last item, which lacks what separates it from the next, as in its known count."""
        return known - 1 if text[-1].isalnum() else self.count(f" {text}")

    def _each(self, frame: Frame) -> int:
        """Return the tokens of what stands before and within each item."""
        first, middle = frame.head
        return self._known(_first(first)) + self._known(middle) if frame.deck.joint == "\n" else 0

    def _each_reply(self, frame: Frame) -> int:
        """Return the tokens of what stands before each item of a reply that is a list."""
        if frame.kind == "quiz":
            return self._known(_first(frame.form)) if frame.form != "json" else 0
        return self._each(frame) if frame.deck.ranks else 0
