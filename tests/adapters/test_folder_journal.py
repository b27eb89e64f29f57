"""The files of a memory can be brought back to any turn, and their journal stays small."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.adapters import Folder, FolderJournal, files_after
from ltm_bench.adapters.memories.folder_journal import Edit

if TYPE_CHECKING:
    from tests.memories import turn
else:
    from memories import turn

CONTENT = st.binary(max_size=12) | st.text("ab\n", max_size=12).map(str.encode)
FILES = st.dictionaries(st.sampled_from(["a.md", "b/c.md", "b/d.bin"]), CONTENT)


@given(before=CONTENT, after=CONTENT)
def test_an_edit_gives_the_new_content_and_holds_no_more_than_it(before: bytes, after: bytes) -> None:
    edit = Edit.of(before, after)
    assert edit.done(before) == after
    assert len(edit.text) <= len(after)


def test_an_edit_holds_only_what_is_new() -> None:
    before = b"one\ntwo\nthree\n"
    assert Edit.of(before, before + b"four\n") == Edit(len(before), "four\n", 0)
    assert Edit.of(before, b"zero\n" + before) == Edit(0, "zero\n", len(before))
    assert Edit.of(before, b"one\nTWO\nthree\n") == Edit(4, "TWO", 7)
    assert Edit.of(before, b"one\nthree\n").text == ""


@given(old=FILES, new=FILES)
def test_a_folder_holds_what_was_written_last_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, old: dict[str, bytes], new: dict[str, bytes]
) -> None:
    folder = Folder(tmp_path_factory.mktemp("folder") / "files")
    assert folder.read() == {}
    folder.write(old)
    folder.write(new)
    assert folder.read() == new


@given(states=st.lists(st.tuples(st.sampled_from([None, "Ada", "Ben"]), FILES), max_size=6), data=st.data())
def test_files_can_be_brought_back_to_any_turn(
    tmp_path_factory: pytest.TempPathFactory,
    states: list[tuple[str | None, dict[str, bytes]]],
    data: st.DataObject,
) -> None:
    journal = FolderJournal(tmp_path_factory.mktemp("journal") / "written.jsonl")
    turns = [turn(number, f"Message {number}.") for number in range(len(states))]
    now: dict[str | None, dict[str, bytes]] = {}
    history: list[dict[str | None, dict[str, bytes]]] = [{}]
    for each, (user, files) in zip(turns, states, strict=True):
        change = journal.note(each, user, now.get(user, {}), files)
        assert (change is None) == (files == now.get(user, {}))
        now = {**now, user: files}
        history.append(now)
    kept = data.draw(st.integers(0, len(turns)))
    for _ in range(2):  # a journal that was cut can be cut again
        there = files_after(journal.cut(turns[:kept]))
        assert {user: files for user, files in there.items() if files} == {
            user: files for user, files in history[kept].items() if files
        }


def test_a_turn_that_changed_nothing_leaves_no_line(tmp_path: Path) -> None:
    journal = FolderJournal(tmp_path / "written.jsonl")
    assert not journal.exists
    assert journal.note(turn(0, "Hello!"), None, {"a": b"x"}, {"a": b"x"}) is None
    assert not journal.exists
    change = journal.note(turn(1, "Hello!"), None, {"a": b"x"}, {"b": b"x"})
    assert change is not None
    assert dict(change.edits) == {"a": None, "b": Edit(0, "x", 0)}
    assert journal.path.read_bytes().count(b"\n") == 1


def test_another_turn_of_the_same_number_and_a_torn_line_are_dropped(tmp_path: Path) -> None:
    journal = FolderJournal(tmp_path / "written.jsonl")
    first, second = turn(0, "My parrot is called Zebedee."), turn(1, "I moved to Ribe.")
    journal.note(first, None, {}, {"a": b"1"})
    journal.note(second, None, {"a": b"1"}, {"a": b"12"})
    other = replace(second, message=replace(second.message, text="I stayed."))
    whole = journal.path.read_bytes()
    assert files_after(journal.cut([first, other])) == {None: {"a": b"1"}}
    journal.path.write_bytes(whole[:-3])
    assert files_after(journal.cut([first, second])) == {None: {"a": b"1"}}
    assert journal.path.read_bytes() == whole[: whole.index(b"\n") + 1]


def test_files_that_are_locked_or_change_while_they_are_read_are_not_at_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, lock = Folder(tmp_path), tmp_path / "memory" / ".git" / "index.lock"
    folder.write({"memory/notes.md": b"Zebedee", "memory/.git/index": b"1"})
    read = folder.read
    steps: list[Callable[[], object]] = [lock.touch, lock.unlink]

    def beside_others() -> dict[str, bytes]:
        if steps:
            steps.pop(0)()
        return read()

    monkeypatch.setattr(folder, "read", beside_others)
    assert folder.read_at_rest("memory/.git/*.lock*") is None  # it was there only while they were read
    assert folder.read_at_rest("memory/.git/*.lock*") == {
        "memory/notes.md": b"Zebedee",
        "memory/.git/index": b"1",
    }
    lock.touch()
    assert folder.read_at_rest("memory/.git/*.lock*") is None
