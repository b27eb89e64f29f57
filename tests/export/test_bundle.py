"""A bundle is complete, is unpacked safely, and is refused if a file was changed."""

import errno
import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from ltm_bench.core.errors import NotVerified
from ltm_bench.export.bundle import pack, unpack
from ltm_bench.score.results.stored import SUMS
from tests.finished import copied

Contents = dict[str, bytes]


@pytest.fixture
def bundle(hostile_run: Path, tmp_path: Path) -> Path:
    pack(hostile_run, tmp_path / "b.zip")
    return tmp_path / "b.zip"


def test_a_bundle_has_the_log_and_the_verdicts_but_no_page_and_no_state_of_the_agent(
    hostile_run: Path, tmp_path: Path
) -> None:
    run = copied(hostile_run, tmp_path / "run")
    (run / "agent").mkdir(exist_ok=True)
    (run / "agent" / "memory.json").write_text("{}")
    (run / ".report.html.new").write_text("half")
    pack(run, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        names = {name.removeprefix("run/") for name in archive.namelist()}
    assert {"manifest.json", "events.jsonl", "verdicts.jsonl", SUMS} <= names
    assert not any(name.startswith((".", "agent", "exports")) or name.endswith(".html") for name in names)


def test_equal_runs_give_equal_bundles(bundle: Path, hostile_run: Path, tmp_path: Path) -> None:
    pack(hostile_run, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == bundle.read_bytes()


def test_a_bundle_unpacks_to_the_files_that_were_packed(
    bundle: Path, hostile_run: Path, tmp_path: Path
) -> None:
    run = unpack(bundle, tmp_path / "out")
    for name in ("events.jsonl", "results.json", "verdicts.jsonl"):
        assert (run / name).read_bytes() == (hostile_run / name).read_bytes()


def _change_log(contents: Contents) -> None:
    contents["events.jsonl"] += b"{}\n"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (_change_log, "events.jsonl was changed: its SHA-256 is"),
        (lambda contents: contents.pop("verdicts.jsonl"), "verdicts.jsonl is missing"),
        (lambda contents: contents.update({"more.json": b"{}"}), "more.json is missing, or not in"),
        (lambda contents: contents.pop(SUMS), f"has no {SUMS}"),
        (lambda contents: contents.update({"../../evil.txt": b"x"}), "has a file outside its folder"),
        (lambda contents: contents.update({"../other/x.txt": b"x"}), "has a file outside its folder"),
        (dict.clear, "has no run, or several"),
    ],
)
def test_a_changed_bundle_is_refused(
    bundle: Path, tmp_path: Path, change: Callable[[Contents], object], complaint: str
) -> None:
    with zipfile.ZipFile(bundle) as archive:
        contents = {name.removeprefix("hostile-2k-nasty/"): archive.read(name) for name in archive.namelist()}
    change(contents)
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        for name, content in contents.items():
            archive.writestr(f"hostile-2k-nasty/{name}", content)
    with pytest.raises(NotVerified, match=complaint):
        unpack(tmp_path / "t.zip", tmp_path / "out")
    assert not (tmp_path / "evil.txt").exists()


def test_the_hashes_can_be_checked_without_ltm_bench(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        for line in archive.read(f"hostile-2k-nasty/{SUMS}").decode().splitlines():
            digest, name = line.split("  ", 1)
            assert hashlib.sha256(archive.read(f"hostile-2k-nasty/{name}")).hexdigest() == digest


def test_anything_but_a_bundle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK or not")
    with pytest.raises(NotVerified, match="not a bundle"):
        unpack(tmp_path / "x.zip", tmp_path / "out")


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_bundle_is_refused_in_one_way(bundle: Path, tmp_path: Path, seed: int) -> None:
    dice = Random(seed)
    content = bytearray(bundle.read_bytes())
    for _ in range(dice.choice((1, 5, 50))):
        content[dice.randrange(len(content))] = dice.randrange(256)
    if seed % 3 == 0:
        del content[dice.randrange(len(content)) :]
    (tmp_path / "t.zip").write_bytes(content)
    try:
        run = unpack(tmp_path / "t.zip", tmp_path / "out")
    except NotVerified:
        return
    assert run.is_dir()  # the damaged part carries no meaning: a date, for instance


def test_an_offset_before_the_beginning_is_damage_and_not_a_fault_of_the_disk(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, kind in ((errno.EINVAL, NotVerified), (errno.ENOSPC, OSError)):

        def fail(*_: object, number: int = number) -> None:
            raise OSError(number, "it failed")

        monkeypatch.setattr("zipfile.ZipFile.extractall", fail)
        with pytest.raises(kind, match="it failed"):
            unpack(bundle, tmp_path / "out")


@pytest.mark.parametrize("how", ["encrypted", "method"])
def test_zip_features_that_no_bundle_uses_are_refused(bundle: Path, tmp_path: Path, how: str) -> None:
    content = bytearray(bundle.read_bytes())
    at = content.find(b"PK\x01\x02")
    while at >= 0:
        content[at + (8 if how == "encrypted" else 10)] |= 1 if how == "encrypted" else 99
        at = content.find(b"PK\x01\x02", at + 4)
    (tmp_path / "t.zip").write_bytes(content)
    with pytest.raises(NotVerified):
        unpack(tmp_path / "t.zip", tmp_path / "out")


def test_a_small_bundle_that_would_unpack_to_much_is_refused_unopened(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run/events.jsonl", b"x" * (50 << 20))
    with pytest.raises(NotVerified, match="it would unpack to"):
        unpack(tmp_path / "t.zip", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_with_terminal_control_codes_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("run\x1b[2J/events.jsonl", b"x")
    with pytest.raises(NotVerified, match="cannot be shown"):
        unpack(tmp_path / "t.zip", tmp_path / "out")
