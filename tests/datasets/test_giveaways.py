"""Ids and names of files that give an answer away, such as LongMemEval's `answer_…`, never reach an agent."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.datasets.public import public_sets
from tests import sets

if TYPE_CHECKING:
    from tests.conftest import Command

SPY = '''
"""Spy: takes whole sessions, and writes down all that it is given."""

from collections.abc import Sequence
from pathlib import Path

from ltm_bench import Agent, Message, Reply, Turn

HEARD = Path("heard.txt")


class Spy(Agent):
    free = True
    SESSIONS

    def note(self, what: object) -> None:
        with HEARD.open("a", encoding="utf-8") as file:
            file.write(f"{what!r}\\n")

    async def reply(self, message: Message) -> Reply:
        self.note((message, message.query))
        return Reply("I do not know.")

    async def observe(self, turn: Turn) -> None:
        self.note(turn)
'''

SESSIONS = """
    async def observe_session(self, turns: Sequence[Turn]) -> None:
        for turn in turns:
            self.note(turn)
"""

GIVEAWAY = "answer_key"

IDS = frozenset(
    ("question_id", "haystack_session_ids", "answer_session_ids", "sample_id", "dia_id", "evidence", "id", "gold_ids",
     "user_id", "persona_id", "episode_id", "checkpoint_id", "turn_id", "as_of_turn_id")
)  # fmt: skip
"""Keys of ids in the files of any set; numbers among them are left alone."""

MADE: Mapping[str, tuple[str, Callable[[Path], Path]]] = {
    "locomo": ("locomo", lambda home: sets.locomo(home / "set.json")),
    "longmemeval": ("longmemeval-s", lambda home: sets.longmemeval(home / "set.json")),
    "beam": ("beam-100k", lambda home: sets.beam(home / "chats")),
    "factconsolidation": ("factconsolidation-mh-6k", lambda home: sets.facts(home / "set.json")),
    "gatemem": ("gatemem", lambda home: sets.gatemem(home / "gatemem")),
    "personamem": ("personamem-32k", lambda home: sets.personamem(home / "32k")),
}
"""By dataset: one of its sets, and a file of it."""


def marked(value: Any, *, is_id: bool = False) -> Any:
    """Return a JSON value whose ids say what they give away."""
    if isinstance(value, dict):
        return {key: marked(each, is_id=key in IDS) for key, each in value.items()}
    if isinstance(value, list):
        return [marked(each, is_id=is_id) for each in value]
    return f"{GIVEAWAY}_{value}" if is_id and isinstance(value, str) else value


@pytest.mark.parametrize("sessions", ["", SESSIONS], ids=["turns", "sessions"])
@pytest.mark.parametrize("dataset", sorted({each.dataset for each in public_sets().values()}))
def test_no_id_and_no_name_of_a_file_reaches_an_agent(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dataset: str, sessions: str
) -> None:
    assert dataset in MADE, "a new set needs a file here, so that its ids are looked for"
    suite, make = MADE[dataset]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "spy.py").write_text(SPY.replace("    SESSIONS\n", sessions), "utf-8")
    home = tmp_path / GIVEAWAY
    home.mkdir()
    data = make(home)
    for path in [data] if data.is_file() else filter(Path.is_file, data.rglob("*.json*")):
        text = path.read_text("utf-8")
        parts = text.splitlines() if path.suffix == ".jsonl" else [text]
        path.write_text("\n".join(json.dumps(marked(json.loads(part))) for part in parts), "utf-8")
    done = command("run", "--suite", suite, "--data", str(data), "--agent", "spy", "--name", "r")
    assert done.exit_code == 0, done.err
    heard = (tmp_path / "heard.txt").read_text("utf-8")
    assert heard.count("\n") > 2
    assert GIVEAWAY not in heard
