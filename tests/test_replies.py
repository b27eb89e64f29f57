"""`perf/replies.py` counts the verdicts on labelled replies; other programs read its JSON output."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import item_counts, names_only
from ltm_bench.matchers.forms import dump

ROOT = Path(__file__).parents[1]
AT = "2026-01-05T09:00:00+00:00"
COLOUR = names_only("red", among=("red", "blue", "green", "yellow"), stale=("blue",))
LIST = item_counts({"milk": 2, "bread": 1}, among=("milk", "bread", "apples"))
BEFORE = {"at": AT, "message": "I like red.", "reply": "Fine."}
QUESTIONS = [
    {
        "question_id": name,
        "scenario": scenario,
        "question": asked,
        "at": AT,
        "expect": dump(expect),
        "before": [BEFORE],
    }
    for name, scenario, asked, expect in (
        ("c", "colours", "Which colour?", COLOUR),
        ("l", "shopping_list", "What is on it?", LIST),
    )
]
REPLIES = [
    ("c", "It is red.", ["correct"], False),  # right, accepted
    ("c", "It's red, not blue.", ["correct"], True),  # right, accepted, soft
    ("c", "Red and blue.", ["correct"], False),  # right, undecided
    ("c", "It is blue.", ["correct"], False),  # right, refused
    ("c", "It is green.", ["wrong"], False),  # wrong, and called so
    ("c", "It is blue.", ["wrong"], False),  # wrong, called stale: the label differs
    ("c", "It is red.", ["stale", "wrong"], False),  # wrong, accepted
    ("l", "2 milk, 1 bread", ["correct"], False),  # right, accepted
    ("l", "2 milk", ["partial"], False),  # neither right nor wrong
    ("l", "2 milk", ["wrong"], True),  # wrong, with credit, soft
    ("l", "I don't know.", ["abstained", "wrong"], False),  # wrong, and called abstained
]
"""Question, reply, fair outcomes, soft."""


def counted(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "perf.replies", str(folder), *options],
        cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.fixture(params=["questions.jsonl", "questions.jsonl.gz"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    questions = "".join(json.dumps(each) + "\n" for each in QUESTIONS).encode()
    packed = gzip.compress(questions) if request.param.endswith("gz") else questions
    (tmp_path / request.param).write_bytes(packed)
    lines = [{"question": q, "reply": r, "fair": fair, "soft": soft} for q, r, fair, soft in REPLIES]
    (tmp_path / "replies.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8"
    )
    return tmp_path


def figures(
    right: tuple[int, int, int, int], wrong: tuple[int, int], labels: tuple[int, int]
) -> dict[str, Any]:
    return {
        "right": dict(zip(("n", "accepted", "undecided", "refused"), right, strict=True)),
        "wrong": dict(zip(("n", "accepted"), wrong, strict=True)),
        "labels": dict(zip(("n", "right"), labels, strict=True)),
    }


def test_the_json_form_counts_each_reply_once_overall_and_once_in_its_scenario(folder: Path) -> None:
    assert json.loads(counted(folder, "--json").stdout) == {
        "all": figures((5, 3, 1, 1), (5, 2), (8, 5)),
        "colours": figures((4, 2, 1, 1), (3, 1), (5, 2)),
        "shopping_list": figures((1, 1, 0, 0), (2, 1), (3, 3)),
    }


def test_the_styles_of_replies_are_counted_apart_where_they_are_told(folder: Path) -> None:
    path = folder / "replies.jsonl"
    bare, history, *rest = map(json.loads, path.read_text("utf-8").splitlines())
    styled = [bare | {"style": "bare"}, history | {"style": "history"}, *rest]
    path.write_text("".join(json.dumps(each) + "\n" for each in styled), "utf-8")
    content = json.loads(counted(folder, "--json").stdout)
    assert content["styles"] == {
        "bare": figures((1, 1, 0, 0), (0, 0), (1, 1)),
        "history": figures((1, 1, 0, 0), (0, 0), (0, 0)),
    }
    assert content["all"] == figures((5, 3, 1, 1), (5, 2), (8, 5))
    rows = [
        line.split()[1:4]
        for line in counted(folder).stdout.replace(" | ", " ").splitlines()
        if "| as " in line
    ]
    assert rows == [["as", "bare", "1"], ["as", "history", "1"]]


def test_the_table_shows_shares_with_their_intervals_and_on_request_what_differs(folder: Path) -> None:
    said = counted(folder, "--show").stdout
    assert "60.0 % (23.1-88.2)" in said
    assert [line.split()[0] for line in said.splitlines() if " fair " in line] == [
        "undecided", "refused", "label", "accepted", "accepted",
    ]  # fmt: skip


def test_on_request_each_kind_of_reason_stands_above_up_to_five_replies_that_got_it(folder: Path) -> None:
    path = folder / "replies.jsonl"
    path.write_text(path.read_text("utf-8") * 10, "utf-8")
    kinds = dict[str, int]()
    for line in counted(folder, "--reasons").stdout.splitlines():
        if not line.startswith(" "):
            kinds[kind := line] = 0
        elif line.startswith("    "):
            kinds[kind] += 1
    assert {each.partition(":")[0] for each in kinds} >= {"correct", "wrong", "undecided"}
    assert set(kinds.values()) == {5}
    assert not any("red" in each or any(map(str.isdigit, each)) for each in kinds)


def test_a_folder_without_replies_is_refused_in_one_line(tmp_path: Path) -> None:
    done = counted(tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Give a folder with questions.jsonl.gz and replies.jsonl" in done.stderr
