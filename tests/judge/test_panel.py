"""The same replies under every published rubric, on files of our own."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.judge.panel import OFFICIAL, RUBRICS, Panel, ask_all, panel, people_of, replies_of, sheet_of
from tests.published import shared

if TYPE_CHECKING:
    from tests.conftest import Command

JUDGE = '''"""Calls a reply right if it is not vague; the generous rubric passes everything."""
from ltm_bench import Agent, Message, Reply
class Judge(Agent):
    async def reply(self, message: Message) -> Reply:
        return Reply("CORRECT" if "generous" in message.text or "Reply: It was" not in message.text else "It is WRONG.")
'''


def placed(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answered(number: int, said: str, right: bool, **more: Any) -> dict[str, Any]:
    return {
        "question_id": f"locomo_{number % 3}_qa{number}",
        "question": f"Which flower grows in bed {number}?",
        "golden_answer": "roses",
        "generated_answer": said,
        "llm_judgments": {"judgment_1": right},
        "category": "4",
        **more,
    }


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """A terse file with few right verdicts, and a chatty one with many."""
    terse = [answered(n, "roses" if n % 2 else "lilies", bool(n % 2)) for n in range(30)]
    wordy = "Ada told me at length about her garden, and I think that roses were what she had planted there"
    chatty = [answered(n, wordy if n % 5 else "nothing", bool(n % 5)) for n in range(30)]
    return [placed(tmp_path / "terse.jsonl", terse), placed(tmp_path / "chatty.jsonl", chatty)]


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    rows = [answered(n, "It was one of those flowers.", n < 20) for n in range(30)]
    return placed(tmp_path / "wrong.jsonl", rows)


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    said = [("roses", "CORRECT"), ("It was lilies", "WRONG"), ("a flower", "AMBIGUOUS")]
    rows = [
        {"qid": f"c{n % 3}_q{n}", "question": f"Bed {n}?", "gold": "roses", "category": "single-hop",
         "answer": said[n % 3][0], "golden_v2": "CORRECT", "human_a": said[n % 3][1], "majority": said[n % 3][1]}
        for n in range(18)
    ]  # fmt: skip
    return placed(tmp_path / "rated.jsonl", rows)


def seen(paths: Sequence[Path], people: Path | None = None) -> Panel:
    found = [sheet_of(path, replies_of(path, {}, pytest.fail), {}) for path in paths]
    if people is None:
        return panel(found, None, [])
    rows = replies_of(people, {}, pytest.fail)
    return panel(found, None, [(sheet_of(people, rows, {}), people_of(rows))])


def test_files_change_places_between_rubrics_and_that_is_said(files: list[Path]) -> None:
    found = seen(files)
    terse, chatty = map(str, files)
    assert found.files[chatty]["stored"].mean == 24 / 30
    assert found.files[terse]["F1"].mean == 15 / 30
    assert found.ranks[terse] == {"stored": 2, "F1": 1, "strict text": 2}
    (turned,) = found.turned
    assert (turned.first, turned.above, turned.below) == (terse, ("F1",), ("stored", "strict text"))


def test_files_that_answer_other_questions_have_no_rank(files: list[Path], tmp_path: Path) -> None:
    alone = placed(tmp_path / "alone.jsonl", [answered(99, "roses", True)])
    assert str(alone) not in seen([*files, alone]).ranks


def test_questions_are_joined_by_their_text_where_a_file_has_no_ids(
    files: list[Path], tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in files[0].read_text().splitlines()]
    bare = [
        {"user": f"experiment_user_{row['question_id'].split('_')[1]}", "question": row["question"], "category": 4,
         "answer": "roses", "golden_answer": "roses", "grade": True}
        for row in rows
    ]  # fmt: skip
    nested = tmp_path / "bare.json"
    nested.write_text(json.dumps({"all": bare}))
    assert seen([files[0], nested]).ranks[str(nested)]["stored"] == 1


def test_agreement_with_people_names_both_classes_and_when_it_tells_nothing(rated: Path) -> None:
    by = {each.rubric: each for each in seen([], rated).people}
    assert set(by) == {"golden-v2", "F1", "strict text"}
    assert (by["F1"].right, by["F1"].wrong, by["F1"].agreement.kappa, by["F1"].tells) == (6, 6, 1.0, True)
    assert by["golden-v2"].agreement.kappa == 0
    assert "golden-v2 and people: 6 of 12 alike (6 that they call right, 6 wrong)" in by["golden-v2"].headline
    few = json.loads(rated.read_text().splitlines()[0])
    alone = seen([], placed(rated.with_name("few.jsonl"), [few])).people[0]
    assert "with fewer than 5 of a class κ tells nothing" in alone.headline


def test_a_judge_is_asked_once_by_every_rubric_and_its_leniency_stands_beside(
    command: "Command", files: list[Path], wrong: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "lenient.py").write_text(JUDGE)
    words = ("score", "panel", str(files[1]), "--wrong", str(wrong), "--judge", "lenient")
    done = command(*words, "--json")
    assert done.exit_code == 0, done.err
    found = json.loads(done.out)
    assert {name: found["wrong"][name]["mean"] for name in ("stored", "generous", "literal")} == {
        "stored": 20 / 30,
        "generous": 1.0,
        "literal": 0.0,
    }
    assert set(RUBRICS) < set(found["rubrics"])
    asked = {path: path.read_bytes() for path in tmp_path.glob("*.lenient.jsonl")}
    assert [content.count(b"\n") for content in asked.values()] == [30 * len(RUBRICS)] * 2
    shown = command(*words).output
    assert "passes wrong" in shown
    assert "generous 1.0000" in shown
    assert asked == {path: path.read_bytes() for path in asked}, "nothing is asked twice"


def test_longmemeval_is_also_judged_by_its_own_rules_for_each_type(tmp_path: Path) -> None:
    asked = {"q1": {"question": "Which?", "answer": "roses", "question_type": "temporal-reasoning"}}
    path = placed(tmp_path / "h.jsonl", [{"question_id": "q1", "hypothesis": "roses"}])
    said: list[str] = []

    async def ask(text: str) -> str:
        said.append(text)
        return "yes" if "off by one" in text else "INCORRECT"

    heard = asyncio.run(ask_all(replies_of(path, asked, pytest.fail), tuple(RUBRICS), ask))
    assert heard == {("q1", OFFICIAL): 1.0, **{("q1", name): 0.0 for name in RUBRICS}}
    assert len(said) == len(RUBRICS) + 1


def test_longmemeval_takes_questions_from_the_data(tmp_path: Path) -> None:
    asked = {"q1": {"question": "Which?", "answer": "roses", "question_type": "multi-session"}}
    path = placed(tmp_path / "h.jsonl", [{"question_id": "q1", "hypothesis": "Final answer: roses"}])
    (reply,) = replies_of(path, asked, pytest.fail)
    assert dict(reply.by_text())["strict text"] == 1


def test_every_rubric_has_its_source_and_words_of_our_own() -> None:
    for each in RUBRICS.values():
        assert "@" in each["source"]
        assert each["rule"].strip()


def test_the_page_says_what_the_terminal_says_and_escapes_names(
    command: "Command", files: list[Path], wrong: Path, rated: Path
) -> None:
    odd = files[0].rename(files[0].with_name("<b>.jsonl"))
    page = odd.with_name("panel.html")
    done = command(
        "score", "panel", str(odd), str(files[1]), str(rated), "--wrong", str(wrong), "-o", str(page)
    )
    assert done.exit_code == 0, done.err
    text = page.read_text("utf-8")
    assert "&lt;b&gt;.jsonl" in text
    assert "<b>" not in text
    assert "both differences are shown" in text
    assert "golden-v2 and people: 6 of 12 alike" in text
    assert "Passes wrong answers" in text


@pytest.mark.long
def test_published_files_change_places_under_f1() -> None:
    folder = shared("locomo_answers_verdicts")
    found = seen(sorted(folder.glob("fullcontext*")))
    (turned,) = found.turned
    assert (turned.above, turned.below, turned.shown) == (("stored", "strict text"), ("F1",), True)
