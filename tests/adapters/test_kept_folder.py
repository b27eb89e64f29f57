"""A product's folder goes back to one of its last states."""

from pathlib import Path

import pytest

from ltm_bench.adapters.memories.kept_folder import KeptFolder


@pytest.fixture
def folder(tmp_path: Path) -> KeptFolder:
    made = KeptFolder(tmp_path / "live", tmp_path / "states", lambda name: name.endswith(".once"))
    made.clear()
    return made


def write(folder: KeptFolder, **files: str) -> None:
    for name, text in files.items():
        path = folder.live / name.replace("_", ".")
        path.unlink(missing_ok=True)  # as a database does, which writes a new file in place of an old one
        path.write_text(text, "utf-8")


def content(folder: KeptFolder) -> dict[str, str]:
    paths = sorted(path for path in folder.live.rglob("*") if path.is_file())
    return {path.relative_to(folder.live).as_posix(): path.read_text("utf-8") for path in paths}


def test_it_goes_back_to_a_kept_state_and_forgets_the_later_ones(folder: KeptFolder) -> None:
    for count in (1, 2, 3):
        write(folder, a_once="first", b=f"after {count}", **{f"c{count}_once": "new"})
        folder.keep(count)
    assert folder.back_to(2)
    assert content(folder) == {"a.once": "first", "b": "after 2", "c1.once": "new", "c2.once": "new"}
    assert not folder.back_to(3)
    assert content(folder) == {}


def test_only_the_last_three_states_are_kept(folder: KeptFolder, tmp_path: Path) -> None:
    for count in range(1, 6):
        write(folder, b=str(count))
        folder.keep(count)
    assert sorted(path.name for path in (tmp_path / "states").iterdir()) == ["3", "4", "5", "place"]
    assert not folder.back_to(2)


def test_a_file_written_once_is_linked_and_any_other_copied(folder: KeptFolder, tmp_path: Path) -> None:
    write(folder, a_once="first", b="second")
    (folder.live / "below").mkdir()
    (folder.live / "below" / "d.once").write_text("third", "utf-8")
    folder.keep(1)
    state = tmp_path / "states" / "1"
    assert (state / "a.once").samefile(folder.live / "a.once")
    assert (state / "below" / "d.once").samefile(folder.live / "below" / "d.once")
    assert not (state / "b").samefile(folder.live / "b")
    (folder.live / "b").write_text("changed in place", "utf-8")
    folder.back_to(1)
    assert content(folder) == {"a.once": "first", "b": "second", "below/d.once": "third"}


def test_where_there_are_no_links_everything_is_copied(
    folder: KeptFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr("os.link", refuse)
    write(folder, a_once="first")
    folder.keep(1)
    assert not (tmp_path / "states" / "1" / "a.once").samefile(folder.live / "a.once")


def test_a_folder_that_was_moved_says_so(folder: KeptFolder, tmp_path: Path) -> None:
    assert not folder.moved()
    folder.keep(0)
    assert not folder.moved()
    assert KeptFolder(tmp_path / "elsewhere", tmp_path / "states", lambda _: False).moved()


def test_without_states_it_cannot_go_back(folder: KeptFolder) -> None:
    write(folder, b="1")
    folder.keep(1)
    folder.drop()
    assert not folder.back_to(1)
