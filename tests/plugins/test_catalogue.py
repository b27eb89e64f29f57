"""The catalogue of a request: listed once, each file read and hashed at most once."""

from pathlib import Path

import pytest

from ltm_bench.core.errors import PluginError
from ltm_bench.plugins import catalogue, files
from ltm_bench.plugins.catalogue import Catalogue
from ltm_bench.plugins.scenarios import scenario


def test_a_catalogue_gives_what_single_look_ups_give() -> None:
    known = Catalogue.open()
    assert known.scenarios == files.catalogue("scenarios")
    assert known.agents == files.catalogue("agents")
    assert known.scenario("colours").name == scenario("colours").name
    assert known.hash("colours") == files.content_hash(files.find("scenarios", "colours"))
    assert known.hash("perfect", "agents") == files.content_hash(files.find("agents", "perfect"))
    assert known.find("scenarios", str(known.scenarios["jokes"])) == known.scenarios["jokes"]
    with pytest.raises(PluginError, match="did you mean 'colours'"):
        known.scenario("color")


def test_each_file_is_listed_read_and_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, object]] = []

    def counted(name: str) -> None:
        real = getattr(catalogue, name)

        def call(first: object) -> object:
            calls.append((name, first))
            return real(first)

        monkeypatch.setattr(catalogue, name, call)

    for name in ("catalogue", "content_hash", "scenario_at"):
        counted(name)
    known = Catalogue.open()
    for _ in range(5):
        for name in ("colours", "delayed_recall"):
            assert known.scenario(name) is known.scenario(name)
            known.hash(name)
    assert len(calls) == len(set(calls)) == 2 + 2 + 2


def test_a_changed_file_needs_a_new_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agents").mkdir()
    mine = Path("agents/mine.py")
    mine.write_text("x = 1")
    known = Catalogue.open()
    before = known.hash("mine", "agents")
    mine.write_text("x = 2")
    assert known.hash("mine", "agents") == before != Catalogue.open().hash("mine", "agents")
