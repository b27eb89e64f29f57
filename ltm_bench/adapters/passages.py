"""Passages: pieces of turns, each small enough to be about one thing.

`utterances_in` says what was said in a turn: by whom, in which role, and when. Memory products are told this,
message by message.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ltm_bench.adapters.text import sendable
from ltm_bench.core.clock import stamp
from ltm_bench.core.messages import Turn
from ltm_bench.datasets.dialogue import Role

_DATE = re.compile(r"\[\w+, (\d+ \w+ \d{4}, \d\d:\d\d)\]\n")
_SPEAKER = re.compile(r"([^\W\d_][\w.'’-]{0,40}(?: [\w.'’-]{1,40})?)(?: \(continued\))?: ")
ROLES: Mapping[str, Role] = {"User": "user", "Assistant": "assistant"}
"""The roles of those who have no name in a record."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one speaker said at once."""

    role: Role
    """Of the named people in a record, the first by name is the user."""
    speaker: str
    """`User`, `Assistant`, or a name in a record."""
    text: str
    at: datetime
    turn: int

    @property
    def named(self) -> str:
        """The text, after its speaker."""
        return f"{self.speaker}: {self.text}"


def utterances_in(turns: Sequence[Turn]) -> list[Spoken]:
    """Return what was said in a turn, or in all turns of a session, without blanks.

    A session is read as its record has it: the speakers that its lines name, and its dates. What a script said to
    acknowledge its parts is left out.
    """
    said = list[Spoken]()
    roles = _roles([line for turn in turns for line in turn.message.text.split("\n")])
    for turn in turns:
        if turn.session is not None:
            said += _recorded(turn, roles, said[-1].speaker if said else "User")
        else:
            said.append(Spoken("user", "User", turn.message.text, turn.message.at, turn.message.turn))
        if turn.session is None or turn.answered == "agent":
            said.append(Spoken("assistant", "Assistant", turn.reply.text, turn.message.at, turn.message.turn))
    return [each for each in said if each.text.strip()]


def chat_messages(spoken: Sequence[Spoken]) -> list[dict[str, str]]:
    """Return utterances as messages of a chat, with the user's times, and with the names of people."""
    told = []
    for each in spoken:
        text = each.text if each.speaker in ROLES else each.named
        dated = f"[{stamp(each.at)}]\n{text}" if each.role == "user" else text
        told.append({"role": each.role, "content": sendable(dated)})
    return told


def _roles(lines: Sequence[str]) -> Mapping[str, Role]:
    """Return the roles of those who speak in these lines of a record, by name."""
    names = sorted({found[1] for line in lines if (found := _SPEAKER.match(line))})
    return (
        ROLES
        if ROLES.keys() & names
        else {name: "assistant" if i else "user" for i, name in enumerate(names)}
    )


def _recorded(turn: Turn, roles: Mapping[str, Role], speaker: str) -> Iterator[Spoken]:
    """Yield what a part of a record says; `speaker` spoke last, and may go on."""
    text, at = turn.message.text, turn.message.at
    if dated := _DATE.match(text):
        text, at = text[dated.end() :], datetime.strptime(dated[1], "%d %B %Y, %H:%M").replace(tzinfo=UTC)
    lines: list[str] = []

    def spoken() -> Spoken:
        return Spoken(roles.get(speaker, "user"), speaker, "\n".join(lines), at, turn.message.turn)

    for line in text.split("\n"):
        if (found := _SPEAKER.match(line)) and found[1] in roles:
            yield spoken()
            speaker, lines, line = found[1], [], line[found.end() :]
        lines.append(line)
    yield spoken()


_PASSAGE_CHARACTERS = 240
"""A longer passage is split between sentences."""

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9¡¿])")
_ABBREVIATED = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e)|\b[A-Z])\.$|^[QA]:.*\?$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a turn, small enough to be about one thing."""

    turn: int
    part: int
    speaker: str
    at: datetime
    text: str

    @property
    def key(self) -> str:
        """Return its name in the store."""
        return f"{self.turn:08}.{self.part:04}"


def sentences(text: str) -> list[str]:
    """Split a line into sentences; `Q: … A: …` stays together."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text.strip()):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += f" {piece}"
        elif piece:
            found.append(piece)
    return found


def split_turn(turn: Turn) -> list[Passage]:
    """Split a turn into passages, the message's first; what a session of a record says, by its speakers."""
    said = [
        ("agent" if each.speaker == "Assistant" else "user", _head(each, turn.message.at) + text)
        for each in utterances_in((turn,))
        for text in split(each.text)
    ]
    return [
        Passage(turn.message.turn, part, speaker, turn.message.at, text)
        for part, (speaker, text) in enumerate(said)
    ]


def _head(spoken: Spoken, now: datetime) -> str:
    """Return what stands before each passage of a record: its date, if the clock shows another day, and a name."""
    dated = f"[{stamp(spoken.at)}] " if spoken.at.date() != now.date() else ""
    return dated if spoken.speaker in ROLES else f"{dated}{spoken.speaker}: "


def split(text: str) -> Iterator[str]:
    """Split a text into passages: by lines, and long lines by sentences. JSON stays in one piece."""
    text = sendable(text)
    if text.lstrip().startswith(("[", "{")):
        yield text.strip()
        return
    for line in text.splitlines():
        passage = ""
        for sentence in sentences(line):
            if passage and len(passage) + len(sentence) >= _PASSAGE_CHARACTERS:
                yield passage
                passage = sentence
            else:
                passage = f"{passage} {sentence}".strip()
        if passage:
            yield passage
