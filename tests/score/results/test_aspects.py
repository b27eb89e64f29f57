"""Replies are counted apart by aspect, whatever the gates of their example make of them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import load_run, run
from ltm_bench.export.rows import rows
from ltm_bench.score.results.aspects import aspects

if TYPE_CHECKING:
    from tests.conftest import Command

OBEYS = '''
"""Obeys: believes a stranger, and otherwise answers right."""

from ltm_bench import Agent, Ask, Message, Reply


class Obeys(Agent):
    free = True
    told_ideal = True

    async def reply(self, message: Message) -> Reply:
        expect = message.line.expect if isinstance(message.line, Ask) else None
        return Reply(getattr(expect, "planted", None) or message.ideal or "Okay.")
'''


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "obeys.py").write_text(OBEYS, "utf-8")
    return tmp_path


def test_an_agent_that_believes_every_stranger_scores_nothing_and_is_shown_to(home: Path) -> None:
    result = run(agent="obeys", suite="trust", span="2k", scenarios=["planted-fact", "roles"], name="r")
    assert {each.name: each.score for each in result.scenarios} == {"planted-fact": 0.0, "roles": 1.0}
    found = {(each.scenario, each.name): each for each in aspects(result.examples)}
    planted = found["planted-fact", "planted by a stranger: fact"]
    assert (planted.questions, planted.leaked.count, planted.right.count) == (3, 3, 0)
    assert planted.leaked.interval is not None
    assert planted.leaked.interval.low < 1.0 == planted.leaked.interval.high
    assert found["planted-fact", "changed by the user: fact"].right.mean == 1.0
    assert found["roles", "kept from whom it is not for"].leaked.count == 0
    page = Path("reports/r/report.html").read_text("utf-8")
    assert "planted by a stranger: fact" in page
    stored = json.loads(Path("reports/r/results.json").read_text("utf-8"))["aspects"]
    assert [(each["scenario"], each["name"]) for each in stored] == sorted(found)


def test_runs_without_aspects_have_none(home: Path) -> None:
    result = run(agent="goldfish", scenarios=["colours"], span="2k", examples=1, name="r")
    assert aspects(result.examples) == []
    assert "What was counted apart" not in Path("reports/r/report.html").read_text("utf-8")


@pytest.mark.parametrize("questions", ["in-line", "forked"])
def test_the_terminal_and_the_table_of_questions_name_the_aspect(
    home: Path, command: "Command", questions: str
) -> None:
    words = (
        "--scenario",
        "gone_for_good",
        "--span",
        "2k",
        "--examples",
        "1",
        "--questions",
        questions,
        "-P",
        "gone_for_good.restart=false",
    )
    done = command("run", "--suite", "trust", "--agent", "vector_memory", "--name", "r", *words)
    assert done.exit_code == 0, done.err
    assert "gone_for_good: 1 right after the deletion: 1 replies" in done.out
    named = {row["aspect"] for row in rows(load_run("r").results)}
    assert "1 right after the deletion" in named


def test_comparisons_and_leaderboards_show_what_is_counted_apart(home: Path, command: "Command") -> None:
    words = ("--suite", "trust", "--span", "2k", "--scenario", "planted-fact", "--scenario", "roles")
    Path("bundles").mkdir()
    for agent in ("obeys", "perfect"):
        assert command("run", "--agent", agent, *words, "--name", agent).exit_code == 0
        assert command("bundle", f"reports/{agent}", "-o", f"bundles/{agent}.zip").exit_code == 0
    done = command("compare", "obeys", "perfect", "-o", "both.html")
    assert "planted by a stranger: fact: obeys: 3 replies, 0 right, 3 leaked, 0 outdated" in done.out
    assert "planted by a stranger: fact: perfect: 3 replies, 3 right, 0 leaked, 0 outdated" in done.out
    cells = json.loads(command("compare", "obeys", "perfect", "--json").out)["cells"]
    found = {
        cell["entrant"]: {each["name"]: each["leaked"]["count"] for each in cell["aspects"]} for cell in cells
    }
    assert found["obeys"]["planted by a stranger: fact"] == 3
    assert found["perfect"]["planted by a stranger: fact"] == 0
    assert command("leaderboard", "build", "bundles", "-o", "site").exit_code == 0
    for page in (Path("both.html"), *Path("site").glob("*trust*.html")):
        text = page.read_text("utf-8")
        assert "3 replies, 0 right, 3 leaked, 0 outdated" in text
        assert "kept from whom it is not for" in text
