"""Create a commented scenario or adapter to start from."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import Option
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


MEMORY = '''"""{title}: a memory with every hook. Put your product's client in place of the list in `self._store`."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from ltm_bench import Agent, Memory, Message, Reply, Turn, Usage


class {kind}(Agent):
    """Settings are keyword arguments with defaults; they come from configs/agents.toml and from -A key=value."""

    # Nobody is paid here. Say False as soon as a model answers: the hooks `usage` and `reserve` then say what it costs.
    free = True
    # `fork` freezes what it needs, so that questions can be asked beside the conversation (--questions forked).
    forks = "snapshot"

    def __init__(self, *, recalled: int = 5) -> None:
        self._recalled = recalled
        self._store: list[Memory] = []

    async def open(self, home: Path) -> None:
        """Connect. `home` is a folder of this run's own; keys come from the environment."""

    async def reply(self, message: Message) -> Reply:
        """Answer from what is recalled. Raise ltm_bench.AgentError if there is no reply; never answer "no response"."""
        reply = self._answer(message, await self.recall(message.text, self._recalled))
        self._remember(Turn(message, reply))
        return reply

    async def observe(self, turn: Turn) -> None:
        """Take a turn that was not asked here: filler, or what was said before an interruption."""
        self._remember(turn)

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        """Take a whole session at once, if your product stores sessions."""
        for turn in turns:
            self._remember(turn)

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Return to the state after these turns. A durable store deletes what is newer, or raises CannotResume."""
        self._store.clear()
        for turn in turns:
            self._remember(turn)

    async def settle(self) -> None:
        """Wait until everything that was said can be found. Called before each question."""

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return what retrieval gives, the most relevant first: the page says with it where an answer was lost."""
        words = set(query.lower().split())
        return sorted(self._store, key=lambda each: -len(words & set(each.text.lower().split())))[:limit]

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over everything that is stored."""
        for each in self._store:
            yield each

    async def forget(self, query: str) -> int:
        """Delete what is stored on `query`, and return how many memories that were."""
        gone = await self.recall(query, 1)
        self._store = [each for each in self._store if each not in gone]
        return len(gone)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze what an answer needs; the call that is returned answers from that, and changes nothing here."""
        found = await self.recall(message.text, self._recalled)

        async def answer() -> Reply:
            return self._answer(message, found)

        return answer

    def reserve(self, message: Message) -> Usage:
        """Return the most that a reply can use, so that --max-cost holds; name model and provider for the price."""
        return Usage(uncached=len(message.text), output=1000)

    async def close(self) -> None:
        """Let go of connections and files."""

    def _remember(self, turn: Turn) -> None:
        message = turn.message
        self._store.append(
            Memory(message.text, message.at, message.turn, id=str(len(self._store)), user=message.user)
        )

    def _answer(self, message: Message, found: Sequence[Memory]) -> Reply:
        # A model would answer here, from a prompt with the memories. Its usage has the price:
        # Reply(text, usage=Usage(uncached=…, output=…, model="gpt-6-luna", provider="openai"))
        return Reply(found[0].text if found else "I do not know.")
'''


def create(kind: Literal["scenarios", "agents"], name: str, template: str) -> None:
    """Create a new scenario or adapter in the current directory. Raises ConfigError."""
    one = kind.removesuffix("s")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,50}", name) or keyword.iskeyword(name):
        raise ConfigError(
            f"new {one} {name}: a name consists of lower-case letters, digits and _, and begins with a letter"
        )
    if name in catalogue(kind):
        raise ConfigError(f"new {one} {name}: this name is taken by {catalogue(kind)[name]}")
    path = Path(kind) / f"{name}.py"
    words = name.split("_")
    content = template.format(
        name=name, title=" ".join(words).capitalize(), kind="".join(map(str.capitalize, words)), count=6
    )
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        path.unlink(missing_ok=True)  # an empty file would take the name
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error
    ask = f"run --span 2k --scenario {name}" if kind == "scenarios" else f"run --span 2k --agent {name}"
    out().print(f"{path} is written. Next:\n  ltm-bench check {path}\n  ltm-bench {ask}")


NewName = Annotated[str, typer.Argument(metavar="NAME", help="Its name, which also names the file.")]


app = group("Create a scenario or an adapter.")


@command(app, "new agent notebook", "new agent my_product --memory", name="agent")
def new_agent(
    name: NewName,
    memory: Annotated[
        bool,
        Option("For a memory product: with every hook (recall, settle, memories, forget, fork, reserve, …)."),
    ] = False,
) -> None:
    """Create agents/NAME.py, a commented adapter that passes `check` as it is."""
    create("agents", name, MEMORY if memory else AGENT)


@command(app, "new scenario ladder", name="scenario")
def new_scenario(name: NewName) -> None:
    """Create scenarios/NAME.py, a commented scenario that passes `check` as it is."""
    create("scenarios", name, SCENARIO)
