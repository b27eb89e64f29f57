"""What was said in a turn: by whom, in which role, and when. Memory products are told this, message by message."""

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
