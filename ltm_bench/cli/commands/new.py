"""Write a commented scenario or adapter to start from."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from ltm_bench.cli.console import out
from ltm_bench.cli.options import examples_of, group
from ltm_bench.core.errors import ConfigError
from ltm_bench.plugins.files import catalogue

SCENARIO = '''"""{title}: something is told, changes once, and is asked for at the end."""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

# Every value that can be the answer. Have many: one in {count} is what a guess would score.
PLACES = ("attic", "cellar", "garage", "kitchen", "garden", "balcony")


# skills: what it tests. topics: two examples that share one never overlap in a conversation. forget="…" would be sent
# after the last question, where what was told could disturb the next example.
@scenario(skills={{"recall", "conflict"}}, topics={{"where the ladder is"}})
def {name}(dice: Dice, *, moves: int = 1) -> Script:
    """Tell where the ladder is, move it `moves` times, then ask. Keyword arguments can be set by a suite."""
    # All randomness comes from the dice: the same seed gives the same conversation everywhere.
    told = dice.sample(PLACES, moves + 1)
    for i, place in enumerate(told):
        # `at` is where in its span a message belongs, from 0 to 1; `after=timedelta(hours=2)` would ask for time.
        yield Tell(f"By the way, our ladder is in the {{place}} now.", at=i / len(told))
    # A matcher knows the right value, what it may be confused with, and what was right once.
    expect = names_only(told[-1], among=PLACES, stale=told[:-1])
    yield Ask("Where is our ladder? Name the place alone.", expect=expect, at=1.0)
'''

AGENT = '''"""{title}: remembers the newest messages, and answers with the one that has most words of the question."""

from collections import deque

from ltm_bench import Agent, Message, Reply, Turn


class {kind}(Agent):
    """Settings are keyword arguments with defaults; they come from configs/agents.toml and from -A key=value."""

    free = True  # costs nothing; leave it out for an agent that does, and give Reply(..., usage=Usage(...))

    def __init__(self, *, notes: int = 100) -> None:
        self._notes: deque[str] = deque(maxlen=notes)

    async def reply(self, message: Message) -> Reply:
        """Answer a message. Raise ltm_bench.AgentError if there is no reply; never answer "no response"."""
        answer = "Okay."
        if "?" in message.text:
            words = set(message.text.lower().split())
            # message.at is the benchmark's time; there is no other.
            answer = max(reversed(self._notes), key=lambda note: len(words & set(note.lower().split())), default="?")
        self._notes.append(message.text)
        return Reply(answer)

    async def observe(self, turn: Turn) -> None:
        """Take a turn that you were not asked about: filler, and all that was said before when a run is resumed."""
        self._notes.append(turn.message.text)
'''


def create(kind: Literal["scenarios", "agents"], name: str) -> None:
    """Write the file of a new scenario or adapter into the folder where you stand. Raises ConfigError."""
    one = kind.removesuffix("s")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,50}", name) or keyword.iskeyword(name):
        raise ConfigError(
            f"new {one} {name}: a name is of small letters, digits and _, and begins with a letter"
        )
    if name in catalogue(kind):
        raise ConfigError(f"new {one} {name}: there is one of that name already, {catalogue(kind)[name]}")
    path = Path(kind) / f"{name}.py"
    words = name.split("_")
    template = SCENARIO if kind == "scenarios" else AGENT
    content = template.format(
        name=name, title=" ".join(words).capitalize(), kind="".join(map(str.capitalize, words)), count=6
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, "utf-8")
    ask = f"run --span 2k --scenario {name}" if kind == "scenarios" else f"run --span 2k --agent {name}"
    out().print(f"{path} is written. Next:\n  ltm-bench check {path}\n  ltm-bench {ask}")


NewName = Annotated[str, typer.Argument(metavar="NAME", help="Its name, and the file's stem.")]


def new_agent(name: NewName) -> None:
    """Write agents/NAME.py, a commented adapter that passes the check as it is."""
    create("agents", name)


def new_scenario(name: NewName) -> None:
    """Write scenarios/NAME.py, a commented scenario that passes the check as it is."""
    create("scenarios", name)


def register(app: typer.Typer) -> None:
    """Add the group."""
    new = group("Write a file to start from.")
    new.command("agent", epilog=examples_of("new agent notebook"))(new_agent)
    new.command("scenario", epilog=examples_of("new scenario ladder"))(new_scenario)
    app.add_typer(new, name="new")
