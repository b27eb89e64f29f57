"""SWiM from end to end, against a provider on this machine whose model is worse in the middle."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider, Said, provider
from ltm_bench.core.dice import Dice

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

TOWNS = (
    "Ghent",
    "Lima",
    "Bergen",
    "Porto",
    "Graz",
    "Turin",
    "Cork",
    "Oulu",
    "Bath",
    "Nancy",
    "Trier",
    "Split",
)
PEOPLE = (
    "Ines",
    "Oskar",
    "Ulla",
    "Viktor",
    "Marta",
    "Jonas",
    "Petra",
    "Emil",
    "Rosa",
    "Hugo",
    "Lotte",
    "Anton",
)
DEAL = "The weather was fair that day, and the road was long. "


def story(i: int) -> str:
    return f"{PEOPLE[i]} set out early. {DEAL * 6}{PEOPLE[i]} was born in {TOWNS[i]}. {DEAL * 5}"


class WorseInTheMiddle:
    """Knows the first and the last fifth and a quarter of the rest, and guesses otherwise."""

    def __init__(self) -> None:
        self.dice = Dice("sampling")

    def __call__(self, messages: Sequence[Said]) -> str:
        prompt = messages[-1]["content"]
        if "Write one question" in prompt:
            name = re.search(r"(\w+) was born in (\w+)", prompt)
            assert name is not None
            made = {"question": f"Where was {name[1]} born?", "answer": name[2]}
            return f"Here it is:\n```json\n{json.dumps({'tasks': [made]})}\n```"
        if "Is the answer right" in prompt:
            return json.dumps({"ok": "Ghent" not in prompt.partition('"answer"')[2], "why": "I looked."})
        person = re.search(r"Where was (\w+) born", prompt)
        if person is None:
            return "Noted."
        prompt = "\n".join(message["content"] for message in messages if message["role"] == "user")
        found = re.search(rf"{person[1]} was born in (\w+)", prompt)
        if found is None:
            return "The documents do not say." if self.dice.chance(0.5) else "Atlantis"
        depth = found.start() / len(prompt)
        if 0.2 < depth < 0.8 and not self.dice.chance(0.25):
            return f"Perhaps {self.dice.choice(['a village', 'the coast', 'Utrecht', 'abroad', 'the hills'])}"
        return f"In {found[1]}."


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    Path("docs").mkdir()
    for i, person in enumerate(PEOPLE):
        Path(f"docs/{person}.txt").write_text(story(i))
    with provider(WorseInTheMiddle()) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        yield running


def lines(printed: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(line["test"], line["at"]): line for line in json.loads(printed)}


MODEL = ("--agent", "gpt-4o")


def test_from_documents_to_a_curve_that_voting_lifts_and_the_control_does_not(
    server: Provider, command: "Command"
) -> None:
    made = command("swim", "generate", "docs", *MODEL)
    assert made.exit_code == 0
    assert "tasks.json: 12 tasks about 12 documents, 0 documents without" in made.out
    asked = len(server.chats)
    assert command("swim", "generate", "docs", *MODEL).exit_code == 0
    assert len(server.chats) == asked  # nothing is asked twice
    run = ("swim", "run", "tasks.json", "docs", *MODEL, "--span", "4k", "--runs", "7", "--control", "0.5")
    tests = [word for name in ("position", "absent", "voting", "control") for word in ("--test", name)]
    done = command(*run, *tests)
    assert done.exit_code == 0, done.err
    assert "12 of the tasks have not been validated by a person" in done.out
    found = lines(command("swim", "show", "--json").out)
    score = {key: line["score"] for key, line in found.items()}
    assert score["position", "depth 0%"] == score["position", "depth 100%"] == 1
    assert score["position", "depth 50%"] < 0.6
    assert 0.1 < score["absent", "nothing invented"] < 0.9
    assert score["voting", "vote of 7"] > score["voting", "single runs"] + 0.1
    assert score["control", "vote of 7"] <= score["control", "single runs"] + 0.34
    assert score["voting", "vote of 7"] > score["control", "vote of 7"] + 0.2
    (run_folder,) = Path("reports").glob("swim-4-scenarios-4k-gpt-4o-seed0-*")
    page = (run_folder / "report.html").read_text()
    assert "have not been validated by a person" in page


def test_agents_are_compared_side_by_side_at_a_given_size(server: Provider, command: "Command") -> None:
    assert command("swim", "generate", "docs", *MODEL).exit_code == 0
    done = command(
        *("swim", "run", "tasks.json", "docs", *MODEL, "--agent", "vector_memory", "--span", "4k"),
        *("--test", "size", "--shares", "0,1", "--questions", "4", "--delivery", "chunked"),
        *("--name", "mine"),
    )
    assert done.exit_code == 0, done.err
    assert done.out.count("size   share 0%") == 2
    assert Path("reports/mine-compare.html").exists()
    assert sorted(path.name for path in Path("reports").iterdir() if path.is_dir()) == [
        "mine-gpt-4o",
        "mine-vector_memory",
    ]


def test_a_run_of_the_suite_asks_about_a_folder_with_its_tasks_as_the_command_does(
    server: Provider, command: "Command"
) -> None:
    assert command("swim", "generate", "docs", *MODEL, "-o", "docs/tasks.json").exit_code == 0
    tasks = json.loads(Path("docs/tasks.json").read_text())
    tasks["0"]["validated"] = {"by": "Ada", "verdict": "rejected"}
    Path("docs/tasks.json").write_text(json.dumps(tasks))
    own = ("--span", "4k", "--agent", "goldfish")
    rows = [word for row in ("position", "absent") for word in ("--scenario", row)]
    done = command("run", "--suite", "swim", "--data", "docs", *own, *rows, "--name", "a")
    assert done.exit_code == 0, done.err
    assert "task 0 is left out: it was rejected" in done.err
    tests = ("--test", "position", "--test", "absent")
    done = command("swim", "run", "docs/tasks.json", "docs", *own, *tests, "--name", "b")
    assert done.exit_code == 0, done.err
    logs = [
        {log.name: log.read_bytes() for log in Path(f"reports/{name}/isolated").glob("*.jsonl")}
        for name in "ab"
    ]
    assert len(logs[0]) == 11 * (5 + 1)
    assert logs[0] == logs[1]
    assert command("swim", "show", "a").out == command("swim", "show", "b").out
    for words, complaint in (
        (("--scenario", "positon"), "positon"),
        (("-P", "size.runs=2", *rows), "size is not one of the run's scenarios"),
        (("-P", "position.tasks=none.json"), "none.json: No such file"),
        (("--span", "100"), "no task fits a span of 100"),
    ):
        refused = command("run", "--suite", "swim", "--data", "docs", *own, *words)
        assert refused.exit_code == 1
        assert complaint in refused.err


def test_tasks_are_accepted_edited_or_rejected_and_the_rest_waits(
    server: Provider, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("swim", "generate", "docs", *MODEL).exit_code == 0
    keys = iter(["a", "e", "Where did Emil come from?", "", "x", "r", "unclear", "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(keys))
    done = command("swim", "validate", "tasks.json", "docs", "--validator", "Ada")
    assert "3 reviewed, 1 of them rejected, 9 left" in done.out
    tasks = json.loads(Path("tasks.json").read_text())
    assert [tasks[str(i)]["validated"]["verdict"] for i in range(3)] == ["accepted", "edited", "rejected"]
    assert tasks["1"]["question"] == "Where did Emil come from?"
    assert tasks["0"]["validated"]["by"] == "Ada"
    done = command("swim", "run", "tasks.json", "docs", *MODEL, "--span", "4k", "--depths", "0")
    assert "task 2 is left out: it was rejected" in done.err


def test_a_second_model_flags_what_it_finds_wrong(server: Provider, command: "Command") -> None:
    assert command("swim", "generate", "docs", *MODEL).exit_code == 0
    done = command("swim", "validate", "tasks.json", "docs", *MODEL)
    assert done.exit_code == 0
    assert "12 of 12 tasks checked by gpt-4o, 1 doubted: 3" in done.out
    assert "validated" not in json.loads(Path("tasks.json").read_text())["0"]


def test_failed_documents_are_named_and_retried(server: Provider, command: "Command") -> None:
    server.fail("text", times=30)
    done = command("swim", "generate", "docs", *MODEL, "-A", "max_retries=0")
    assert done.exit_code == 3
    assert "Anton.txt: skipped" in done.err
    assert "the same command asks about them again" in done.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("run", "tasks.json", "docs", *MODEL), "tasks.json: No such file"),
        (("run", "tasks.json", "nowhere", *MODEL), "there is no such folder"),
        (("run", "tasks.json", "docs", *MODEL, "--depths", "2"), "--depths 2: write numbers from 0 to 1"),
        (("run", "tasks.json", "docs", *MODEL, "--test", "pos"), "--test pos: must be one of position"),
        (("validate", "tasks.json", "docs"), "tasks.json: No such file"),
        (("show",), "there is no run"),
    ],
)
def test_mistakes_are_named(
    server: Provider, command: "Command", words: tuple[str, ...], complaint: str
) -> None:
    done = command("swim", *words)
    assert done.exit_code == 1
    assert complaint in done.err


def test_a_span_that_is_too_small_says_so(server: Provider, command: "Command") -> None:
    assert command("swim", "generate", "docs", *MODEL).exit_code == 0
    done = command("swim", "run", "tasks.json", "docs", *MODEL, "--span", "100")
    assert done.exit_code == 1
    assert "no task fits a span of 100" in done.err


def test_a_vote_can_use_a_providers_embeddings(server: Provider, command: "Command") -> None:
    assert command("swim", "generate", "docs", *MODEL).exit_code == 0
    run = ("swim", "run", "tasks.json", "docs", *MODEL, "--span", "4k", "--test", "voting", "--runs", "3")
    assert command(*run, "--questions", "2").exit_code == 0
    own = command("swim", "show", "--embedder", "python:ltm_bench.adapters.hashing:embed", "--json")
    assert lines(own.out) == lines(command("swim", "show", "--json").out)
    done = command("swim", "show", "--embedder", "python:none:such")
    assert done.exit_code == 1
    assert "write it as python:module:callable" in done.err
