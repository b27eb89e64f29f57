import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.errors import LogError, ManifestDiffers, ReplayDiverged, RunLocked
from ltm_bench.core.messages import Finish, Usage
from ltm_bench.log import recorder
from ltm_bench.log.differences import differences
from ltm_bench.log.events import (
    Event,
    Finished,
    NotAnEvent,
    Replied,
    Sent,
    decode,
    encode,
    usage_data,
    usage_of,
)
from ltm_bench.log.journal import Journal
from ltm_bench.log.lines import mend, to_line, write_whole
from ltm_bench.log.manifest import (
    FORMAT,
    AgentEntry,
    FillerEntry,
    Manifest,
    ScenarioEntry,
    SuiteEntry,
)
from ltm_bench.log.reader import is_finished, read_events, read_manifest
from ltm_bench.log.recorder import Recorder, locked, start_run
from tests.pace import cpu, in_proportion

ENTRY = ScenarioEntry(name="colours", version=1, hash="ab", examples=2, parameters={"changes": 3})


def manifest(**changes: Any) -> Manifest:
    suite = SuiteEntry.model_validate(
        {
            "name": "s",
            "start": "2026-01-05T09:00:00Z",
            "stagger": 0.01,
            "isolated": False,
            "scenarios": [ENTRY],
        }
    )
    agent = AgentEntry(name="perfect", adapter="perfect", hash="cd", settings={}, free=True)
    filler = FillerEntry(source="shipped", digest="ef", mode="scripted", max_tokens=1000)
    fields: dict[str, Any] = {
        "format": FORMAT, "version": "0", "seed": 0, "span": 2000, "tokenizer": "cl100k_base", "suite": suite,
        "agent": agent, "filler": filler, "scorers": {},
    }  # fmt: skip
    return Manifest(**(fields | changes))


AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


def sent(turn: int, message: str) -> Sent:
    return Sent(turn=turn, kind="fill", message=message, tokens=3, position=0, at=AT)


EVENTS: list[Event] = [
    sent(0, "é 🦔 \ud800"),
    Replied(turn=0, reply='line\nbreak "quoted"', tokens=2, finish=Finish.STOP),
    Finished(turns=1, tokens=5, at=AT),
]


def test_a_log_cut_at_any_byte_continues_from_its_last_whole_line(tmp_path: Path) -> None:
    content = manifest().line() + b"".join(map(encode, EVENTS))
    first = len(manifest().line())
    ends = [first + sum(len(encode(e)) for e in EVENTS[:k]) for k in range(len(EVENTS) + 1)]
    path = tmp_path / "events.jsonl"
    for size in range(first, len(content) + 1):
        path.write_bytes(content[:size])
        whole = sum(size >= end - 1 for end in ends[1:])  # a line that lacks only its newline is whole
        with Recorder(path) as writer:
            assert writer.cut == (
                0 if size >= ends[whole] - 1 and size <= ends[whole] else size - ends[whole]
            )
            for event in EVENTS:
                writer.put(event)
            assert writer.logged is None
        assert path.read_bytes() == content


def test_damage_in_the_middle_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(manifest().line() + b'{"event": "sent", \n' + encode(EVENTS[1]))
    with pytest.raises(LogError, match=r"events\.jsonl:2: damaged line .*restore the file from a copy"):
        list(read_events(path))
    path.write_bytes(manifest().line() + b"[1]\n")
    with pytest.raises(LogError, match=r"events\.jsonl:2: not an event: \[1\]"):
        list(read_events(path))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "the first line is not a manifest"),
        (encode(EVENTS[0]), "the first line is not a manifest"),
        (to_line({"event": "manifest", "format": 99}), "log format 99; this version reads format 1"),
        (to_line({"event": "manifest", "format": 1, "seed": "x"}), "the manifest's version"),
    ],
)
def test_a_folder_that_is_not_a_run_is_named(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "events.jsonl").write_bytes(content)
    with pytest.raises(LogError, match=complaint):
        read_manifest(tmp_path)


def test_a_missing_log_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"events\.jsonl: No such file"):
        read_manifest(tmp_path / "nowhere")


def test_a_run_with_another_manifest_is_refused_and_the_difference_shown(tmp_path: Path) -> None:
    start_run(tmp_path, manifest())
    start_run(tmp_path, manifest())
    with pytest.raises(ManifestDiffers, match=r"seed: 0 there, 7 now.*--fresh"):
        start_run(tmp_path, manifest(seed=7))
    assert read_manifest(tmp_path) == manifest()


def test_of_many_differences_only_the_first_four_are_shown(tmp_path: Path) -> None:
    start_run(tmp_path, manifest())
    many = {
        "seed": 7,
        "span": 4000,
        "tokenizer": "o200k_base",
        "questions": "forked",
        "acknowledge": "scripted",
    }
    for count in (4, 5):
        with pytest.raises(ManifestDiffers) as raised:
            start_run(tmp_path, manifest(**dict(list(many.items())[:count])))
        shown = str(raised.value).partition(" holds another run (")[2].partition("); start")[0]
        assert len(shown.removesuffix("; …").split("; ")) == 4
        assert shown.endswith("; …") == (count == 5)


def test_a_new_release_or_matcher_does_not_make_it_another_run(tmp_path: Path) -> None:
    start_run(tmp_path, manifest(scorers={"NamesOnly": 1}))
    start_run(tmp_path, manifest(version="9.9", scorers={"NamesOnly": 2, "New": 1}))
    assert read_manifest(tmp_path).scorers == {"NamesOnly": 1}  # as when the run began


def test_a_manifest_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    for last in ("fsync", "replace"):  # written when the process is killed there
        monkeypatch.setattr(os, last, die)
        with pytest.raises(KeyboardInterrupt):
            start_run(tmp_path, manifest())
        assert not (tmp_path / "events.jsonl").exists()
        monkeypatch.undo()
    (tmp_path / ".events.jsonl.new").write_bytes(b'{"event":"mani')
    start_run(tmp_path, manifest())
    assert read_manifest(tmp_path) == manifest()
    assert [path.name for path in tmp_path.iterdir()] == ["events.jsonl"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=12,
    )
)
def test_a_line_is_read_back_as_written_whatever_it_holds(value: Any) -> None:
    line = to_line({"event": "sent", "held": value})
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"event": "sent", "held": value}


def test_half_a_surrogate_pair_is_written_and_read() -> None:
    assert json.loads(to_line({"message": "\ud800é"})) == {"message": "\ud800é"}


def test_a_log_is_finished_when_its_last_line_and_its_break_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    before = manifest().line()
    last = encode(Finished(turns=5, tokens=9, at=AT))
    for size in range(len(last) + 1):
        path.write_bytes(before + last[:size])
        assert is_finished(path) == (size == len(last))


@pytest.mark.parametrize("sizes", [(0,), (1,), (40, 40), (3, 1 << 20), (1 << 20, 3), (1 << 21, 5, 5)])
def test_the_last_filler_is_found_from_the_end_wherever_it_is(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    path = tmp_path / "events.jsonl"

    def sent(turn: int, kind: str, message: str) -> bytes:
        return to_line({"event": "sent", "turn": turn, "kind": kind, "message": message, "tokens": 1})

    told = '\n{"event":"sent","turn":99,"kind":"fill"'
    lines = [manifest().line(), sent(1, "fill", told), sent(7, "fill", told)]
    lines += [sent(8 + i, "tell", told + "x" * size) for i, size in enumerate(sizes)]
    path.write_bytes(b"".join(lines))
    assert recorder._last_filler(path) == 7
    path.write_bytes(lines[0])
    assert recorder._last_filler(path) is None


@pytest.mark.skipif(sys.platform == "win32", reason="there, a link needs a right of its own")
def test_a_log_that_is_a_broken_link_is_named_and_one_to_an_empty_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(LogError, match=r"events\.jsonl is a broken link; remove it"):
        start_run(tmp_path, manifest())
    (tmp_path / "elsewhere.jsonl").touch()
    start_run(tmp_path, manifest())
    assert read_manifest(tmp_path) == manifest()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits: whoever would, fails."""

    def sleep(seconds: float) -> None:
        raise AssertionError(f"it waits for {seconds} seconds")

    monkeypatch.setattr("time.sleep", sleep)


def refuses(run: Path) -> bool:
    try:
        with locked(run):
            return False
    except RunLocked:
        return True


@pytest.mark.usefixtures("impatient")
def test_a_run_is_locked_once_at_a_time_and_then_free_again(tmp_path: Path) -> None:
    with locked(tmp_path):
        assert refuses(tmp_path)
        assert refuses(tmp_path)
    assert not refuses(tmp_path)


@pytest.mark.usefixtures("impatient")
@pytest.mark.skipif(sys.platform == "win32", reason="there, no file can be deleted that is in use")
def test_a_lock_holds_even_if_its_file_is_deleted(tmp_path: Path) -> None:
    with locked(tmp_path):
        (tmp_path / ".lock").unlink()
        assert refuses(tmp_path)
    assert not refuses(tmp_path)


def test_a_recorder_makes_the_folders_of_its_log(tmp_path: Path) -> None:
    path = tmp_path / "conversations" / "colours-0" / "events.jsonl"
    for n in range(2):
        with Recorder(path) as writer:
            assert (writer.logged is None) == (n == 0)
            if n == 0:
                writer.put(sent(0, "red"))


def test_all_of_a_log_is_on_the_disk_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "events.jsonl", list[int]()
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    with Recorder(path) as writer:
        writer.put(sent(0, "Hello!"))
        synced.clear()
    assert synced == [path.stat().st_size]


def test_differences_are_described_in_words() -> None:
    old = manifest().model_dump(mode="json")
    new = json.loads(json.dumps(old))
    new["suite"]["scenarios"][0]["parameters"]["changes"] = 4
    new["agent"]["settings"] = {"x": 1}
    assert differences(old, new) == [
        f"{old['suite']['scenarios'][0]['name']}.changes: 3 there, 4 now",
        "setting x: not set there, 1 now",
    ]


def test_a_replay_that_diverges_shows_both_texts(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Recorder(path) as writer:
        writer.put(sent(4, "red"))
    with (
        Recorder(path) as writer,
        pytest.raises(ReplayDiverged, match=r"turn 4 .*message = 'red', .*'blue'.*--fresh"),
    ):
        writer.put(sent(4, "blue"))


def test_an_event_that_was_peeked_at_is_still_delivered(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(manifest().line() + b"".join(map(encode, EVENTS)))
    with Recorder(path) as replay:
        seen = []
        while replay.logged is not None:
            following = replay.peek()
            assert replay.peek() == following
            seen.append(replay.logged)
            replay.skip()
            assert replay.logged == following
        assert seen == EVENTS
        assert replay.peek() is None


def test_a_sync_that_fails_is_raised_by_the_next_one_and_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "SYNC_SECONDS", 0.0)
    path, missing = tmp_path / "events.jsonl", tmp_path / "timings.jsonl"
    path.write_bytes(manifest().line())

    async def until_it_raises(writer: Recorder) -> None:
        for _ in range(1000):
            await asyncio.sleep(0.01)
            writer.sync_soon()

    async def sync() -> None:
        with Recorder(path) as writer:
            writer.sync_soon(missing)
            with pytest.raises(OSError, match=r"timings\.jsonl"):
                await until_it_raises(writer)
            writer.sync_soon()

    asyncio.run(sync())


def test_a_torn_side_file_is_mended_too(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    path.write_bytes(b'{"turn":0}\n{"tu')
    with Journal(path, lambda: 0.0) as journal:
        journal.put({"turn": 1})
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == [{"turn": 0}, {"turn": 1}]


@pytest.mark.parametrize("taken", [0, 1, 9])
def test_a_record_that_a_full_disk_takes_in_part_leaves_nothing_that_joins_the_next(
    tmp_path: Path, taken: int
) -> None:
    class Full(FileIO):
        left = 0

        def write(self, data: Any, /) -> int:
            if not self.left:
                return super().write(data)
            if self.left == 1:
                raise OSError(28, "No space left on device")
            self.left -= 1
            return super().write(bytes(data)[:taken]) if taken else self.write(data)

    path = tmp_path / "gateway.jsonl"
    with Journal(path, lambda: 0.0) as journal:
        journal.put({"call": "a"})
        journal.close()
        journal._file = file = Full(path, "ab")
        file.left = 2
        with pytest.raises(OSError, match="No space left"):
            journal.put({"call": "b"})
        file.left = 0
        journal.put({"call": "c"})
    assert path.read_bytes() == b'{"call":"a"}\n{"call":"c"}\n'


def test_usage_keeps_what_other_models_used() -> None:
    usage = Usage(
        uncached=1, model="a", besides=(Usage(output=2, model="b"), Usage(cache_read=3, provider="c"))
    )
    data = json.loads(json.dumps(usage_data(usage)))
    assert data == {
        "uncached": 1,
        "model": "a",
        "besides": [{"output": 2, "model": "b"}, {"cache_read": 3, "provider": "c"}],
    }
    event = Replied(turn=0, reply="", tokens=0, finish=Finish.STOP, usage=usage)
    assert decode(encode(event)) == event
    assert (usage + usage).besides == usage.besides * 2


def test_usage_keeps_its_single_calls() -> None:
    calls = (Usage(uncached=1, model="a"), Usage(output=2, model="a"))
    event = Replied(turn=0, reply="", tokens=0, finish=Finish.STOP, usage=Usage.of(calls))
    read = decode(encode(event))
    assert isinstance(read, Replied)
    assert read.usage is not None
    assert read.usage.parts == calls
    assert usage_of(usage_data(read.usage)) == read.usage
    deep = b'{"parts":[' * 30 + b"{}" + b"]}" * 30
    with pytest.raises(NotAnEvent, match="levels"):
        decode(encode(event).replace(b'"usage":{', b'"usage":{"besides":[' + deep + b"],"))


@pytest.mark.parametrize("counts", [[1_000_000], [20_001], [10_001, 10_000]])
def test_a_log_has_no_more_examples_than_a_page_can_show(tmp_path: Path, counts: list[int]) -> None:
    line = json.loads(manifest().line())
    line["suite"]["scenarios"] = [line["suite"]["scenarios"][0] | {"examples": count} for count in counts]
    (tmp_path / "events.jsonl").write_bytes(to_line(line))
    with pytest.raises(LogError, match="examples"):
        read_manifest(tmp_path)


def test_a_torn_last_line_is_cut_off_in_time_that_grows_with_its_length(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"

    def took(size: int) -> float:
        path.write_bytes(b'{"event":"x"}\n{"event":"' + b"x" * size)
        taken = cpu(lambda: mend(path))
        assert path.read_bytes() == b'{"event":"x"}\n'
        return taken

    assert in_proportion(took, 8 << 20)


def test_a_folder_is_synced_after_a_rename_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("ltm_bench.log.lines.sync_folder", synced.append)
    write_whole(tmp_path / "a", b"x")
    assert synced == [tmp_path]
