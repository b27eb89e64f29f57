"""A run is consistent, or `verify` says where it is not."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.errors import NotVerified
from ltm_bench.core.messages import Outcome
from ltm_bench.export import side_files
from ltm_bench.export.scrub import REMOVED
from ltm_bench.export.verify import verify
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.score.audits.judgements import Judgement, Opinion, append
from ltm_bench.score.results.run import SCHEMA
from ltm_bench.score.results.scoring import score_run
from tests.finished import copied

if TYPE_CHECKING:
    from tests.made import Made

pytestmark = pytest.mark.proof(files=("tests/golden/**/*.*", "agents/*.*", "configs/*.*"))


GOLDEN = [
    path.parent
    for path in sorted((Path(__file__).parents[1] / "golden").glob("*/*/results.json"))
    if json.loads(path.read_bytes()).get("schema_version") == SCHEMA
    and path.with_name("events.jsonl").exists()
]


@pytest.fixture
def run(hostile_run: Path, tmp_path: Path) -> Path:
    return copied(hostile_run, tmp_path / "hostile")


def results_of(run: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((run / "results.json").read_bytes())
    return content


def edit_results(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    results = results_of(run)
    change(results)
    (run / "results.json").write_text(json.dumps(results))


def edit_verdicts(run: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    verdicts = [json.loads(line) for line in (run / "verdicts.jsonl").read_bytes().splitlines()]
    change(verdicts)
    (run / "verdicts.jsonl").write_text("".join(json.dumps(each) + "\n" for each in verdicts))


def edit_log(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change events, with an honest hash."""
    log = run / "events.jsonl"
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    for event in events:
        change(event)
    log.write_text("".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events))
    digest = hashlib.sha256(log.read_bytes()).hexdigest()
    edit_results(run, lambda results: results.update(log=digest))


def edit_replies(run: Path, change: Callable[[dict[str, Any]], object], *, honest_hash: bool) -> None:
    """Change the replies of the log; with `honest_hash`, results.json has the new log's hash."""
    digest = results_of(run)["log"]
    edit_log(run, lambda event: event["event"] == "replied" and change(event))
    if not honest_hash:
        edit_results(run, lambda results: results.update(log=digest))


def refusal(run: Path) -> str:
    with pytest.raises(NotVerified) as refused:
        verify(run)
    return str(refused.value)


def first(results: dict[str, Any]) -> dict[str, Any]:
    question: dict[str, Any] = results["examples"][0]["questions"][0]
    return question


def test_an_untouched_run_agrees_with_itself(run: Path) -> None:
    found = verify(run)
    results = results_of(run)
    assert found.verdicts == sum(len(example["questions"]) for example in results["examples"])
    assert found.texts == 2 * results["turns"]
    assert found.results.score == results["score"]
    assert found.changed_scorers == {}


def test_a_reply_that_utf_8_cannot_encode_is_verified_too(run: Path) -> None:
    assert '"\\ud800"' in (run / "results.json").read_text("utf-8")
    verify(run)


def test_a_changed_hash_is_refused(run: Path) -> None:
    edit_results(run, lambda results: results.update(log="0" * 64))
    assert "the event log is not the one that was scored" in refusal(run)


def test_a_changed_reply_is_refused(run: Path) -> None:
    edit_replies(run, lambda event: event.update(reply="It is blue, I think."), honest_hash=False)
    assert "the event log is not the one that was scored" in refusal(run)


def test_a_changed_reply_with_an_honest_hash_has_other_tokens(run: Path) -> None:
    edit_replies(run, lambda event: event.update(reply="It is blue, I think."), honest_hash=True)
    assert "tokens, the log says" in refusal(run)


def test_a_changed_reply_with_an_honest_hash_and_honest_tokens_is_not_the_reply_that_was_scored(
    run: Path,
) -> None:
    edit_replies(run, lambda event: event.update(reply=event["reply"] and REMOVED), honest_hash=True)
    assert "the reply in results.json is not that of the log" in refusal(run)


def test_a_changed_question_is_refused(run: Path) -> None:
    edit_results(run, lambda results: first(results).update(text="What is 1 + 1?"))
    assert "the question in results.json is not that of the log" in refusal(run)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("outcome", "correct"),
        ("score", 0.875),
        ("scorer", "Kind@1"),
        ("reason", "it is right"),
        ("parts", [1.0]),
    ],
)
def test_a_changed_verdict_is_refused_whichever_file_it_is_in(run: Path, name: str, value: object) -> None:
    before = (run / "verdicts.jsonl").read_bytes()
    edit_verdicts(run, lambda verdicts: verdicts[0].update({name: value}))
    assert f"{name}: " in refusal(run)
    assert " in verdicts.jsonl" in refusal(run)
    (run / "verdicts.jsonl").write_bytes(before)
    edit_results(run, lambda results: first(results).update({name: value}))
    assert f"{name}: " in refusal(run)
    assert " in verdicts.jsonl" in refusal(run)


def test_a_missing_or_repeated_verdict_is_refused(run: Path) -> None:
    before = (run / "verdicts.jsonl").read_bytes()
    edit_verdicts(run, lambda verdicts: verdicts.pop())
    assert "not in verdicts.jsonl" in refusal(run)
    (run / "verdicts.jsonl").write_bytes(before + before)
    assert "a second verdict on" in refusal(run)


def test_a_question_that_was_left_out_of_both_files_is_refused(run: Path) -> None:
    edit_verdicts(run, lambda verdicts: verdicts.__delitem__(0))
    edit_results(run, lambda results: results["examples"][0]["questions"].__delitem__(0))
    assert ": not in results.json" in refusal(run)


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda r: r["examples"][0].update(score=0.875), "score: 0.875 in results.json, 0.0 by its questions"),
    (lambda r: r["scenarios"][0].update(score=0.875), "score: 0.875 in results.json, 0.0 by its examples"),
    (lambda r: r["scenarios"][0].update(n=9), "n: 9 in results.json"),
    (lambda r: r.update(score=9.5), "score: 9.5 in results.json"),
    (lambda r: r.update(out_of=1), "out_of: 1 in results.json"),
    (lambda r: r.update(outcomes={"correct": 99}), "outcomes: 99 correct in results.json"),
    (lambda r: r.update(complete=False), "complete: False in results.json"),
    (lambda r: r.update(turns=1), "turns: 1 in results.json"),
    (lambda r: r.update(tokens=1), "tokens: 1 in results.json"),
    (lambda r: r["examples"].reverse(), "the examples of results.json are not those of the manifest"),
    (
        lambda r: r["scenarios"].append(r["scenarios"][0]),
        "the scenarios of results.json are not those of the manifest: their order",
    ),
    (lambda r: r["examples"][0].update(span=9), "colours/0: span: 9 in results.json, "),
    (
        lambda r: r["examples"][0].update(overrun=9),
        "colours/0: overrun: 9 in results.json, ",
    ),
    (lambda r: r["examples"][0]["needles"].pop(), "the needles in results.json are not those of the log"),
    (lambda r: first(r).update(position=5), "position: 5 in results.json, "),
    (lambda r: first(r).update(at="2020-01-01T00:00:00Z"), "at: 2020-01-01 00:00:00+00:00 in results.json, "),
    (lambda r: first(r).update(shows="it"), "shows: 'it' in results.json, None by the log"),
    (lambda r: first(r).update(needs="it"), "needs: 'it' in results.json, None by the log"),
    (lambda r: first(r).update(counts=0.5), "counts: 0.5 in results.json, 1.0 by the log"),
    (lambda r: r["examples"][0]["questions"].append(first(r)), "not in the log, or not so often"),
    (lambda r: r["scenarios"][0].update(chance=-1.0), "chance: -1.0 in results.json, "),
    (lambda r: r.update(chance=-1.0), "chance: -1.0 in results.json, "),
    (lambda r: r.update(interval=None if r["interval"] else {"low": 0, "high": 1}), "interval: "),
    (lambda r: r.update(undecided_worth=3.5), "undecided_worth: 3.5 in results.json, "),
    (lambda r: r.update(overridden=3), "overridden: 3 in results.json, 0 by its examples"),
    (lambda r: r.update(by_judge={"fair": 2}), "by_judge: 2.0 fair in results.json, none by its examples"),
    (lambda r: r.update(forks=7), "forks: 7 in results.json, 0 in the log"),
    (lambda r: r.update(seconds=1.5), "seconds: 1.5 in results.json, "),
    (lambda r: r.update(agent="gpt-9"), "agent: 'gpt-9' in results.json, "),
    (lambda r: r.update(span=10_000_000), "span: 10000000 in results.json, 2000 in the log"),
    (lambda r: r.update(seed="train:1"), "seed: 'train:1' in results.json, 0 in the log"),
    (lambda r: r.update(bench_version=99), "bench_version: 99 in results.json, "),
    (lambda r: r.update(mode="forked"), "mode: 'forked' in results.json, 'in-line' in the log"),
    (lambda r: r.update(schema_version=99), "results.json has schema version 99, this version reads"),
    (lambda r: r.pop("examples"), "results.json: examples: Field required"),
]


@pytest.mark.parametrize(("change", "complaint"), CHANGES, ids=range(len(CHANGES)))
def test_what_does_not_follow_from_the_log_is_refused(
    run: Path, change: Callable[[dict[str, Any]], Any], complaint: str
) -> None:
    edit_results(run, change)
    assert complaint in refusal(run)


@pytest.mark.parametrize("file", ["results.json", "verdicts.jsonl"])
@pytest.mark.parametrize("content", [b"", b"[]\n", b"\xff\n", b"[" * 100_000, None])
def test_a_file_that_cannot_be_read_is_refused(run: Path, file: str, content: bytes | None) -> None:
    (run / file).unlink()
    if content is not None:
        (run / file).write_bytes(content)
    assert file in refusal(run)


def test_a_manual_verdict_newer_than_the_results_disagrees_with_them(run: Path, made: "Made") -> None:
    example = results_of(run)["examples"][0]
    append(run, [made.by_hand(example["id"], example["questions"][0])])
    assert "the verdict by hand in overrides.jsonl is not that of results.json" in refusal(run)


def test_a_manual_verdict_on_another_reply_changes_nothing(run: Path, made: "Made") -> None:
    example = results_of(run)["examples"][0]
    override = made.by_hand(example["id"], example["questions"][0]).model_copy(update={"reply": "0" * 16})
    append(run, [override])
    verify(run)


def test_an_opinion_of_a_judge_that_nobody_recorded_is_refused(run: Path) -> None:
    opinion = Opinion(
        judge="j", key="k", rubric="r", prompt="p", answer="a", outcome=Outcome.CORRECT, reason="right"
    )
    judgement = Judgement(example="colours/0", turn=0, reply="", opinions=(opinion,))
    said = judgement.model_dump(mode="json")["opinions"]
    edit_results(run, lambda results: first(results).update(opinions=said, matched="undecided"))
    assert "the opinions in judgements.jsonl are not those of results.json" in refusal(run)


SIDE = [
    ("timings.jsonl", b'{"turn":0,"dollars":-5}\n', "timings.jsonl:1: dollars is -5, which is impossible"),
    ("timings.jsonl", b'{"turn":0}\n{"turn":1,"seconds":1e999}\n', "timings.jsonl:2: seconds is inf, which"),
    ("timings.jsonl", b'{"turn":0,"reserved":NaN}\n', "timings.jsonl:1: reserved is nan, which"),
    (
        "timings.jsonl",
        b'{"turn":0,"attempts":[{"seconds":-0.1}]}\n',
        "timings.jsonl:1: seconds is -0.1, which",
    ),
    ("timings.jsonl", b'{"turn":0,"operations":[["write",1,[{"output":-1}]]]}\n', "output is -1, which"),
    ("timings.jsonl", b'{"turn":0,"seconds":"fast"}\n', "timings.jsonl:1: seconds: Input should be a valid"),
    ("timings.jsonl", b"[1]\n", "timings.jsonl:1: : Input should be"),
    ("timings.jsonl", b"\xff\n", "timings.jsonl:1: "),
    ("calls.jsonl", b'{"turn":0,"ending":[]}\n', "calls.jsonl:1: ending: Input should be a valid string"),
    ("calls.jsonl", b'{"turn":0,"usage":5}\n', "calls.jsonl:1: usage: Input should be a valid dict"),
    (
        "calls.jsonl",
        b'{"turn":0,"usage":{"output":1.5}}\n',
        "calls.jsonl:1: usage: no usage: {'output': 1.5}; its",
    ),
    (
        "calls.jsonl",
        b'{"turn":0,"usage":{"output":true}}\n',
        "calls.jsonl:1: usage: no usage: {'output': True}",
    ),
    ("calls.jsonl", b'{"turn":0,"usage":{"tokens":1}}\n', "calls.jsonl:1: usage: no usage: {'tokens': 1}"),
    ("calls.jsonl", b'{"usage":{"output":1,"besides":[{"output":"1"}]}}\n', "calls.jsonl:1: usage: no usage"),
    ("calls.jsonl", b'{"at":"2026-01-01T00:00:00"}\n', "calls.jsonl:1: at: Input should have timezone"),
    (
        "environment.json",
        b'{"started":["yesterday"]}',
        "environment.json: started.0: Input should be a valid",
    ),
    (
        "environment.json",
        b'{"packages":{"openai":3}}',
        "environment.json: packages.openai: Input should be a",
    ),
    ("environment.json", b'{"python":1e999}', "environment.json: python is inf, which is impossible"),
    ("environment.json", b"{", "environment.json: "),
    ("asked.json", b'{"format":2}', "asked.json: format: Input should be 1"),
    ("asked.json", b'{"format":1,"max_cost":-1}', "asked.json: max_cost: Input should be greater"),
    ("asked.json", b'{"format":1,"gateways":true}', "asked.json: gateways: Extra inputs are not permitted"),
    ("asked.json", b"[]", "asked.json: : Input should be"),
    ("judgements.jsonl", b'{"dollars":-1}\n', "judgements.jsonl:1: dollars is -1, which is impossible"),
    ("manifest.json", b"{}", "manifest.json cannot be read: "),
]


@pytest.mark.parametrize(("name", "content", "complaint"), SIDE, ids=range(len(SIDE)))
def test_a_side_file_that_says_what_no_run_writes_is_refused(
    run: Path, name: str, content: bytes, complaint: str
) -> None:
    (run / name).write_bytes(content)
    assert complaint in refusal(run)


@pytest.mark.parametrize(
    "name",
    [*side_files._FORMS, "manifest.json", "verdicts.jsonl"],  # every file that verify checks
)
@pytest.mark.parametrize("content", [b"5\n", b"[]\n", b'"a"\n', b"null\n"])
def test_no_refusal_names_a_class_of_ours(run: Path, name: str, content: bytes) -> None:
    (run / name).write_bytes(content)
    said = refusal(run)
    assert name in said
    assert not re.search(r"instance of|pydantic|\b_?[A-Z][a-z]+[A-Z]", said.partition(": ")[2]), said


@pytest.mark.parametrize(("part", "name"), [("costs", "dollars"), ("latency", "median")])
def test_an_impossible_cost_or_time_in_the_results_is_refused(run: Path, part: str, name: str) -> None:
    edit_results(run, lambda results: results[part].update({name: -1}))
    assert f"results.json: {name} is -1, which is impossible" in refusal(run)


def test_a_line_of_a_side_file_torn_by_a_crash_is_no_forgery(run: Path) -> None:
    with (run / "timings.jsonl").open("ab") as file:
        file.write(b'{"turn":1,"dol')
    verify(run)


def test_the_manifest_of_a_bundle_is_that_of_its_log(run: Path) -> None:
    manifest = json.loads((run / "events.jsonl").read_bytes().splitlines()[0])
    del manifest["event"]
    (run / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    verify(run)
    manifest["agent"]["name"] = "a better one"
    (run / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert "manifest.json is not the manifest of the log" in refusal(run)


def test_a_scorer_that_has_since_changed_is_named_without_a_refusal(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = f"NamesOnly@{NamesOnly.version}"
    assert scorer in (run / "results.json").read_text("utf-8")
    newer = NamesOnly.version + 1
    monkeypatch.setattr("ltm_bench.export.verify.versions", lambda: {"NamesOnly": newer})
    monkeypatch.setattr(NamesOnly, "verdict", lambda *_: pytest.fail("nothing is scored again"))
    assert verify(run).changed_scorers == {scorer: f"NamesOnly@{newer}"}


def test_a_changed_reply_to_a_fork_has_other_tokens(tmp_path: Path) -> None:
    run = copied(next(each for each in GOLDEN if each.name == "forked"), tmp_path / "forked")
    verify(run)
    edit_log(run, lambda event: event["event"] == "answered" and event.update(reply="Blue, and no other."))
    assert "(replied) has 6 tokens, the log says" in refusal(run)


def test_a_question_that_was_not_reached_cannot_be_left_out(run: Path) -> None:
    log = run / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: len(lines) // 2]))
    results = json.loads(json.dumps(score_run(run).model_dump(mode="python"), default=str))
    for example in results["examples"]:
        example["questions"] = [each for each in example["questions"] if each["turn"] is not None]
    (run / "results.json").write_text(json.dumps(results))
    reached = {question["turn"] for example in results["examples"] for question in example["questions"]}
    edit_verdicts(
        run, lambda lines: lines.__setitem__(slice(None), [v for v in lines if v["turn"] in reached])
    )
    assert reached
    assert ": not in results.json" in refusal(run)


@pytest.mark.parametrize("released", GOLDEN, ids=[f"{each.parent.name}/{each.name}" for each in GOLDEN])
def test_runs_of_all_releases_whose_results_are_read_agree(released: Path, tmp_path: Path) -> None:
    verify(copied(released, tmp_path / released.name))


def test_a_matcher_that_is_not_defined_here_prevents_nothing(tmp_path: Path) -> None:
    released = next(each for each in GOLDEN if each.parts[-2:] == ("0.2.0", "conversation"))
    run = copied(released, tmp_path / "mine")  # of scenarios that have changed, or they would tell

    def rename(event: dict[str, Any]) -> None:
        if event.get("expect"):
            event["expect"]["matcher"] = "OfMyOwn"

    def scored(questions: list[dict[str, Any]]) -> None:
        for question in questions:
            question["scorer"] = "OfMyOwn@1"

    edit_log(run, rename)
    edit_results(run, lambda results: scored([q for e in results["examples"] for q in e["questions"]]))
    edit_verdicts(run, scored)
    assert verify(run).verdicts == 17
    edit_results(run, lambda results: results["examples"][0].update(span=9))
    assert "span: 9 in results.json" in refusal(run)


def test_what_another_machine_rounds_otherwise_is_no_forgery(run: Path) -> None:
    def round_otherwise(results: dict[str, Any]) -> None:
        results["chance"] += 1e-13
        results["interval"]["low"] -= 1e-13

    edit_results(run, lambda results: results.update(interval={"low": 0.0, "high": 1.0}))
    assert "interval: " in refusal(run)
    released = next(each for each in GOLDEN if json.loads((each / "results.json").read_bytes())["interval"])
    other = copied(released, run.with_name("other"))
    edit_results(other, round_otherwise)
    verify(other)
