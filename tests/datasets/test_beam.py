"""BEAM: its format, its rubric in both modes, the order of events, and judged files."""

import gzip
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.beam.files import ABILITIES, contradicts, histories
from ltm_bench.datasets.beam.scorer import (
    Mode,
    aligned,
    event_order,
    prompt,
    read_score,
    rubric_score,
)
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.public import choose, nth_history, public_set

if TYPE_CHECKING:
    from tests.conftest import Command

SHARED = Path(__file__).parents[3] / "shared" / "data" / "beam"

CHAT = [
    {
        "batch_number": 1,
        "time_anchor": None,
        "turns": [
            [
                {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "My hive has 3 frames. ->-> 1,1"},
                {"role": "assistant", "id": 1, "content": "Good. ->-> stays"},
            ]
        ],
    },
    {"batch_number": 2, "time_anchor": "April-01-2024", "turns": [[{"role": "user", "id": 2, "content": "Hello."}]]},
]  # fmt: skip
ASKED: dict[str, Any] = {
    "abstention": [{"question": "Which bees?", "ideal_response": "Not said.", "rubric": ["It was not said"]}],
    "event_ordering": [
        {
            "question": "In which order?",
            "answer": "hive, bees",
            "rubric": ["hive", "bees"],
            "source_chat_ids": [0],
        }
    ],
    "knowledge_update": [
        {
            "question": "How many frames?",
            "answer": "3",
            "rubric": ["LLM response should state: 3", "and no more"],
            "source_chat_ids": {"old": [0], "new": [2]},
        },
        {"question": "Broken?", "rubric": ["x"]},
    ],
    "temporal_reasoning": [
        {"question": "How long?", "answer": "4 weeks, of 8.", "rubric": ["It should state: 8 weeks"]},
    ],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "chats" / "100K" / "7"
    (folder / "probing_questions").mkdir(parents=True)
    (folder / "chat.json").write_text(json.dumps(CHAT))
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(ASKED))
    (folder.parent / "8").mkdir()
    (folder.parent / "8" / "chat.json").write_text("[]")
    return tmp_path / "chats"


def test_a_conversation_is_read_with_dates_and_questions(data: Path) -> None:
    complaints: list[str] = []
    (history,) = histories(data, complaints.append)
    assert history.id == "100K/7"
    first, second = history.sessions
    assert [str(each.at)[:10] for each in (first, second)] == ["2024-03-15", "2024-04-01"]
    assert [u.text for u in first.utterances] == ["My hive has 3 frames.", "Good. ->-> stays"]
    assert [q.id for q in history.questions] == [
        "100K/7/abstention/0",
        "100K/7/event_ordering/0",
        "100K/7/knowledge_update/0",
        "100K/7/temporal_reasoning/0",
    ]
    assert history.questions[2].evidence == ("0", "2")
    assert [contradicts(q) for q in history.questions] == [False, False, False, True]
    assert "knowledge_update 1: skipped" in complaints[0]
    assert "no probing_questions.json" in complaints[1]


def test_plans_of_the_largest_conversations_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "10M-1-chat.json").write_text(json.dumps([{"plan-1": CHAT}, {"plan-2": CHAT}]))
    with gzip.open(tmp_path / "10M-1-probing_questions.json.gz", "wt") as file:
        json.dump({"abstention": ASKED["abstention"]}, file)
    (history,) = histories(tmp_path, pytest.fail)
    assert (history.id, len(history.sessions)) == ("10M/1", 4)


def conversation(folder: Path, **chats: Any) -> None:
    (folder / "probing_questions").mkdir(parents=True)
    for name, chat in chats.items():
        (folder / f"{name}.json").write_text(json.dumps(chat))
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(ASKED))


def test_a_truncated_chat_takes_the_place_of_the_whole_one_and_every_conversation_is_asked_once(
    tmp_path: Path,
) -> None:
    for number in (10, 11, 12):
        conversation(tmp_path / "100K" / f"{number}", chat=CHAT, chat_trunecated=CHAT[:1])
    conversation(tmp_path / "100K" / "9", chat=CHAT)
    found = list(histories(tmp_path, lambda line: None))
    assert [(each.id, len(each.sessions)) for each in found] == [
        ("100K/9", 2),
        ("100K/10", 1),
        ("100K/11", 1),
        ("100K/12", 1),
    ]
    which = public_set("beam-100k")
    for most in (None, 8):
        chosen = choose(which, tmp_path, most, 0, lambda line: None)
        asked = [
            nth_history("beam-100k", tmp_path, f"{most}", chosen.questions, i).id
            for i in range(chosen.histories)
        ]
        assert asked == ["100K/9", "100K/10", "100K/11", "100K/12"]


def test_the_plans_of_a_conversation_are_not_conversations(tmp_path: Path) -> None:
    home = tmp_path / "10M" / "1"
    plans = [{"plan-1": CHAT}, {"plan-2": CHAT}]
    conversation(home, chat=plans, chat_trunecated=[plans[0], {"plan-2": CHAT[:1]}])
    for number in (0, 1):
        (home / f"plan-{number}").mkdir()
        (home / f"plan-{number}" / "chat.json").write_text(json.dumps(CHAT))
    complaints: list[str] = []
    (history,) = histories(tmp_path, complaints.append)
    assert (history.id, len(history.sessions)) == ("10M/1", 3)
    assert all("knowledge_update 1" in each for each in complaints)


def test_a_path_without_a_conversation_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(ConfigError):
            list(histories(path, pytest.fail))


def test_half_points_count_in_the_paper_but_not_in_the_program() -> None:
    assert rubric_score([1, 0.5, 0.5], "summarization", "official") == pytest.approx(1 / 3)
    assert rubric_score([1, 0.5, 0.5], "summarization", "paper") == pytest.approx(2 / 3)
    assert rubric_score([1, 0.5], "event_ordering", "official") == 0.75


@given(
    events=st.lists(st.sampled_from("abcdefg"), min_size=1, unique=True),
    told=st.lists(st.sampled_from("abcdefgxyz"), min_size=1),
)
def test_the_order_of_events_is_scored_as_scipy_would(events: list[str], told: list[str]) -> None:
    found = event_order(events, told)
    union = list(dict.fromkeys([*events, *told]))

    def ranks(items: list[str]) -> list[int]:
        places = {item: i + 1 for i, item in enumerate(items)}
        return [places.get(item, len(union) + 1) for item in union]

    tau = kendalltau(ranks(events), ranks(told), variant="b").statistic if len(union) > 1 else math.nan
    assert found.tau == pytest.approx(float(events == told) if math.isnan(tau) else (tau + 1) / 2)
    assert all(0 <= score <= 1 for score in found.scores.values())


@pytest.mark.parametrize(
    ("events", "told", "tau", "f1"),
    [
        ("ABCDEFG", "ABCDEFG", 1.0, 1.0),
        ("ABCDEFG", "BACDEFG", 0.9523809523809524, 1.0),
        ("ABCDEFG", "CBA", 0.753546276418555, 0.6),
        ("ABCDEFG", "pqr", 0.16928108611692616, 0.0),
        ("ABCDEFG", "z", 0.25, 0.0),
        ("AB", "BA", 0.0, 1.0),
        ("A", "z", 0.0, 0.0),
        ("ABC", ["A", "", "B", "", "C"], 0.8333333333333335, 0.75),
        ("ABCDE", "CADBE", 0.7, 1.0),
    ],
)
def test_an_order_scores_its_tau_as_published_and_tau_times_f1_beside_it(
    events: str, told: Sequence[str], tau: float, f1: float
) -> None:
    found = event_order(list(events), list(told)).scores
    assert found == pytest.approx({"official": tau, "paper": tau, "tau_f1": tau * f1})


def test_events_told_in_order_score_one_and_each_is_taken_once() -> None:
    events = ["hive", "bees", "honey"]
    asked: list[str] = []
    matching = aligned(events, ["1. a hive", "2. bees", "3. bees again", ""])
    event, line = next(matching)
    told: list[str] = []
    while not told:
        asked.append(event)
        try:
            event, line = matching.send(event in line)
        except StopIteration as done:
            told = done.value
    assert told == ["hive", "bees", "3. bees again", ""]
    assert asked == ["hive", "bees", "honey", "honey"]
    assert event_order(events, events).tau == 1
    assert event_order(events, events[::-1]).tau == 0


def test_the_judge_hears_the_question_only_in_the_paper_s_mode() -> None:
    question = HistoryQuestion("q", "summarization", "QUESTION?", ("GOLD",))
    assert "QUESTION?" in prompt(question, "ITEM", "REPLY", "paper")
    official = prompt(question, "ITEM", "REPLY", "official")
    assert "QUESTION?" not in official
    assert "ITEM" in official
    assert "REPLY" in official


@pytest.mark.parametrize("mode", ["official", "paper"])
def test_the_judge_is_told_the_rules_about_evasion_omission_and_lists(mode: Mode) -> None:
    rules = prompt(HistoryQuestion("q", "summarization", "QUESTION?", ("GOLD",)), "ITEM", "REPLY", mode)
    assert "evades the question, or is about something else, gets 0" in rules
    assert "must stay out: 1 if the reply deals with the question and keeps it out" in rules
    assert "several things: 1 for all of them, 0.5 for some, 0 for none" in rules


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data must not be shipped")
@pytest.mark.parametrize("mode", ["official", "paper"])
def test_no_sentence_of_the_published_prompts_is_copied(mode: Mode) -> None:
    def runs(text: str) -> set[str]:
        said = re.findall(r"\w+", text.casefold())
        return {" ".join(said[i : i + 7]) for i in range(len(said) - 6)}

    published = runs((SHARED / "official/prompt_unified_llm_judge_base_prompt.txt").read_text("utf-8"))
    ours = prompt(HistoryQuestion("q", "summarization", "QUESTION?", ("GOLD",)), "ITEM", "REPLY", mode)
    assert len(published) > 300
    assert not published & runs(ours)


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ('{"score": 0.5, "reason": "partly"}', 0.5),
        ('Sure:\n```json\n{"score": 1}\n```', 1.0),
        ('{"score": "1.0", oops', 1.0),
        ('First I would say {"score": 1}, but no: {"score": 0}', 0.0),
        ('{"score": 3}', None),
        ("no idea", None),
        ("[" * 100_000, None),
    ],
)
def test_a_judge_s_score_is_read(said: str, score: float | None) -> None:
    assert read_score(said) == score


JUDGED: dict[str, Any] = {
    "knowledge_update": [
        {"question": "How many frames?", "llm_response": "3", "llm_judge_responses": [{"score": 1}, {"score": "0.5"}]}
    ],
    "event_ordering": [
        {
            "question": "In which order?",
            "llm_response": "hive",
            "llm_judge_responses": [{"score": 1.0}, {"score": 0}],
            "f1": 0.5,
            "tau_norm": 0.5,
        }
    ],
    "temporal_reasoning": [{"question": "How long?", "llm_judge_responses": [{"score": 0}]}],
    "abstention": [{"question": "Which bees?", "llm_response": "not judged"}],
}  # fmt: skip


def test_a_judged_file_is_scored_in_both_modes(tmp_path: Path, data: Path, command: "Command") -> None:
    path = tmp_path / "evaluation-mine.json"
    path.write_text(json.dumps(JUDGED))
    done = command("score", "beam", "--json", "--data", str(data), str(path))
    (file,) = json.loads(done.out)["files"]
    lines = {line["name"]: line["figures"] for line in file["lines"]}
    assert [lines["knowledge_update"][mode]["mean"] for mode in ("official", "paper")] == [0.5, 0.75]
    order = {column: each["mean"] for column, each in lines["event_ordering"].items()}
    assert order == {"official": 0.5, "paper": 0.5, "tau_f1": 0.25}
    assert "tau_f1" not in lines["knowledge_update"]
    assert file["wrong_keys"] == 1
    assert "abstention/0: skipped: no judge's scores" in done.err


@pytest.mark.parametrize("odd", ["", "{oops", "[]", None])
def test_a_file_that_cannot_be_scored_withholds_no_other(
    tmp_path: Path, data: Path, command: "Command", odd: str | None
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(JUDGED))
    if odd is not None:
        bad.write_text(odd, "utf-8")
    for files in ((good, bad), (bad, good)):
        done = command("score", "beam", "--json", "--data", str(data), *map(str, files))
        assert (done.exit_code, str(bad) in done.err) == (1, True)
        assert len(json.loads(done.out)["files"]) == 1


def test_an_unjudged_file_is_refused(tmp_path: Path, command: "Command") -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"abstention": JUDGED["abstention"]}))
    refused = command("score", "beam", str(path))
    assert refused.exit_code == 1
    assert "no judge's scores" in refused.err


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data must not be shipped")
def test_the_published_conversations_have_twenty_questions_and_a_broken_key_each() -> None:
    files = [SHARED / f"100K-{number}-chat.json.gz" for number in (1, 14)]
    found = [history for file in files for history in histories(file, pytest.fail)]
    assert [history.id for history in found] == ["100K/1", "100K/14"]
    for history in found:
        assert sorted(q.type for q in history.questions) == sorted(2 * ABILITIES)
        assert [q.id for q in history.questions if contradicts(q)] == [f"{history.id}/temporal_reasoning/0"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data must not be shipped")
def test_published_folders_with_both_chats_are_told_truncated_and_asked_once() -> None:
    found = list(histories(SHARED / "100K", pytest.fail))
    assert [history.id for history in found] == ["100K/5", "100K/10"]
    size = [(len(h.sessions), sum(len(s.utterances) for s in h.sessions)) for h in found]
    assert size == [(3, 232), (4, 286)]
    assert [len(history.questions) for history in found] == [20, 20]
    chosen = choose(public_set("beam-100k"), SHARED / "100K", None, 0, pytest.fail)
    told = [nth_history("beam-100k", SHARED / "100K", "x", (), i).id for i in range(chosen.histories)]
    assert told == ["100K/5", "100K/10"]


@pytest.mark.parametrize(
    ("events", "told", "ordered"),
    [("A", "A", False), ("A", "AA", False), ("A", "z", True), ("AB", "AB", True), ("AB", "z", True)],
)
def test_the_official_column_is_empty_where_the_published_tau_is_not_a_number(
    events: str, told: str, ordered: bool
) -> None:
    found = event_order(list(events), list(told))
    assert found.ordered is ordered
    assert ("official" in found.scores) is ordered
    assert {"paper", "tau_f1"} <= set(found.scores)


@pytest.mark.parametrize("mode", ["official", "paper"])
def test_a_run_says_that_a_single_event_has_no_official_tau(mode: str) -> None:
    from ltm_bench.datasets.beam.matcher import meets
    from ltm_bench.datasets.matching import Judged

    inquiry = meets("hive", ["hive"], "event_ordering", mode=mode).inquiry("In which order?", "hive")
    assert inquiry is not None
    answers, found = ('{"score": 1}', '{"score": 1}', "YES"), None
    next(inquiry)
    for answer in answers:
        try:
            inquiry.send(answer)
        except StopIteration as done:
            found = done.value
    assert isinstance(found, Judged)
    assert "the official τ of a single event is not a number" in found.reason
    assert found.score == 1.0
    assert set(found.scores) == {"paper", "tau_f1"}


def test_a_stored_order_without_a_tau_is_named_and_not_scored_by_its_rubric(
    tmp_path: Path, data: Path, command: "Command"
) -> None:
    path = tmp_path / "evaluation-mine.json"
    (order,) = JUDGED["event_ordering"]
    for tau in (None, float("nan"), "x", 2):
        path.write_text(json.dumps({**JUDGED, "event_ordering": [order | {"tau_norm": tau}]}))
        done = command("score", "beam", "--json", "--data", str(data), str(path))
        assert "event_ordering/0: skipped: its τ is not a number" in done.err
        (file,) = json.loads(done.out)["files"]
        assert "event_ordering" not in {line["name"] for line in file["lines"]}


def test_an_answer_that_stands_twice_is_named_and_the_first_counts(
    tmp_path: Path, data: Path, command: "Command"
) -> None:
    path = tmp_path / "evaluation-mine.json"
    (row,) = JUDGED["knowledge_update"]
    worse = row | {"llm_judge_responses": [{"score": 0}, {"score": 0}]}
    path.write_text(json.dumps({"knowledge_update": [row, worse]}))
    done = command("score", "beam", "--json", "--data", str(data), str(path))
    (file,) = json.loads(done.out)["files"]
    assert file["lines"][0]["figures"]["paper"]["mean"] == 0.75
    assert "knowledge_update/0: answered twice; the first answer counts" in done.err


@pytest.mark.parametrize("grade", [2, 5, "3", 1.5])
def test_grades_are_no_scores_of_items_not_even_the_lowest(
    tmp_path: Path, data: Path, command: "Command", grade: float | str
) -> None:
    path = tmp_path / "evaluation-mine.json"
    (row,) = JUDGED["temporal_reasoning"]
    graded = {
        "knowledge_update": JUDGED["knowledge_update"],
        "temporal_reasoning": [row | {"llm_judge_responses": [{"score": grade}]}],
    }
    path.write_text(json.dumps(graded))
    refused = command("score", "beam", str(path), "--data", str(data))
    assert refused.exit_code == 1
    assert "it holds grades, such as" in refused.err
