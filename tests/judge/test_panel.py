"""The same replies under every published rubric, on files of our own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.judge.panel import (
    BLIND,
    BY_TYPE,
    RUBRICS,
    Panel,
    PanelReply,
    by_rubrics,
    panel,
    people_of,
    replies_of,
)
from tests.published import shared

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*"), beside=True)

JUDGE = '''"""Calls a reply right if it is not vague; the generous rubric passes everything."""
from ltm_bench import Agent, Message, Reply
class Judge(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        text, used = message.text, None
        if "<<<" in text:
            said = text.splitlines()[-2]
            return Reply('{"span": "%s", "value": "%s"}' % (said, said.split()[-1]), used)
        passed = "generous" in text or "Reply: It was" not in text
        if "yes or no" in text:
            return Reply("Yes" if passed else "No", used)
        return Reply("CORRECT" if passed else "It is WRONG.", used)
'''

ASKED = tuple(name for name in RUBRICS if name not in ("stored", "F1", "strict text"))


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
    replies = {path: replies_of(path, {}, pytest.fail) for path in [*paths, *([people] if people else [])]}
    said = {str(path): people_of(rows) for path, rows in replies.items() if path == people}
    return panel([by_rubrics(path, rows, {}) for path, rows in replies.items()], None, said)


def test_files_change_places_between_rubrics_and_that_is_said(files: list[Path]) -> None:
    found = seen(files)
    terse, chatty = map(str, files)
    assert found.files[chatty]["stored"].mean == 24 / 30
    assert found.files[terse]["F1"].mean == 15 / 30
    assert found.ranks[terse] == {"stored": 2, "F1": 1, "strict text": 2}
    (turned,) = found.turned
    assert (turned.first, turned.above, turned.below) == (terse, ("F1",), ("stored", "strict text"))


def test_a_file_may_be_named_twice_and_hold_the_wrong_answers_too(
    command: "Command", files: list[Path], wrong: Path
) -> None:
    words = ("score", "panel", *map(str, (files[0], files[0], wrong)), "--wrong", str(wrong), "--json")
    found = json.loads(command(*words).out)
    assert list(found["files"]) == [str(files[0]), str(wrong)]
    assert found["wrong"] == found["files"][str(wrong)]


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


def test_a_rubric_without_a_verdict_on_some_replies_says_on_how_many_it_has_one(
    command: "Command", tmp_path: Path
) -> None:
    rows = [answered(n, "roses", True) for n in range(4)]
    del rows[0]["llm_judgments"]
    path, page = placed(tmp_path / "some.jsonl", rows), tmp_path / "panel.html"
    done = command("score", "panel", str(path), "-o", str(page))
    assert done.out.count(" n=3") == 1
    assert "n=3" in page.read_text("utf-8")
    assert "n=" not in command("score", "panel", str(placed(tmp_path / "all.jsonl", rows[1:]))).out


def test_agreement_with_people_names_both_classes_and_when_it_tells_nothing(rated: Path) -> None:
    by = {each.rubric: each for each in seen([], rated).people}
    assert set(by) == {"stored", "F1", "strict text"}
    assert (by["F1"].right, by["F1"].wrong, by["F1"].agreement.kappa, by["F1"].tells) == (6, 6, 1.0, True)
    assert by["stored"].agreement.kappa == 0
    assert "stored and people: 6 of 12 alike (6 that they call right, 6 wrong)" in by["stored"].headline
    few = json.loads(rated.read_text().splitlines()[0])
    alone = seen([], placed(rated.with_name("few.jsonl"), [few])).people[0]
    assert "with fewer than 5 of a class κ tells nothing" in alone.headline


@pytest.fixture
def lenient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "lenient.py").write_text(JUDGE)


@pytest.mark.usefixtures("lenient")
def test_a_judge_is_asked_once_by_every_rubric_and_its_leniency_stands_beside(
    command: "Command", files: list[Path], wrong: Path, tmp_path: Path
) -> None:
    words = ("score", "panel", str(files[1]), "--wrong", str(wrong), "--judge", "lenient")
    done = command(*words, "--json")
    assert done.exit_code == 0, done.err
    assert f"lenient is asked about chatty.jsonl: {30 * len(ASKED)} calls, no cost" in done.err
    found = json.loads(done.out)
    by = {name: found["wrong"][name]["mean"] for name in ("stored", "generous", "by type", "literal", BLIND)}
    assert by == {"stored": 20 / 30, "generous": 1.0, "by type": 0.0, "literal": 0.0, BLIND: 0.0}
    assert list(found["rubrics"]) == list(RUBRICS)
    asked = {path: path.read_bytes() for path in tmp_path.glob("*.lenient.jsonl")}
    assert [content.count(b"\n") for content in asked.values()] == [30 * len(ASKED)] * 2
    again = command(*words)
    assert "passes wrong" in again.output
    assert "generous 1.0000" in again.output
    assert f"0 calls, {30 * len(ASKED)} answered earlier, no cost" in again.err
    assert asked == {path: path.read_bytes() for path in asked}, "nothing is asked twice"


@pytest.mark.usefixtures("lenient")
def test_what_was_cut_off_while_it_was_written_is_asked_again_and_nothing_else(
    command: "Command", files: list[Path]
) -> None:
    words = ("score", "panel", str(files[0]), "--judge", "lenient", "--json")
    whole = command(*words).out
    store = files[0].with_name("terse.jsonl.lenient.jsonl")
    kept = store.read_bytes().splitlines(keepends=True)
    store.write_bytes(b"".join(kept[:10]) + kept[10][:40])
    done = command(*words)
    assert done.out == whole
    assert f"{30 * len(ASKED) - 10} calls, 10 answered earlier" in done.err
    lines = store.read_text("utf-8").splitlines()
    assert len({json.loads(line)["key"] for line in (*lines[:10], *lines[11:])}) == 30 * len(ASKED)


@pytest.mark.usefixtures("lenient")
def test_the_price_is_said_before_and_after_and_a_limit_keeps_what_was_paid_for(
    command: "Command", files: list[Path], tmp_path: Path
) -> None:
    used = 'Usage(uncached={}, output={}, model="gpt-4o", provider="openai")'
    reserve = f"    def reserve(self, message):\n        return {used.format(900, 60)}\n"
    paid = JUDGE.replace("    free = True\n", reserve).replace("None", used.format(800, 20))
    paid = paid.replace("Reply\nclass", "Reply, Usage\nclass")
    (tmp_path / "agents" / "paid.py").write_text(paid)
    words = ("score", "panel", str(files[0]), "--judge", "paid", "--json")
    stopped = command(*words, "--max-cost", "0.05")
    assert stopped.exit_code == 4, stopped.err
    assert f"{30 * len(ASKED)} calls, about $0.5130, at most $0.5130" in stopped.err
    store = files[0].with_name("terse.jsonl.paid.jsonl")
    first = len(store.read_text("utf-8").splitlines())
    assert 1 < first < 30 * len(ASKED)
    done = command(*words)
    assert done.exit_code == 0, done.err
    assert f"{30 * len(ASKED) - first} calls, {first} answered earlier, about $" in done.err
    assert (
        f"paid gave {30 * len(ASKED) - first} answers; cost ${(30 * len(ASKED) - first) * 0.0022:.4f}"
        in done.err
    )
    rows = [json.loads(line) for line in store.read_text("utf-8").splitlines()]
    assert (len(rows), {each["dollars"] for each in rows}) == (30 * len(ASKED), {0.0022})


def one(path: Path, asked: dict[str, Any], **row: Any) -> PanelReply:
    (reply,) = replies_of(placed(path, [row]), asked, pytest.fail)
    return reply


def prompts_of(reply: PanelReply) -> dict[str, str]:
    return {rubric: next(inquiry) for (_, rubric), inquiry in reply.inquiries()}


def read(reply: PanelReply, rubric: str, answer: str) -> float | None:
    """Return what an answer to a rubric's prompt comes to."""
    inquiry = dict(reply.inquiries())[reply.id, rubric]
    next(inquiry)
    with pytest.raises(StopIteration) as done:
        inquiry.send(answer)
    found: float | None = done.value.value
    return found


def test_longmemevals_and_supermemorys_rules_depend_on_the_type(tmp_path: Path) -> None:
    asked = {"q1": {"question": "Which?", "answer": "roses", "question_type": "temporal-reasoning"}}
    reply = one(tmp_path / "h.jsonl", asked, question_id="q1", hypothesis="roses")
    prompts = prompts_of(reply)
    heard = {
        rubric: read(reply, rubric, "yes" if "off by one" in text else "INCORRECT")
        for rubric, text in prompts.items()
    }
    assert heard == dict.fromkeys(ASKED, 0.0) | {BY_TYPE: 1.0, BLIND: None}
    for category, words in (("3", "off by one"), ("2", "every step"), ("5", "cannot be answered")):
        reply = one(tmp_path / "l.jsonl", {}, **answered(1, "roses", True) | {"category": category})
        assert words in prompts_of(reply)[BY_TYPE], category


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ('{"span": "it is roses", "value": "roses"}', 1.0),
        ('{"span": "lilies", "value": "lilies"}', 0.0),
        ('{"span": "roses or lilies", "value": "several"}', 0.0),
        ('{"span": "", "value": "none"}', 0.0),
        ('{"span": "it is roses", "value": "tulips"}', None),
        ('{"span": "it is tulips", "value": "tulips"}', None),
        ("roses", None),
    ],
)
def test_a_blind_reader_copies_and_text_compares(tmp_path: Path, answer: str, verdict: float | None) -> None:
    row = answered(1, "First I thought of lilies; roses or lilies? No, it is roses.", True)
    reply = one(tmp_path / "b.jsonl", {}, **row)
    assert "golden" not in prompts_of(reply)[BLIND]
    assert read(reply, BLIND, answer) == verdict


def test_a_blind_reader_is_not_told_the_right_answer(tmp_path: Path) -> None:
    reply = one(tmp_path / "b.jsonl", {}, **answered(1, "It is tulips.", True))
    told = {rubric: "roses" in text for rubric, text in prompts_of(reply).items()}
    assert told == {name: name != BLIND for name in ASKED}


@pytest.mark.parametrize("category", ["1", "4", "single-session-user"])
@pytest.mark.parametrize("said", ["roses", "lilies"])
def test_each_of_several_right_answers_is_right_by_every_rubric(
    tmp_path: Path, category: str, said: str
) -> None:
    row = answered(1, said, True, category=category) | {"golden_answer": ["roses", "lilies"]}
    del row["llm_judgments"]
    reply = one(tmp_path / "g.jsonl", {}, **row)
    assert dict(reply.by_text()) == {"F1": 1.0, "strict text": 1.0}
    copied = {"span": said, "value": [said] if category == "1" else said}
    assert read(reply, BLIND, json.dumps(copied)) == 1.0
    for rubric, text in prompts_of(reply).items():
        assert ("roses; or: lilies" in text) == (rubric != BLIND)


@pytest.mark.parametrize("gold", [None, "", [], [None], {"odd": 1}], ids=str)
def test_a_reply_without_a_right_answer_has_only_its_stored_verdict(tmp_path: Path, gold: object) -> None:
    reply = one(tmp_path / "g.jsonl", {}, **answered(1, "roses", True) | {"golden_answer": gold})
    assert dict(reply.by_text()) == {"stored": 1.0}
    assert prompts_of(reply) == {}


@pytest.mark.unkept
@pytest.mark.parametrize("worse", [False, True], ids=["good wrong file", "bad wrong file"])
def test_a_file_without_answers_is_named_and_the_others_are_scored(
    command: "Command", files: list[Path], wrong: Path, tmp_path: Path, worse: bool
) -> None:
    bad = placed(tmp_path / "bad.jsonl", [{"question_id": "q1"}])
    given = bad if worse else wrong
    done = command("score", "panel", str(bad), *map(str, files), "--wrong", str(given), "--json")
    assert done.exit_code == 1
    found = json.loads(done.out)
    assert list(found["files"]) == list(map(str, files))
    assert bool(found["wrong"]) == (not worse)
    assert f"{bad}: it has no answer" in done.err


def test_longmemeval_takes_questions_from_the_data(tmp_path: Path) -> None:
    asked = {"q1": {"question": "Which?", "answer": "roses", "question_type": "multi-session"}}
    path = placed(tmp_path / "h.jsonl", [{"question_id": "q1", "hypothesis": "Final answer: roses"}])
    (reply,) = replies_of(path, asked, pytest.fail)
    assert dict(reply.by_text())["strict text"] == 1


def test_every_rubric_has_its_source_and_those_in_a_sentence_a_rule() -> None:
    assert all(each["of"].strip() and each["source"].strip() for each in RUBRICS.values())
    assert all("@" in each["source"] and each["rule"].strip() for each in RUBRICS.values() if "rule" in each)
    assert {name for name in ASKED if "rule" not in RUBRICS[name]} == {BLIND, BY_TYPE}


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
    assert "stored and people: 6 of 12 alike" in text
    assert "Passes wrong answers" in text


@pytest.mark.long
def test_published_files_change_places_under_f1() -> None:
    folder = shared("locomo_answers_verdicts")
    found = seen(sorted(folder.glob("fullcontext*")))
    (turned,) = found.turned
    assert (turned.above, turned.below, turned.shown) == (("stored", "strict text"), ("F1",), True)
