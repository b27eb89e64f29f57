"""Public sets of dialogues that can be run: `sets.py` in each dataset's folder declares its sets."""

import atexit
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import NamedTuple

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError, check_known
from ltm_bench.core.messages import Matcher
from ltm_bench.core.seeds import Seed
from ltm_bench.datasets.dialogue import Histories, History, HistoryQuestion, OnBad, Session
from ltm_bench.datasets.errata import error_of, wrong_keys


@dataclass(frozen=True, kw_only=True)
class PublicSet:
    """A public set of dialogues."""

    name: str
    dataset: str
    """The folder that reads it."""
    about: str
    licence: str
    url: str
    """Where its authors publish it: a file, if `fetched`, otherwise a page."""
    file: str
    """The usual name of the file or folder."""
    sha256: str = ""
    """The file's SHA-256, if known."""
    fetched: bool = False
    """Whether `datasets fetch` can download it."""
    instruction: str = ""
    """How to answer; said with every question, and no part of what a memory is searched by."""
    histories: Callable[[Path, OnBad], Histories]
    keeps: Callable[[History], bool] = lambda history: True
    """Whether a history of the file belongs to it."""
    put: Callable[[HistoryQuestion, str, Dice], HistoryQuestion] = lambda question, scorer, dice: question
    """A question as it is asked for one of `scorers`: with a hint, or with its options in an order of the dice."""
    expect: Callable[[HistoryQuestion, str], Matcher]
    """The matcher of a question as it is put, for one of `scorers`."""
    scorers: tuple[str, ...] = ("official", "strict")
    """Modes of scoring."""

    suspect: Callable[[HistoryQuestion], bool] = lambda question: False
    """Whether a key contradicts itself, besides those known to be wrong."""

    @property
    def place(self) -> Path:
        """The default path of its file."""
        return Path("data") / self.dataset / self.file

    def read(self, path: Path, on_bad: OnBad) -> Histories:
        """Yield its histories in a file, each id once. Raises ConfigError."""
        seen: set[str] = set()
        for history in self.histories(path, on_bad):
            if history.id in seen:
                on_bad(f"{path}: {history.id}: skipped: a history of that name came before it")
            elif history.questions and self.keeps(history):
                seen.add(history.id)
                yield history


@cache
def public_sets() -> Mapping[str, PublicSet]:
    """Return all public sets by name."""
    from ltm_bench import datasets

    found: dict[str, PublicSet] = {}
    for dataset in iter_modules(datasets.__path__):
        folder = Path(datasets.__path__[0]) / dataset.name
        if dataset.ispkg and (folder / "sets.py").is_file():
            for each in import_module(f"{datasets.__name__}.{dataset.name}.sets").SETS:
                found[each.name] = each
    return found


def public_set(name: str) -> PublicSet:
    """Return a public set. Raises ConfigError, with the nearest name, if there is none."""
    known = public_sets()
    check_known(f"{name}: there is no such public set", name, known)
    return known[name]


class Chosen(NamedTuple):
    """The chosen questions of a file."""

    questions: Collection[str]
    """Their ids; empty for all."""
    total: int
    """Number of questions."""
    histories: int
    """Number of histories that they are about."""
    all_questions: int
    all_histories: int


def choose(each: PublicSet, path: Path, most: int | None, seed: Seed, on_bad: OnBad) -> Chosen:
    """Choose the questions to ask: all, or a seeded subset in which every type has its share.

    Args:
        each: The set.
        path: Its file.
        most: Number of questions; None for all. At least one unanswerable question is chosen, and one of each type, if
            there are enough.
        seed: The run's seed.
        on_bad: Called with each bad record.

    Raises:
        ConfigError: The file cannot be read, or holds no question of the set.
    """
    strata: dict[str, list[str]] = {}
    unanswerable: list[str] = []
    home: dict[str, str] = {}
    for history in each.read(path, on_bad):
        for question in history.questions:
            pool = unanswerable if question.unanswerable else strata.setdefault(question.type, [])
            pool.append(question.id)
            home[question.id] = history.id
    if not home:
        raise ConfigError(f"{path}: it has no question of {each.name}")
    size, histories = len(home), len(set(home.values()))
    if most is None or most >= size:
        return Chosen((), size, histories, size, histories)
    dice = Dice(f"{seed}/{each.name}/questions")
    apart = max(1, round(most * len(unanswerable) / size)) if unanswerable else 0
    picked = set(dice.shuffled(unanswerable)[:apart])
    for share, ids in zip(
        _shares(list(map(len, strata.values())), most - apart), strata.values(), strict=True
    ):
        picked.update(dice.shuffled(ids)[:share])
    kept = [name for name in home if name in picked]
    return Chosen(kept, len(kept), len({home[name] for name in kept}), size, histories)


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """Divide a total in proportion to sizes (largest remainders); each gets at least one, if there are enough."""
    least = 1 if total >= len(sizes) else 0
    exact = [max(least, total * size / max(1, sum(sizes))) for size in sizes]
    shares = [int(each) for each in exact]
    for i in sorted(range(len(sizes)), key=lambda i: (shares[i] - exact[i], i)):
        if sum(shares) < total:
            shares[i] += 1
    while sum(shares) > total:  # the extra ones are taken from the largest
        shares[shares.index(max(shares))] -= 1
    return shares


class Contents(NamedTuple):
    """The contents of a set's file."""

    histories: int
    sessions: int
    utterances: int
    characters: int
    questions: Mapping[str, int]
    """By type."""
    unanswerable: int
    wrong_keys: Mapping[str, str]
    """Why they are wrong, by the question's id."""
    skipped: int
    """Records that could not be read."""


def contents(each: PublicSet, path: Path, on_bad: OnBad) -> Contents:
    """Read a set's file from beginning to end, and describe its contents. Raises ConfigError."""
    known = wrong_keys(each.dataset)
    bad = 0
    histories = sessions = utterances = characters = unanswerable = 0
    types: Counter[str] = Counter()
    wrong: dict[str, str] = {}

    def count(line: str) -> None:
        nonlocal bad
        bad += 1
        on_bad(line)

    for history in each.read(path, count):
        histories += 1
        sessions += len(history.sessions)
        for session in history.sessions:
            utterances += len(session.utterances)
            characters += sum(len(said.text) for said in session.utterances)
        for question in history.questions:
            types[question.type] += 1
            unanswerable += question.unanswerable
            if error := error_of(known, question.id, question.text):
                wrong[question.id] = error.why
            elif each.suspect(question):
                wrong[question.id] = "its gold answer contradicts its rubric"
    return Contents(
        histories, sessions, utterances, characters, dict(sorted(types.items())), unanswerable, wrong, bad
    )


def _up_to(history: History, question: HistoryQuestion) -> tuple[Session, ...]:
    """Return the sessions up to a question: what follows it would be told for nothing."""
    ends = [place for place, each in enumerate(history.sessions, start=1) if each.id == question.after]
    return history.sessions[: ends[-1]] if ends else history.sessions


class _Cursor:
    """Reads a file's histories in order, and starts again if an earlier one is requested."""

    def __init__(self, each: PublicSet, path: Path, chosen: frozenset[str], *, alone: bool) -> None:
        def told() -> Histories:
            for history in each.read(path, lambda _: None):
                asked = tuple(q for q in history.questions if not chosen or q.id in chosen)
                if alone:
                    yield from (History(history.id, _up_to(history, each), (each,)) for each in asked)
                elif asked:
                    yield History(history.id, history.sessions, asked)

        self._open: Callable[[], Histories] = told
        self._rest: Histories = self._open()
        self._next = 0
        self._last: tuple[int, History] | None = None

    def history(self, index: int) -> History | None:
        if self._last is not None and self._last[0] == index:
            return self._last[1]
        if index < self._next:
            self._rest, self._next = self._open(), 0
        for history in self._rest:
            self._next += 1
            if self._next == index + 1:
                self._last = (index, history)
                return history
        return None


@cache
def _cursor(name: str, path: Path, digest: str, chosen: frozenset[str], alone: bool) -> _Cursor:
    return _Cursor(public_set(name), path, chosen, alone=alone)


atexit.register(_cursor.cache_clear)  # close a half-read file before the interpreter exits


def nth_history(
    name: str, path: Path, digest: str, chosen: Collection[str], index: int, *, alone: bool = False
) -> History:
    """Return a history with its chosen questions. Raises ValueError if there are fewer histories.

    Args:
        name: The set's name.
        path: Its file.
        digest: The file's hash, so that a changed file is read again.
        chosen: Ids of questions; empty for all.
        index: From 0, among the histories that a chosen question is about.
        alone: Whether a history comes once for every question, with that one alone.
    """
    history = _cursor(name, path, digest, frozenset(chosen), alone).history(index)
    if history is None:
        raise ValueError(f"data = {str(path)!r}: it has no history number {index}; ask for fewer examples")
    return history
