"""Agents that take sessions receive each session of a record whole, with its date and speakers."""

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import sets

if TYPE_CHECKING:
    from tests import zygote
    from tests.conftest import Command
else:
    import zygote

ARCHIVE = '''
"""Archive: takes whole sessions, and writes down every call; killed, once, when the second session comes."""

import json, os, signal, time
from collections.abc import Sequence
from pathlib import Path

from ltm_bench import Agent, Message, Reply, Turn


class Archive(Agent):
    free = True
    forks = "snapshot"
    sessions = 0

    def __init__(self, *, slow: float = 0.0) -> None:
        self.slow = slow

    async def open(self, home: Path) -> None:
        self.home = home

    def note(self, call: str, texts: Sequence[str], at: str) -> None:
        with (self.home / "calls.jsonl").open("a") as file:
            file.write(json.dumps([call, list(texts), at]) + "\\\\n")

    async def reply(self, message: Message) -> Reply:
        self.note("reply", [message.text], message.at.isoformat())
        return Reply("I do not know.")

    async def observe(self, turn: Turn) -> None:
        self.note("observe", [turn.message.text], turn.message.at.isoformat())

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        self.sessions += 1
        if self.sessions == 2 and Path("kill").exists():
            Path("kill").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.slow)
        self.note("session", [turn.message.text for turn in turns], turns[0].message.at.isoformat())

    async def fork(self, message: Message):
        self.note("fork", [message.text], message.at.isoformat())

        async def answer() -> Reply:
            return Reply("I do not know.")

        return answer
'''.replace("\\\\n", "\\n")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "archive.py").write_text(ARCHIVE, "utf-8")
    sets.locomo(tmp_path / "locomo10.json")
    return tmp_path


def heard(folder: Path) -> list[list[Any]]:
    return [json.loads(line) for line in (folder / "calls.jsonl").read_text("utf-8").splitlines()]


RUN = ("run", "--suite", "locomo", "--data", "locomo10.json", "--agent", "archive", "--name", "r")


@pytest.mark.parametrize("questions", ["in-line", "forked"])
def test_each_session_is_told_once_on_its_date_and_names_its_speakers(
    command: "Command", questions: str
) -> None:
    assert command(*RUN, "--questions", questions).exit_code == 0
    for number in range(2):
        calls = heard(Path("reports/r/agent") / f"locomo-{number}")
        told = [(texts, at) for call, texts, at in calls if call == "session"]
        assert [at[:16] for _, at in told] == [f"2023-05-0{1 + number + i}T13:5{1 + i}" for i in range(3)]
        assert "Ada: I planted " in told[0][0][0]
        assert "\nBen: Nice!" in told[0][0][0]
        first_question = next(i for i, call in enumerate(calls) if call[0] in ("reply", "fork"))
        assert all(call[0] != "session" for call in calls[first_question:])


def test_a_long_session_is_told_in_one_call_of_several_turns(command: "Command") -> None:
    talk = json.loads(Path("locomo10.json").read_text())
    talk[0]["conversation"]["session_2"] *= 30
    Path("locomo10.json").write_text(json.dumps(talk))
    assert command(*RUN, "-P", "locomo.part=400").exit_code == 0
    told = [texts for call, texts, _ in heard(Path("reports/r/agent/locomo-0")) if call == "session"]
    assert [len(texts) > 3 for texts in told] == [False, True, False]


def test_every_piece_of_a_long_utterance_names_its_speaker(command: "Command") -> None:
    talk = json.loads(Path("locomo10.json").read_text())
    talk[0]["conversation"]["session_2"][0]["text"] = "My boat is long. " * 60
    Path("locomo10.json").write_text(json.dumps(talk))
    assert command(*RUN, "-P", "locomo.part=400").exit_code == 0
    calls = heard(Path("reports/r/agent/locomo-0"))
    told = next(texts for call, texts, at in calls if call == "session" and "05-02" in at)
    pieces = [text.split("\n", 1)[1] for text in told]
    assert [piece.partition(":")[0] for piece in pieces] == ["Ben", "Ben (continued)", "Ben (continued)"]
    assert all(len(piece) <= 400 for piece in pieces[:-1])
    said = "".join(piece.split("\n")[0].partition(": ")[2] for piece in pieces)
    assert said == "My boat is long. " * 60


def test_in_a_woven_conversation_filler_comes_between_sessions_and_not_into_short_ones(
    command: "Command",
) -> None:
    talk = json.loads(Path("locomo10.json").read_text())
    talk[0]["conversation"]["session_2"] *= 5
    Path("locomo10.json").write_text(json.dumps(talk))
    woven = [*RUN, "--span", "4k", "-P", "locomo.part=200"]
    woven[2] = "locomo-woven"
    assert command(*woven).exit_code == 0
    calls = heard(Path("reports/r/agent"))
    told = [texts for call, texts, _ in calls if call == "session"]
    assert len(told) == 6
    assert any(len(texts) > 1 for texts in told)
    assert {"session", "observe", "reply"} == {call for call, _, _ in calls}


def test_the_cost_of_taking_in_a_history_is_in_the_results_on_the_page_and_in_the_table(
    command: "Command",
) -> None:
    assert command(*RUN, "-A", "slow=0.05").exit_code == 0
    results = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    for example in results["examples"]:
        taken = example["ingestion"]
        assert taken["sessions"] == 3
        assert taken["turns"] >= 4
        assert taken["seconds"] >= 0.15
        assert taken["dollars"] == 0
        assert taken["tokens"] > 50
    page = Path("reports/r/report.html").read_text("utf-8")
    assert "Taking in the histories" in page
    done = command("export", "r", "--format", "csv")
    assert done.exit_code == 0, done.err
    table = next(Path("reports/r").rglob("*.csv")).read_text("utf-8")
    assert "ingested_seconds" in table.partition("\n")[0]


TOGETHER = """
\"\"\"Together: takes sessions, and counts how many questions are under way at the same time.\"\"\"

import asyncio
from collections.abc import Sequence
from pathlib import Path

from ltm_bench import Agent, Message, Reply, Turn

NOW: list[int] = []


class Together(Agent):
    free = True
    forks = "snapshot"
    most = 0

    def __init__(self, *, expected: int) -> None:
        self.expected = expected

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        with open("told.txt", "a") as file:
            file.write("x")

    async def reply(self, message: Message) -> Reply:
        return await (await self.fork(message))()

    async def fork(self, message: Message):
        async def answer() -> Reply:
            NOW.append(message.turn)
            Together.most = max(Together.most, len(NOW))
            for _ in range(1000):  # until the others have come, however slow the machine is
                if Together.most >= self.expected:
                    break
                await asyncio.sleep(0.01)
            NOW.remove(message.turn)
            with open("together.txt", "a") as file:
                file.write(f"{Together.most} ")
            return Reply("I do not know.")

        return answer
"""


@pytest.mark.parametrize(("questions", "least"), [("forked", 4), ("in-line", 2)])
def test_a_history_is_taken_in_once_and_its_questions_are_answered_at_the_same_time(
    command: "Command", place: Path, questions: str, least: int
) -> None:
    (place / "agents" / "together.py").write_text(TOGETHER, "utf-8")
    words = (
        "run",
        "--suite",
        "locomo",
        "--data",
        "locomo10.json",
        "--agent",
        "together",
        "-A",
        f"expected={least}",
        "--questions",
        questions,
    )
    assert command(*words).exit_code == 0
    # The sessions of two histories, and the introduction of each.
    assert len(Path("told.txt").read_text()) == 2 * (3 + 1)
    assert max(map(int, Path("together.txt").read_text().split())) >= least


RECALLING = """
\"\"\"Recalling: never answers, and counts how often its retrieval is asked.\"\"\"

from collections.abc import Sequence

from ltm_bench import Agent, Memory, Message, Reply, Turn


class Recalling(Agent):
    free = True
    forks = "snapshot"

    def __init__(self) -> None:
        self.heard: list[Memory] = []

    async def observe(self, turn: Turn) -> None:
        self.heard.append(Memory(turn.message.text, turn=turn.message.turn))

    async def reply(self, message: Message) -> Reply:
        return Reply("I do not know.")

    async def fork(self, message: Message):
        async def answer() -> Reply:
            return Reply("I do not know.")

        return answer

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        with open("recalled.txt", "a") as file:
            file.write("x")
        return self.heard
"""


@pytest.mark.parametrize("questions", ["in-line", "forked"])
def test_each_part_with_evidence_is_looked_for_once_for_all_questions_that_fail(
    command: "Command", place: Path, questions: str
) -> None:
    (place / "agents" / "recalling.py").write_text(RECALLING, "utf-8")
    sets.locomo(place / "one.json", histories=1)
    words = [*RUN, "--questions", questions]
    words[words.index("archive")], words[words.index("locomo10.json")] = "recalling", "one.json"
    assert command(*words).exit_code == 0
    assert len(Path("recalled.txt").read_text()) == 5 + 2, "five questions, and the two parts with evidence"
    (example,) = json.loads(Path("reports/r/results.json").read_text("utf-8"))["examples"]
    *asked, nameless = [question["retrieval"] for question in example["questions"]]
    assert [(each["stored"], each["needles"]) for each in asked] == [(1, 1)] * 4
    assert nameless is None, "its set does not say where the answer is"


def test_for_long_histories_results_abridge_messages_and_the_log_holds_them_whole(command: "Command") -> None:
    talk = json.loads(Path("locomo10.json").read_text())
    talk[0]["conversation"]["session_2"] *= 100
    Path("locomo10.json").write_text(json.dumps(talk))
    assert command(*RUN).exit_code == 0
    results = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    texts = [needle["text"] for example in results["examples"] for needle in example["needles"]]
    assert max(map(len, texts)) < 500
    assert "My boat is called Heron" in Path("reports/r/isolated/locomo-0.jsonl").read_text("utf-8")


def killed(words: list[str], moment: str = "") -> None:
    """Start a run whose agent kills it at this moment."""
    Path("kill").write_text(moment, "utf-8")
    done = zygote.run(words, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


COMMAND = [sys.executable, "-m", "ltm_bench"]
FORKED = ("--questions", "forked")


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), FORKED], ids=["in-line", "forked"])
def test_a_history_interrupted_by_a_kill_is_taken_in_once(place: Path, more: tuple[str, ...]) -> None:
    sets.locomo(place / "locomo10.json", histories=1)
    words = [*COMMAND, *RUN, *more]
    calls = place / "reports/r/agent/locomo-0/calls.jsonl"
    killed(words)
    assert "session" in calls.read_text()
    calls.unlink()  # it keeps nothing on disk, so its memory dies with its process
    zygote.run(words, check=True, capture_output=True)
    told = [texts for call, texts, _ in heard(calls.parent) if call == "session"]
    assert len(told) == 3, "each session once, from the log or from the file"
    assert len({texts[0] for texts in told}) == 3
    log = (place / "reports/r/isolated/locomo-0.jsonl").read_text("utf-8")
    words[words.index("r")] = "fresh"
    zygote.run(words, check=True, capture_output=True)
    assert log == (place / "reports/fresh/isolated/locomo-0.jsonl").read_text("utf-8")


DURABLE = '''
"""Durable: writes each session to disk as it hears it, and never one twice; killed, once, at the moment in a file."""

import json
import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

from ltm_bench import Agent, Message, Reply, Turn


class Durable(Agent):
    free = True
    forks = "snapshot"

    async def open(self, home: Path) -> None:
        self.home = home

    def held(self) -> list[list[str]]:
        path = self.home / "store.json"
        return json.loads(path.read_text()) if path.exists() else []

    def note(self, what: str) -> None:
        with (self.home / "done.txt").open("a") as file:
            file.write(what + "|")
        kill = Path("kill")
        if kill.exists() and kill.read_text() in (self.home / "done.txt").read_text():
            kill.unlink()
            os.kill(os.getpid(), signal.SIGKILL)

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        (self.home / "store.json").write_text(json.dumps([*self.held(), [turn.message.text for turn in turns]]))
        self.note("wrote")

    async def observe(self, turn: Turn) -> None:
        if turn.kind == "tell":
            await self.observe_session((turn,))

    async def restore(self, turns: Iterable[Turn]) -> None:
        turns = list(turns)
        logged = [turn.message.text for turn in turns]
        kept = [session for session in self.held() if set(session) <= set(logged)]
        (self.home / "store.json").write_text(json.dumps(kept))
        await super().restore(turn for turn in turns if [turn.message.text] not in kept)

    async def settle(self) -> None:
        self.note("settling")

    async def reply(self, message: Message) -> Reply:
        return await (await self.fork(message))()

    async def fork(self, message: Message):
        known = f"{len(self.held())} sessions"

        async def answer() -> Reply:
            self.note("answered " + message.text.splitlines()[-1])
            return Reply(known)

        return answer
'''


WRITING, INDEXING, ANSWERING = "wrote|wrote|wrote|", "settling|", "answered"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "moment"),
    [((), INDEXING), (FORKED, WRITING), (FORKED, INDEXING), (FORKED, ANSWERING)],
    ids=["indexing, in-line", "writing, forked", "indexing, forked", "answering, forked"],
)
def test_a_killed_run_writes_no_session_twice_into_a_memory_on_disk(
    place: Path, more: tuple[str, ...], moment: str
) -> None:
    (place / "agents" / "durable.py").write_text(DURABLE, "utf-8")
    sets.locomo(place / "locomo10.json", histories=1)
    words = [*COMMAND, *RUN, *more]
    words[words.index("archive")] = "durable"
    home = place / "reports/r/agent/locomo-0"
    killed(words, moment)
    zygote.run(words, check=True, capture_output=True)
    done = (home / "done.txt").read_text().split("|")
    assert done.count("wrote") == 4, "the introduction, and three sessions"
    assert len(json.loads((home / "store.json").read_text())) == 4
    questions = [each for each in done if each.startswith("answered")]
    assert len(questions) - len(set(questions)) <= 1, "at most the reply under way is asked for again"
    log = (place / "reports/r/isolated/locomo-0.jsonl").read_text("utf-8")
    words[words.index("r")] = "fresh"
    zygote.run(words, check=True, capture_output=True)
    assert log == (place / "reports/fresh/isolated/locomo-0.jsonl").read_text("utf-8")
