"""Runs behind a URL: what is listed, and how little is read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ltm_bench.core.errors import ConfigError, RunIncomplete
from ltm_bench.log.remote import HEAD, Remote, is_url

fsspec = pytest.importorskip("fsspec")

URL = "memory://bucket/runs"


@pytest.fixture(autouse=True)
def store() -> Iterator[Any]:
    found = fsspec.filesystem("memory")
    yield found
    found.rm("/", recursive=True)


def test_runs_are_listed_with_the_first_line_and_what_is_asked_for(store: Any) -> None:
    long = b"m" * (HEAD + 5)
    for name, content in {
        "b/events.jsonl": long + b"\nrest",
        "a/events.jsonl": b"manifest\nrest",
        "a/results.json": b"{}",
        "a/agent/events.jsonl": b"no run",
        "a/.holder": b"token",
        "sweep.html": b"page",
    }.items():
        store.pipe_file(f"/bucket/runs/{name}", content)
    first, second = Remote(URL).runs("results.json", "environment.json")
    assert (first.name, first.url, first.head) == ("a", f"{URL}/a", b"manifest")
    assert dict(first.contents) == {"results.json": b"{}"}
    assert (second.name, second.head, dict(second.contents)) == ("b", long, {})
    [alone] = Remote(f"{URL}/a/").runs()
    assert (alone.name, alone.head) == ("a", b"manifest")
    assert set(alone.changed) == {"events.jsonl", "results.json", "agent/events.jsonl"}


def test_nothing_but_beginnings_and_the_asked_files_is_read(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.pipe_file("/bucket/runs/a/events.jsonl", b"manifest\n" + b"x" * 10 * HEAD)
    store.pipe_file("/bucket/runs/a/results.json", b"{}")
    read = []
    whole = type(store).cat_file

    def counting(self: Any, path: str, *args: Any, **kwargs: Any) -> bytes:
        content: bytes = whole(self, path, *args, **kwargs)
        read.append(len(content))
        return content

    monkeypatch.setattr(type(store), "cat_file", counting)
    assert len(list(Remote(URL).runs("results.json"))) == 1
    assert sum(read) == HEAD + 2


def test_a_listing_comes_from_the_store_and_is_not_kept(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    find = type(store).find

    def keeping(self: Any, path: str, **options: Any) -> Any:
        if path not in kept:
            kept[path] = find(self, path, **options)
        return kept[path]

    monkeypatch.setattr(type(store), "find", keeping)
    monkeypatch.setattr(type(store), "invalidate_cache", lambda self, path=None: kept.clear())
    remote = Remote(URL)
    store.find("/bucket/runs", detail=True)  # before another program writes
    store.pipe_file("/bucket/runs/a/events.jsonl", b"manifest\n")
    assert list(remote.files()) == ["a/events.jsonl"]
    assert kept == {}


def test_a_url_without_runs_has_none() -> None:
    assert list(Remote(URL).runs()) == []


def test_a_url_that_cannot_be_used_or_reached_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere://x"):
        Remote("nowhere://x")
    with pytest.raises(RunIncomplete, match=r"memory://bucket: FileNotFoundError"):
        Remote("memory://bucket").read("nothing")


@pytest.mark.parametrize(("place", "url"), [("s3://b/r", True), ("zip::a.zip", True), ("reports/r", False)])
def test_a_url_is_told_from_a_path(place: str, url: bool) -> None:
    assert is_url(place) is url
