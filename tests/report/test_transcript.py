import json
import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.log.events import Sent
from ltm_bench.log.lines import to_line
from ltm_bench.log.reader import read_events, read_manifest
from ltm_bench.report.text import visible
from ltm_bench.report.transcript import LONGEST_TURN, TranscriptWriter
from ltm_bench.score.results.scoring import score_run

if TYPE_CHECKING:
    from tests.made import Made, Page

Read = Callable[[str], "Page"]


def transcript_of(made: "Made", tmp_path: Path, replies: list[str | None]) -> str:
    """Return the transcript of a conversation about a colour; None is a message without a reply."""
    results = made.results([made.example("colours/0", Outcome.CORRECT, 0, 2000)])
    events: list[dict[str, Any]] = []
    for turn, reply in enumerate(replies):
        sent = {"event": "sent", "turn": turn, "kind": "tell", "example": "colours/0", "position": 10 * turn}
        at = made.at(10 * turn).isoformat()
        events.append(sent | {"at": at, "message": f"message {turn}", "tokens": 2})
        if reply is not None:
            events.append({"event": "replied", "turn": turn, "reply": reply, "finish": "stop", "tokens": 8})
    jump = made.at(0) + timedelta(days=2)
    events.insert(0, {"event": "jumped", "to": jump.isoformat(), "position": 0})
    (tmp_path / "events.jsonl").write_bytes(made.manifest(results).line() + b"".join(map(to_line, events)))
    with TranscriptWriter(tmp_path / "transcript.html", made.manifest(results)) as writer:
        score_run(tmp_path, made.manifest(results), listener=writer)
        writer.finish(results)
    return (tmp_path / "transcript.html").read_text("utf-8")


def test_every_turn_of_a_real_run_is_in_the_transcript_once(hostile_run: Path, read: Read) -> None:
    html = (hostile_run / "transcript.html").read_text("utf-8")
    page = read(html)
    sent = [event for event in read_events(hostile_run / "events.jsonl") if isinstance(event, Sent)]
    assert [page.ids[f"turn-{event.turn}"] for event in sent] == [1] * len(sent)
    assert page.tags["article"] == len(sent)
    assert page.tags["h1"] == page.tags["main"] == 1
    assert page.tags["script"] == page.tags["img"] == 0
    assert page.tags["style"] == 1
    assert not [name for name in page.attributes if name.startswith("on")]
    for event in sent:
        assert " ".join(visible(event.message).split()) in page.words


def test_links_between_the_pages_lead_somewhere(hostile_run: Path, read: Read) -> None:
    pages = {
        name: read((hostile_run / name).read_text("utf-8")) for name in ("report.html", "transcript.html")
    }
    for here, page in pages.items():
        assert [name for name, times in page.ids.items() if times > 1] == []
        for link in page.links:
            file, _, fragment = link.partition("#")
            if not link.startswith("data:"):
                assert not fragment or fragment in pages[file or here].ids, link


def test_the_page_says_where_and_with_which_seed_it_was_run(hostile_run: Path, read: Read) -> None:
    manifest = read_manifest(hostile_run)
    words = read((hostile_run / "report.html").read_text("utf-8")).words
    assert f"seed {manifest.seed}" in words
    recorded = json.loads((hostile_run / "environment.json").read_text("utf-8"))
    assert all(value in words for value in recorded.values() if isinstance(value, str))


def test_a_reply_of_ten_megabytes_is_cut_in_the_transcript_too(
    made: "Made", tmp_path: Path, read: Read
) -> None:
    html = transcript_of(made, tmp_path, ["fine", "long " * 2_000_000])
    assert len(html) < 3 * LONGEST_TURN
    assert f"({10_000_000 - LONGEST_TURN:,} characters more, see events.jsonl)" in read(html).words


def test_missing_replies_empty_replies_and_jumps_are_told_apart(
    made: "Made", tmp_path: Path, read: Read
) -> None:
    words = read(transcript_of(made, tmp_path, ["", " \n ", None])).words
    assert words.count("(empty)") == words.count("(white space only)") == 1
    assert words.count("(no reply)") == 1
    assert words.count("The clock jumps to Wednesday, 7 January 2026") == 1


def test_the_same_log_gives_the_same_transcript(made: "Made", tmp_path: Path) -> None:
    replies = ["<b>\x00", "\ud800", "\u202e", None]
    assert transcript_of(made, tmp_path, replies) == transcript_of(made, tmp_path, replies)


def test_a_transcript_written_during_scoring_is_the_same(hostile_run: Path, tmp_path: Path) -> None:
    manifest = read_manifest(hostile_run)
    with TranscriptWriter(tmp_path / "transcript.html", manifest) as writer:
        writer.finish(score_run(hostile_run, manifest, listener=writer))
    assert (tmp_path / "transcript.html").read_bytes() == (hostile_run / "transcript.html").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["transcript.html"]


@pytest.mark.parametrize("begun", [False, True])
def test_an_unfinished_transcript_leaves_the_older_one_in_place(
    hostile_run: Path, tmp_path: Path, begun: bool
) -> None:
    (tmp_path / "transcript.html").write_text("older")
    manifest = read_manifest(hostile_run)
    with TranscriptWriter(tmp_path / "transcript.html", manifest) as writer:
        if begun:
            score_run(hostile_run, manifest, listener=writer)
    assert (tmp_path / "transcript.html").read_text() == "older"
    assert [path.name for path in tmp_path.iterdir()] == ["transcript.html"]


def test_a_transcript_takes_constant_memory_however_long_the_conversation(
    made: "Made", tmp_path: Path
) -> None:
    results = made.results([made.example("colours/0", Outcome.CORRECT, 0, 2000)])
    message = "word " * 10_000

    def peak(turns: int) -> int:
        with TranscriptWriter(tmp_path / "transcript.html", made.manifest(results)) as writer:
            tracemalloc.start()
            writer.conversation(None)
            for turn in range(turns):
                sent = Sent(
                    turn=turn, kind="fill", message=message, tokens=1, position=turn, at=made.at(turn)
                )
                writer.turn(sent, None, None)
            writer.finish(results)
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return most

    peak(10)  # templates are compiled
    few, many = peak(10), peak(200)
    assert (tmp_path / "transcript.html").stat().st_size > 200 * len(message)
    assert many < few + 10 * len(message)
