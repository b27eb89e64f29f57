import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.scenarios import About
from ltm_bench.report.page import render_page
from ltm_bench.report.transcript import TranscriptWriter
from ltm_bench.score.results.files import RunFiles
from ltm_bench.score.results.fold import Fold
from ltm_bench.score.results.scoring import results_of, score_run
from tests.finished import copied

if TYPE_CHECKING:
    from tests.made import Page

Read = Callable[[str], "Page"]


def cut(run: Path, to: Path, events: int, torn: bytes = b"") -> Path:
    """Copy a run as it was when its log had this many events."""
    to.mkdir()
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    (to / "events.jsonl").write_bytes(b"".join(lines[:events]) + torn)
    return to


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("torn", [b"", b'{"event":"sent","tu'], ids=["whole", "torn"])
def test_a_run_cut_off_anywhere_has_pages_that_say_incomplete(
    hostile_run: Path, tmp_path: Path, read: Read, share: float, torn: bytes
) -> None:
    total = (hostile_run / "events.jsonl").read_bytes().count(b"\n")
    run = cut(hostile_run, tmp_path / "cut", max(1, int(share * total)), torn)
    manifest = read_manifest(run)
    with TranscriptWriter(run / "transcript.html", manifest) as writer:
        results = score_run(run, manifest, listener=writer)
        writer.finish(results)
    assert not results.complete
    assert results.score is None
    assert results.interval is None
    assert len(results.examples) == sum(entry.examples for entry in manifest.suite.scenarios)
    assert all(example.questions for example in results.examples)
    page = read(render_page(results, manifest))
    assert "incomplete" in page.words
    assert [name for name, times in page.ids.items() if times > 1] == []
    transcript = read((run / "transcript.html").read_text("utf-8"))
    assert transcript.tags["article"] >= results.turns


def test_a_question_the_agent_failed_at_is_not_counted_again_as_unreached(
    hostile_run: Path, tmp_path: Path
) -> None:
    lines = (hostile_run / "events.jsonl").read_bytes().splitlines()
    first = next(number for number, line in enumerate(lines) if b'"kind":"ask"' in line)
    results = score_run(cut(hostile_run, tmp_path / "cut", first + 1))
    assert results.outcomes[Outcome.AGENT_ERROR] == 1
    failed = next(e for e in results.examples if Outcome.AGENT_ERROR in e.outcomes)
    assert failed.outcomes == [Outcome.AGENT_ERROR]
    assert failed.score is None
    assert failed.questions[0].reply is None


def test_results_hold_what_they_are_given_about_scenarios_and_references(hostile_run: Path) -> None:
    with RunFiles(hostile_run) as files:
        about = {"jokes": About("Some jokes.", ("time",))}
        results = results_of(Fold(files), about=about, references={"goldfish": 0.25})
    assert results.complete
    assert results.references == {"goldfish": 0.25}
    told = {each.name: (each.summary, each.skills) for each in results.scenarios}
    assert told["jokes"] == ("Some jokes.", ("time",))
    assert told["colours"] == ("", ())


def test_latency_comes_from_the_timings_and_is_unknown_without_them(
    hostile_run: Path, tmp_path: Path
) -> None:
    run = copied(hostile_run, tmp_path / "run")
    timings = "".join(f'{{"turn":{i},"seconds":{i}.5}}\n' for i in range(20)) + '{"turn":20,"sec'
    (run / "timings.jsonl").write_text(timings, "utf-8")
    latency = score_run(run).latency
    assert latency is not None
    assert (latency.total, latency.median, latency.p95) == (200.0, 10.0, 18.55)
    (run / "timings.jsonl").unlink()
    assert score_run(run).latency is None


def test_replies_that_say_nothing_are_counted_and_named(hostile_run: Path, tmp_path: Path) -> None:
    run = cut(hostile_run, tmp_path / "silent", 10_000)
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    events = [json.loads(line) for line in lines]
    spoken = [
        n for n, event in enumerate(events) if len(event.get("reply", "")) > 20 and "answered" not in event
    ]
    for n, said in zip(
        spoken, ["", "<think>It was red.</think>", "<think>It was red.</think>Red."], strict=False
    ):
        lines[n] = json.dumps(events[n] | {"reply": said, "finish": "stop"}).encode() + b"\n"
    before = called(run, "empty or only thought")
    (run / "events.jsonl").write_bytes(b"".join(lines))
    assert called(run, "empty or only thought") == before + 2


def test_replies_that_were_cut_off_are_counted_and_named(hostile_run: Path, tmp_path: Path) -> None:
    run = cut(hostile_run, tmp_path / "cut", 10_000)
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    events = [json.loads(line) for line in lines]
    spoken = [n for n, each in enumerate(events) if each["event"] == "replied" and "answered" not in each]
    before = called(run, "cut off")
    changed = [n for n in spoken if events[n].get("finish") != "length"][:2]
    for n in changed:
        lines[n] = json.dumps(events[n] | {"finish": "length"}).encode() + b"\n"
    (run / "events.jsonl").write_bytes(b"".join(lines))
    assert called(run, "cut off") == before + 2


def called(run: Path, what: str) -> int:
    """Return how many replies the remarks call so."""
    [found] = [each for each in score_run(run).remarks if what in each] or ["0"]
    return int(found.split()[0])
