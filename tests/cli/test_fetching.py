"""`filler fetch` and `infinitebench fetch` against a server on this machine."""

import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

Serve = Callable[[bytes], str]

DATA = {"Data": [{"Question": "Which city is it?", "Answer": {"Value": "Paris"}}] * 3}


def archive(name: str) -> bytes:
    buffer, content = io.BytesIO(), json.dumps(DATA).encode()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        entry = tarfile.TarInfo(f"triviaqa-unfiltered/{name}")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "served").mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "served")))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()

    def put(content: bytes) -> str:
        (tmp_path / "served" / "a.tar.gz").write_bytes(content)
        return f"http://127.0.0.1:{server.server_port}/a.tar.gz"

    yield put
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_archive_is_fetched_once_and_its_trivia_can_be_used(serve: Serve, command: "Command") -> None:
    content = archive("unfiltered-web-dev.json")
    url = serve(content)
    words = ("filler", "fetch", "--url", url, "--sha256", hashlib.sha256(content).hexdigest())
    assert command(*words).exit_code == 0
    assert "is there already" in command(*words).out
    assert [path.name for path in Path("triviaqa").iterdir()] == ["unfiltered-web-dev.json"]
    filler = "triviaqa:triviaqa/unfiltered-web-dev.json"
    assert (
        command(
            "run", "--span", "2k", "--agent", "goldfish", "--suite", "smoke", "--filler", filler
        ).exit_code
        == 0
    )


def test_an_archive_with_another_checksum_is_discarded(serve: Serve, command: "Command") -> None:
    done = command("filler", "fetch", "--url", serve(archive("unfiltered-web-dev.json")))
    assert done.exit_code == 1
    assert "its SHA-256 is" in done.err
    assert list(Path("triviaqa").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"not an archive", "cannot be read"), (archive("other.json"), "there is no unfiltered-web-dev")],
)
def test_an_archive_with_other_contents_is_named(
    serve: Serve, command: "Command", content: bytes, complaint: str
) -> None:
    url = serve(content)
    done = command("filler", "fetch", "--url", url, "--sha256", hashlib.sha256(content).hexdigest())
    assert done.exit_code == 1
    assert complaint in done.err
    assert list(Path("triviaqa").iterdir()) == []


def test_a_failed_download_is_named(serve: Serve, command: "Command") -> None:
    done = command("filler", "fetch", "--url", serve(b"").replace("a.tar.gz", "b.tar.gz"))
    assert done.exit_code == 1
    assert "could not be downloaded (HTTPStatusError" in done.err
    assert "give a mirror with --url" in done.err


def test_files_of_infinitebench_are_fetched_once_and_a_replaced_one_is_refused(
    serve: Serve, command: "Command"
) -> None:
    item = json.dumps({"context": "The pump is red.", "input": "Which colour?", "answer": ["red"]}).encode()
    mirror = serve(b"").rpartition("/")[0]
    Path("served/longbook_qa_eng.jsonl").write_bytes(item + b"\n")
    words = ("infinitebench", "fetch", "longbook_qa_eng", "--url", mirror)
    assert command(*words).exit_code == 0
    assert "is there already" in command(*words).out
    run = ("run", "--span", "2k", "--agent", "perfect", "--suite", "infinitebench-files", "--examples", "1")
    done = command(*run, "--scenario", "longbook_qa_eng")
    assert (done.exit_code, "1 correct" in done.out) == (0, True)
    fetched = Path("data/infinitebench/longbook_qa_eng.jsonl")
    fetched.unlink()
    Path("served/longbook_qa_eng.jsonl").write_bytes(item.replace(b"red", b"blue"))
    done = command(*words)
    assert done.exit_code == 1
    assert "the file has been replaced" in done.err
    assert not fetched.exists()


def test_an_unknown_task_of_infinitebench_is_named(command: "Command") -> None:
    done = command("infinitebench", "fetch", "longbook_qa_end")
    assert done.exit_code == 1
    assert "did you mean 'longbook_qa_eng'" in done.err


def test_a_public_set_is_fetched_once_after_its_licence_is_shown(serve: Serve, command: "Command") -> None:
    url = serve(b'[{"question_id": "q1"}]')
    words = ("datasets", "fetch", "longmemeval-oracle", "--url", url)
    done = command(*words)
    assert done.exit_code == 0, done.err
    assert done.out.index("licence  MIT") < done.out.index("use it with")
    assert Path("data/longmemeval/longmemeval_oracle.json").is_file()
    assert "longmemeval_oracle.json" in Path("data/longmemeval/SHA256SUMS").read_text("utf-8")
    assert "is there already" in command(*words).out


def test_a_public_set_with_another_checksum_is_discarded(serve: Serve, command: "Command") -> None:
    url = serve(b"[]")
    done = command("datasets", "fetch", "locomo", "--url", url, "--into", "elsewhere")
    assert done.exit_code == 1
    assert "the published one is 79fa87e9" in done.err
    assert list(Path("elsewhere").iterdir()) == []
