"""PrecisionMemBench's queries are put to an agent's own memory, and what comes is scored as its program does."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.datasets.precisionmembench.context import row_of, surfaced
from tests.published import shared

if TYPE_CHECKING:
    from tests.conftest import Command

AGENT = '''"""Finds what shares a word with the query; MANNER."""
from ltm_bench import Agent, Memory, Message, Reply, Usage
class Finder(Agent):
    free = True
    keeps_users = True
    def __init__(self):
        self.held = []
    async def reply(self, message):
        self.held.append(message)
        return Reply("Noted.", USAGE)
    OBSERVE
    async def recall(self, query, limit):
        words = set(query.lower().split())
        near = [each for each in self.held if words & set(each.text.lower().split())]
        return [MEMORY for each in near][:limit]
'''
TURN = "Memory(each.text[:9], turn=each.turn, user=each.user)"


def belief(name: str, content: str, **more: Any) -> dict[str, Any]:
    usual = {"user_id": "test-user", "type": "entity", "scope": ["work"], "pinned": False, "aliases": []}
    return {"_id": name, "canonical_name": name.upper(), "content": content, **usual, **more}


def query(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "caseId": name,
        "category": "Alias resolution",
        "query": text,
        "scope": ["work"],
        "expect": {},
        **more,
    }


BELIEFS = [
    belief("roses", "grow by the wall"),
    belief("kept", "always short", pinned=True),
    belief("asked", "which wall?", pinned=True, type="open_question"),
    belief("theirs", "a wall of another", user_id="other-user"),
    belief("both", "wall and boat", type="relation", participants=["boat", "theirs"]),
    belief("boat", "sails at noon"),
]
CASES = [
    query("wall", "the wall", expect={"relevantBeliefs": {"shouldOnlyInclude": ["roses", "both", "boat"]}}),
    query("theirs", "wall", userId="other-user", expect={"relevantBeliefs": {"mustExclude": ["theirs"]}}),
    query("none", "  ", expect={"relevantBeliefs": {"shouldOnlyInclude": []}}),
    query("one", "grow at wall", budget={"maxBeliefs": 2}),
]
WANTS_ROSES = {"scope": ["work"], "expect": {"relevantBeliefs": {"mustInclude": ["roses"]}}}
TURNS = [
    {
        "turnIndex": 0,
        "userMessage": "petals",
        "createBeliefAtTurn": belief("new", "petals fall"),
        "updateBeliefAtTurn": {"beliefId": "roses", "addAliases": ["petals"]},
        **WANTS_ROSES,
    },
    {"turnIndex": 1, "userMessage": "petals", **WANTS_ROSES},
]
SESSIONS = [{"caseId": "s", "turns": TURNS}]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "fixtures"
    folder.mkdir()
    (tmp_path / "agents").mkdir()
    for name, rows in (("b", BELIEFS), ("q", CASES), ("s", SESSIONS)):
        (folder / f"{name}.json").write_text(json.dumps(rows))
    monkeypatch.chdir(tmp_path)
    return folder


def finder(name: str = "finder", memory: str = TURN, observe: str = "", usage: str = "None") -> None:
    text = AGENT.replace("MEMORY", memory).replace("OBSERVE", observe).replace("USAGE", usage)
    Path("agents", f"{name}.py").write_text(text)


def reports(command: "Command", data: Path, *more: str, agent: str = "finder") -> list[dict[str, Any]]:
    done = command("score", "precisionmembench", "--agent", agent, "--data", str(data), "-o", "mine", *more)
    assert done.exit_code == 0, done.err
    return [
        json.loads(Path("mine", f"{kind}-{agent}.json").read_text())
        for kind in ("retrieval-report", "session-retrieval-report")
    ]


OBSERVING = "async def observe(self, turn):\n        self.held.append(turn.message)"


@pytest.mark.parametrize("memory", [TURN, "Memory(each.text)", "Memory('', turn=each.turn, since=each.turn)"])
@pytest.mark.parametrize("observe", ["", OBSERVING], ids=["answers", "observes"])
def test_a_context_holds_what_came_and_what_the_program_adds(
    command: "Command", data: Path, memory: str, observe: str
) -> None:
    finder(memory=memory, observe=observe)
    queries, _ = reports(command, data)
    rows: Mapping[str, Any] = {row["caseId"]: row for row in queries["cases"]}
    users = "user=" in memory
    assert rows["wall"]["relevantBeliefs"] == ["roses", *([] if users else ["theirs"]), "both", "boat"]
    assert rows["wall"]["passed"] is users, "a memory that does not keep users apart lets another's belief in"
    assert (rows["wall"]["pinnedBeliefs"], rows["wall"]["retrievedQuestions"]) == (["kept"], ["asked"])
    assert rows["theirs"]["failures"] == ["rules broken: 1"]
    assert (rows["none"]["relevantBeliefs"], rows["none"]["retrievalPrecision"]) == ([], None)
    assert rows["one"]["relevantBeliefs"] == ["roses"], "a pinned belief takes one of two places"


def test_in_a_session_a_belief_is_found_by_the_names_that_it_gets(command: "Command", data: Path) -> None:
    finder()
    _, sessions = reports(command, data)
    assert [row["retrievedBeliefIds"] for row in sessions["turns"]] == [[], ["new", "roses"]]
    assert [row["retrievalRecall"] for row in sessions["turns"]] == [0.0, 1.0]
    assert [row["driftScore"] for row in sessions["turns"]] == [0.0, 0.5]


def test_a_written_report_is_read_like_a_published_one(command: "Command", data: Path) -> None:
    finder()
    reports(command, data)
    found = json.loads(
        command("score", "published", "mine/retrieval-report-finder.json", "--data", str(data), "--json").out
    )
    assert (found[0]["what"], found[0]["notes"]) == ("PrecisionMemBench: a report on queries", [])


def test_no_id_reaches_the_agent(command: "Command", data: Path) -> None:
    telling = OBSERVING + "\n        with open('heard.txt', 'a') as file:\n            print(turn, file=file)"
    finder(observe=telling)
    renamed = [{**each, "_id": f"answer_key_{each['_id']}", "canonical_name": "plain"} for each in BELIEFS]
    Path(data, "b.json").write_text(json.dumps(renamed))
    Path(data, "s.json").write_text(json.dumps([{"caseId": "s", "turns": TURNS[1:]}]))
    reports(command, data)
    heard = Path("heard.txt").read_text("utf-8")
    assert heard.count("\n") == 2 * len(BELIEFS)
    assert "answer_key" not in heard


def test_what_cannot_be_asked_or_read_is_said_in_one_line(command: "Command", data: Path) -> None:
    words = ("score", "precisionmembench", "--data", str(data), "-o", "mine")
    refused = command(*words, "--agent", "parrot")
    assert (refused.exit_code, "--agent parrot: it has no retrieval to ask" in refused.err) == (1, True)
    assert not Path("mine").exists()
    finder("odd", memory="'text'")
    assert "recall() returned str, not a Memory" in command(*words, "--agent", "odd").err
    finder("broken", memory="1 / 0")
    assert "ZeroDivisionError" in command(*words, "--agent", "broken").err
    finder()
    Path(data, "b.json").write_text(json.dumps([{**BELIEFS[0], "aliases": 5}]))
    assert "a belief or case cannot be read" in command(*words, "--agent", "finder").err
    Path(data, "s.json").unlink()
    assert "PrecisionMemBench's session rows are not in it" in command(*words, "--agent", "finder").err


def test_a_limit_stops_an_agent_that_costs_something(command: "Command", data: Path) -> None:
    reserve = "free = False\n    def reserve(self, message):\n        return " + (
        used := 'Usage(uncached=900, output=60, model="gpt-4o", provider="openai")'
    )
    finder("paid", observe=reserve, usage=used)
    words = ("score", "precisionmembench", "--agent", "paid", "--data", str(data), "-o", "mine")
    stopped = command(*words, "--max-cost", "0.01")
    assert (stopped.exit_code, "could exceed --max-cost" in stopped.err) == (4, True)


def test_published_contexts_are_put_together_as_the_program_does() -> None:
    folder = shared("precisionmembench")

    def rows(name: str, key: str) -> dict[str, dict[str, Any]]:
        return {each[key]: each for each in json.loads((folder / "data" / name).read_text())}

    beliefs, cases = rows("beliefs.seed.json", "_id"), rows("retrieval.cases.json", "caseId")
    read = 0
    for path in sorted((folder / "reports").glob("*retrieval-report-*.json")):
        if "tenure" in path.name:  # it has a program of its own, which orders and expands otherwise
            continue
        for stored in json.loads(path.read_text()).get("cases", ()):
            if "driftScore" in stored or "relevantBeliefs" not in stored:
                continue
            case = cases[stored["caseId"]]
            row = row_of(case, case, surfaced(case, beliefs, stored["relevantBeliefs"]), beliefs)
            for key in ("pinnedBeliefs", "retrievedQuestions", "relevantBeliefs"):
                assert sorted(row[key]) == sorted(stored[key]), (path.name, stored["caseId"])
            for key in ("retrievalPrecision", "retrievalRecall", "passed"):
                assert row[key] == stored[key], (path.name, stored["caseId"])
            read += 1
    assert read == 7 * 77
