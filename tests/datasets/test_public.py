"""Public sets that can be run: which exist, which questions are asked, and in which order histories are read."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets import public
from ltm_bench.datasets.public import choose, contents, nth_history, public_set, public_sets
from tests import sets

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"), beside=True)

SHARED = Path(__file__).parents[3] / "shared" / "data"


def record(number: int) -> dict[str, Any]:
    kinds = ["multi-session", "temporal-reasoning", "knowledge-update", "single-session-user"]
    return {
        "question_id": f"q{number}" + ("_abs" if number % 20 == 7 else ""),
        "question_type": kinds[number % 4],
        "question": f"What is thing {number}?",
        "answer": f"It is item number {number}",
        "question_date": "2023/06/30 (Fri) 21:56",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": f"Thing {number} is item number {number}."}],
            [{"role": "user", "content": "Bye."}, {"role": "assistant", "content": "See you."}],
        ],
    }


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "longmemeval_s_cleaned.json"
    path.write_text(json.dumps([record(number) for number in range(100)]))
    return path


def test_every_set_says_where_to_get_it_and_how_it_may_be_used() -> None:
    assert {"locomo", "longmemeval-s", "beam-10m", "factconsolidation-mh-262k"} <= set(public_sets())
    for each in public_sets().values():
        assert each.licence
        assert each.url.startswith("https://")
        assert len(each.sha256) in (0, 64)
    with pytest.raises(ConfigError, match="did you mean 'locomo'"):
        public_set("locomoo")


@pytest.mark.unkept
def test_a_subset_is_seeded_and_every_type_keeps_its_share(data: Path) -> None:
    which = public_set("longmemeval-s")
    first = choose(which, data, 20, 0, pytest.fail)
    assert first.questions == choose(which, data, 20, 0, pytest.fail).questions
    assert first.questions != choose(which, data, 20, 1, pytest.fail).questions
    assert (len(first.questions), first.histories) == (20, 20)
    kinds = Counter(int(name.partition("_")[0][1:]) % 4 for name in first.questions)
    assert max(kinds.values()) - min(kinds.values()) <= 2
    for most in (1, 3, 7, 50, 99):
        assert len(choose(which, data, most, 0, pytest.fail).questions) == most
    for seed in range(5):
        assert any("_abs" in name for name in choose(which, data, 5, seed, pytest.fail).questions)
    assert choose(which, data, None, 0, pytest.fail).questions == ()
    assert choose(which, data, 1000, 0, pytest.fail).histories == 100


def test_a_file_without_a_question_of_the_set_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text("[]")
    with pytest.raises(ConfigError, match="no question of longmemeval-s"):
        choose(public_set("longmemeval-s"), path, None, 0, pytest.fail)


def test_histories_are_read_in_order_and_reread_for_an_earlier_one(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    whole = public.PublicSet.read

    def counted(*words: Any) -> Any:
        nonlocal read
        for history in whole(*words):
            read += 1
            yield history

    monkeypatch.setattr(public.PublicSet, "read", counted)
    chosen = ["q3", "q50", "q99"]
    names = [nth_history("longmemeval-s", data, "x", chosen, i).id for i in (0, 1, 1, 2, 2)]
    assert names == ["q3", "q50", "q50", "q99", "q99"]
    assert read == 100
    assert nth_history("longmemeval-s", data, "x", chosen, 0).id == "q3"
    assert read == 104
    with pytest.raises(ValueError, match="no history number 3"):
        nth_history("longmemeval-s", data, "x", chosen, 3)


@pytest.mark.unkept
def test_alone_a_history_comes_once_for_each_of_its_questions(tmp_path: Path) -> None:
    data = sets.locomo(tmp_path / "locomo10.json")
    which = public_set("locomo")
    whole = [(history.id, q.id) for history in which.read(data, pytest.fail) for q in history.questions]
    kept = choose(which, data, 3, 0, pytest.fail)
    assert (kept.total, len(kept.questions)) == (3, 3)
    assert choose(which, data, None, 0, pytest.fail).total == len(whole) > 3
    for chosen, expected in (
        ((), whole),
        (kept.questions, [each for each in whole if each[1] in kept.questions]),
    ):
        told = [nth_history("locomo", data, "x", chosen, i, alone=True) for i in range(len(expected))]
        assert [(each.id, *(q.id for q in each.questions)) for each in told] == expected
        with pytest.raises(ValueError, match="no history number"):
            nth_history("locomo", data, "x", chosen, len(expected), alone=True)


def test_contents_are_counted(data: Path) -> None:
    held = contents(public_set("longmemeval-s"), data, pytest.fail)
    assert (held.histories, held.sessions, held.utterances) == (100, 200, 300)
    assert sum(held.questions.values()) == 100
    assert held.unanswerable == 5


def test_the_terminal_lists_and_shows_sets(data: Path, command: "Command", tmp_path: Path) -> None:
    rows = json.loads(command("datasets", "list", "--json").out)
    assert {"name", "about", "licence", "here"} == set(rows[0])
    assert "locomo" in command("datasets", "list").out
    shown = json.loads(command("datasets", "show", "longmemeval-s", "--data", str(data), "--json").out)
    assert shown["histories"] == 100
    assert shown["as published"] is False
    assert "multi-session: 25" in command("datasets", "show", "longmemeval-s", "--data", str(data)).out
    refused = command("datasets", "show", "locomo", "--data", str(tmp_path / "gone"))
    assert refused.exit_code == 1
    assert "there is no such file" in refused.err
    refused = command("datasets", "fetch", "beam-100k")
    assert refused.exit_code == 1
    assert "download it from https://" in refused.err


@pytest.mark.parametrize(("agent", "low", "high"), [("perfect", 1.0, 1.0), ("goldfish", 0.0, 0.3)])
@pytest.mark.parametrize("mode", ["", "-woven"])
def test_perfect_reaches_the_ceiling_and_the_floor_is_low_in_both_modes(
    data: Path, command: "Command", agent: str, low: float, high: float, mode: str
) -> None:
    words = ("--suite", f"longmemeval-s{mode}", "--data", str(data), "--span", "2k", "--examples", "10")
    done = command("run", *words, "--agent", agent)
    assert done.exit_code == 0, done.err
    (folder,) = (path.parent for path in Path("reports").glob("*/events.jsonl"))
    results = json.loads((folder / "results.json").read_text("utf-8"))
    assert low <= results["score"] <= high
    logs = sorted(folder.rglob("*.jsonl"), key=lambda path: path != folder / "events.jsonl")
    log = [json.loads(line) for path in logs for line in path.read_text("utf-8").splitlines()]
    asked = [each for each in log if "expect" in each]
    assert len(asked) == 10
    assert "Friday, 30 June 2023" in asked[0]["message"]
    told = next(each for each in log if "Thing" in each.get("message", ""))
    assert "Saturday, 20 May 2023, 02:21" in told["message"]
    if not mode:
        assert told["at"].startswith("2023-05-20T02:21")
    manifest = log[0]
    assert manifest["acknowledge"] == "scripted"
    (entry,) = manifest["suite"]["scenarios"]
    assert len(entry["parameters"]["digest"]) == 16
    assert len(entry["parameters"]["chosen"].split()) == 10


@pytest.mark.parametrize("questions", ["in-line", "forked"])
def test_a_run_is_scored_like_a_prediction_file(data: Path, command: "Command", questions: str) -> None:
    words = ("--suite", "longmemeval-s", "--data", str(data), "--examples", "8", "--agent", "perfect")
    assert command("run", *words, "--questions", questions).exit_code == 0
    (folder,) = (path.parent for path in Path("reports").glob("*/events.jsonl"))
    done = command("score", "longmemeval", str(folder), "--data", str(data), "--json")
    (file,) = json.loads(done.out)["files"]
    assert file["n"] == 8
    assert file["lines"][0]["figures"]["strict"]["mean"] == 1.0


def test_a_run_can_be_verified_without_its_data(data: Path, command: "Command") -> None:
    words = ("--suite", "longmemeval-s", "--data", str(data), "--examples", "4", "--agent", "perfect")
    assert command("run", *words).exit_code == 0
    (folder,) = (path.parent for path in Path("reports").glob("*/events.jsonl"))
    data.unlink()
    done = command("verify", str(folder))
    assert done.exit_code == 0, done.output
    assert "0 of 4 examples regenerated from the seed" in done.output


def test_a_missing_set_is_named_with_what_to_do(command: "Command", tmp_path: Path) -> None:
    for words, complaint in (
        (("--suite", "locomo"), "name its data with --data"),
        (("--suite", "locomo", "--data", str(tmp_path / "gone.json")), "there is no"),
        (("--suite", "smoke", "--data", "x.json"), "the suite smoke is not a public set"),
    ):
        refused = command("run", *words, "--agent", "goldfish")
        assert refused.exit_code == 1
        assert complaint in " ".join(refused.err.split())


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data must not be shipped")
@pytest.mark.parametrize(
    ("suite", "path"),
    [
        ("factconsolidation-sh-6k", "factconsolidation/Conflict_Resolution.json.gz"),
        ("beam-100k", "beam"),
        ("locomo", "locomo/locomo10.json.gz"),
    ],
)
def test_the_ceiling_is_one_on_the_published_sets(command: "Command", suite: str, path: str) -> None:
    words = ("--suite", suite, "--data", str(SHARED / path), "--agent", "perfect", "--examples", "30")
    done = command("run", *words)
    assert done.exit_code == 0, done.err
    assert "1.00 / 1" in done.out
