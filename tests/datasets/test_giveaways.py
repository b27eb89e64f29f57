"""Ids and names of files that give an answer away, such as LongMemEval's `answer_…`, never reach an agent."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import datasets
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


def _goodai(home: Path) -> list[str]:
    definition = {
        "script": ["My colour is red.", "Which colour is mine?"],
        "is_question": [False, True],
        "waits": [],
        "expected_responses": ["Red"],
    }
    path = home / "definitions-2k" / "Colours" / f"{GIVEAWAY}.def.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(definition))
    return ["--suite", f"goodai:{home}", "--span", "2k"]


def _infinitebench(home: Path) -> list[str]:
    record = {
        "id": f"{GIVEAWAY}_1",
        "context": "The goat sleeps.",
        "input": "Who sleeps?",
        "answer": ["the goat"],
    }
    path = home / "longbook_qa_eng.jsonl"
    path.write_text(json.dumps({**record, "options": []}))
    words = [f"infinitebench.{key}={value}" for key, value in (("task", path.stem), ("data", path))]
    return [
        "--span",
        "2k",
        "--scenario",
        "infinitebench",
        "--examples",
        "1",
        *(part for word in words for part in ("-P", word)),
    ]


OTHERS: Mapping[str, Callable[[Path], list[str]]] = {"goodai": _goodai, "infinitebench": _infinitebench}
"""Sets that are not read into dialogues: files of them, and how they are run."""

ELSEWHERE = {
    "counting_stars": "it has no file",
    "precisionmembench": "tests/runner/test_recalling.py, since it is no run",
    "swim": "its documents are one's own, and their names are told on purpose",
}


def test_every_folder_of_a_set_is_tried() -> None:
    folders = {each.name for each in iter_modules(datasets.__path__) if each.ispkg}
    assert folders == {*MADE, *OTHERS, *ELSEWHERE}, (
        "a new set needs a file here, so that its ids are looked for"
    )
    assert {each.dataset for each in public_sets().values()} == set(MADE)


def marked(value: Any, *, is_id: bool = False) -> Any:
    """Return a JSON value whose ids say what they give away."""
    if isinstance(value, dict):
        return {key: marked(each, is_id=key in IDS) for key, each in value.items()}
    if isinstance(value, list):
        return [marked(each, is_id=is_id) for each in value]
    return f"{GIVEAWAY}_{value}" if is_id and isinstance(value, str) else value


@pytest.mark.parametrize("sessions", ["", SESSIONS], ids=["turns", "sessions"])
@pytest.mark.parametrize("dataset", sorted({*MADE, *OTHERS}))
def test_no_id_and_no_name_of_a_file_reaches_an_agent(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dataset: str, sessions: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "spy.py").write_text(SPY.replace("    SESSIONS\n", sessions), "utf-8")
    home = tmp_path / GIVEAWAY
    home.mkdir()
    if dataset in OTHERS:
        words = OTHERS[dataset](home)
    else:
        suite, make = MADE[dataset]
        data = make(home)
        words = ["--suite", suite, "--data", str(data)]
        hide(data)
    done = command("run", *words, "--agent", "spy", "--name", "r")
    assert done.exit_code == 0, done.err
    heard = (tmp_path / "heard.txt").read_text("utf-8")
    assert heard.count("\n") > 1
    assert GIVEAWAY not in heard


def hide(data: Path) -> None:
    """Mark the ids in all files of a set."""
    for path in [data] if data.is_file() else filter(Path.is_file, data.rglob("*.json*")):
        text = path.read_text("utf-8")
        parts = text.splitlines() if path.suffix == ".jsonl" else [text]
        path.write_text("\n".join(json.dumps(marked(json.loads(part))) for part in parts), "utf-8")
