"""Composes filler: trivia questions with their answers, which the agent is asked to return as JSON.

Questions do not repeat until the bank is exhausted. The shipped bank is generated from the tables in `facts/`;
TriviaQA's published files also work.
"""

import hashlib
import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.tokens import Counter
from ltm_bench.filler.openings import opening

Mode = Literal["scripted", "live"]
"""Whether the agent observes filler with canned answers, or must answer it itself."""

MAX_TOKENS = 1000
"""Approximate upper bound for a filler message and its canned reply, in tokens."""

_BYTES_PER_TOKEN = 3.7
COUNTED = "facts_tokens.json"
"""File with the token counts of the shipped bank; written by `scripts/count_facts`."""

SMALLEST = 60
"""Size of the smallest filler turn, in tokens: a gap is filled to within this many."""


class Trivia(NamedTuple):
    """A question and its answer."""

    question: str
    answer: str


class Counted(NamedTuple):
    """How many tokens each item of a bank adds to a message and to its answers.

    `cl100k_base` never joins tokens across lines or across the strings of a JSON list: its pattern splits between a
    line break and a letter, and before a space. So a message of counted items need not be tokenised.
    """

    tokenizer: str
    lines: Sequence[int]
    """Tokens of each item's line, with its line break."""
    last_lines: Sequence[int]
    """Tokens of each item's line without a line break, as the last one of a message."""
    answers: Sequence[int]
    """Tokens of each item's answer in JSON, with the space before it and the comma after it."""


class Bank(NamedTuple):
    """A source of trivia."""

    name: str
    """`shipped` or `triviaqa:<file name>`."""
    digest: str
    """First 16 hex digits of the SHA-256 of all questions and answers."""
    items: Sequence[Trivia]
    counted: Counted | None = None


class FillerMessage(NamedTuple):
    """A filler message and the answers that it asks for."""

    text: str
    answers: str
    items: Sequence[int]
    """Indices of its questions in the bank."""


def _bank(name: str, items: Sequence[Trivia]) -> Bank:
    digest = hashlib.sha256("\n".join(f"{q}\t{a}" for q, a in items).encode("utf-8", "replace"))
    return Bank(name, digest.hexdigest()[:16], items)


def line_of(trivia: Trivia) -> str:
    """Return the line that states a question and its answer in a message."""
    return f"Q: {trivia.question} A: {trivia.answer}"


def count_items(bank: Bank, counter: Counter) -> Counted:
    """Count the tokens of every item of a bank."""
    return Counted(
        counter.name,
        [counter.count(f"{line_of(item)}\n") for item in bank.items],
        [counter.count(line_of(item)) for item in bank.items],
        [counter.count(f" {encode_basestring(item.answer)},") for item in bank.items],
    )


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
    tables = sorted(files("ltm_bench.filler").joinpath("facts").iterdir(), key=lambda path: path.name)
    items = [
        trivia
        for path in tables
        if path.name.endswith(".json")
        for trivia in render(json.loads(path.read_text("utf-8")))
    ]
    bank = _bank("shipped", items)
    counted = json.loads(files("ltm_bench.filler").joinpath(COUNTED).read_text("utf-8"))
    # If the facts changed since they were counted, messages are tokenised as for any other bank.
    return bank._replace(counted=Counted(**counted)) if counted.pop("bank") == bank.digest else bank


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
    return _bank(f"triviaqa:{path.name}", list(found.values()))


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


class Filler:
    """Composes filler messages of a given size; equal dice compose equal messages.

    Questions are formatted once, and a message is a slice of their shuffled sequence, so composing costs little more
    than joining strings. Messages that are already in a log can be skipped without composing them.
    """

    def __init__(self, bank: Bank, dice: Dice, counter: Counter, max_tokens: int = MAX_TOKENS) -> None:
        if not bank.items:
            raise ConfigError(f"the filler bank {bank.name} is empty")
        self._items = bank.items
        self._dice = dice
        self._count = counter.count
        self._counted = bank.counted if bank.counted and bank.counted.tokenizer == counter.name else None
        self._max_tokens = max_tokens
        self._lines: list[str] = []
        self._answers: list[str] = []  # in JSON
        self._bytes: list[int] = []  # of each question with its answer
        # The dice as they were before this round, as long as it is still to be shuffled.
        self._shuffling: Dice | None = None
        self._round: Sequence[int] = ()  # the order of the questions
        self._before: Sequence[int] = (0,)  # bytes before each of them
        self._next = len(bank.items)

    def _prepare(self) -> None:
        for item in self._items:
            line = line_of(item)
            size = len(line) if line.isascii() else len(line.encode("utf-8", "replace"))
            self._lines.append(line)
            self._answers.append(encode_basestring(item.answer))
            self._bytes.append(size + len(item.answer) + 12)

    def _shuffle(self, dice: Dice) -> None:
        """Start another round through the bank."""
        if not self._lines:
            self._prepare()
        self._round = dice.shuffled(range(len(self._items)))
        self._before = [0, *accumulate([self._bytes[i] for i in self._round])]
        self._shuffling = None

    def compose(self, tokens: int) -> FillerMessage:
        """Return filler of about `tokens` tokens, answers included: slightly less rather than more.

        It holds at least one question, and at most `max_tokens` tokens.
        """
        if self._max_tokens < tokens < self._max_tokens + SMALLEST:
            tokens = tokens // 2  # leave no gap that even the smallest filler would overshoot
        introduction = opening(self._dice)
        # Sizes are estimated from bytes, so the text is not tokenised twice.
        room = min(tokens, self._max_tokens) * _BYTES_PER_TOKEN - len(introduction)
        left = math.floor(room - 100)  # minus one question: the last one may exceed the limit
        chosen: list[int] = []
        size = len(self._items)
        while True:
            if self._next == size:
                self._shuffle(self._dice)
                self._next = 0
            elif self._shuffling is not None:
                self._shuffle(self._shuffling)
            begin, before = self._next, self._before[self._next]
            self._next = bisect_right(self._before, before + left, begin + 1)
            chosen += self._round[begin : self._next]
            if self._next <= size:
                break
            self._next = size
            left -= self._before[-1] - before
        lines = "\n".join(map(self._lines.__getitem__, chosen))
        answers = ", ".join(map(self._answers.__getitem__, chosen))
        return FillerMessage(f"{introduction}\n{lines}", f"[{answers}]", chosen)

    def pass_over(self, text: str) -> str:
        """Skip a logged message as if it had been composed; return the introduction that it must begin with."""
        introduction = opening(self._dice)
        items, size = text.count("\n"), len(self._items)
        more = items - (size - self._next)
        if more <= 0:
            self._next += items
        else:  # of the rounds that it begins, only the order of the last one may still be needed
            rounds, self._next = divmod(more - 1, size)
            self._next += 1
            self._dice.pass_over(rounds * size)
            self._shuffling = self._dice.copy()
            self._dice.pass_over(size)
        return introduction

    def tokens(self, message: FillerMessage) -> int:
        """Return the tokens of a composed message."""
        if self._counted is None:
            return self._count(message.text)
        *most, last = message.items
        introduction = message.text[: message.text.index("\n") + 1]
        lines = sum(map(self._counted.lines.__getitem__, most))
        return self._count(introduction) + lines + self._counted.last_lines[last]

    def answer_tokens(self, message: FillerMessage) -> int:
        """Return the tokens of the answers that a composed message asks for."""
        if self._counted is None or len(message.items) == 1:
            return self._count(message.answers)
        first, *most, last = message.items
        known = sum(map(self._counted.answers.__getitem__, most))
        return self._count(f"[{self._answers[first]},") + known + self._count(f" {self._answers[last]}]")
