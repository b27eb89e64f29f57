"""The runs folder in a browser: what is shown, what is live, and what is served to nobody."""

import http.client
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.viewer.access import find_file
from ltm_bench.viewer.server import application

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.conftest import Command
    from tests.made import serving
else:
    from made import serving

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")


@pytest.fixture(scope="module")
def reports(hostile_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two runs, one of them half done long ago, with secrets around it."""
    place = tmp_path_factory.mktemp("served")
    folder = place / "reports"
    shutil.copytree(hostile_run, folder / "hostile")
    half = folder / "half"
    half.mkdir()
    lines = (hostile_run / "events.jsonl").read_bytes().splitlines(keepends=True)
    (half / "events.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    os.utime(half / "events.jsonl", (1, 1))
    (folder / "broken").mkdir()
    (folder / "broken" / "events.jsonl").write_bytes(b"nothing\n")
    (folder / "compare.html").write_text("<!DOCTYPE html><title>x</title>", "utf-8")
    (folder / "notes.py").write_text("secret", "utf-8")
    (folder / ".hidden.json").write_text("secret", "utf-8")
    (folder / "hostile" / "agent").mkdir(exist_ok=True)
    (folder / "hostile" / "agent" / "memory.json").write_text("secret", "utf-8")
    (place / "outside.json").write_text("secret", "utf-8")
    (folder / "link.json").symlink_to(place / "outside.json")
    return folder


@pytest.fixture(scope="module")
def port(reports: Path) -> Iterator[int]:
    with serving(application(reports)) as port:
        yield port


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body, answer.headers


def test_every_run_is_listed_with_its_progress(port: int) -> None:
    status, body, headers = ask(port, "/")
    assert status == 200
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "access-control-allow-origin" not in headers
    for text in (
        "hostile",
        "half",
        "unfinished",
        "finished",
        "unreadable",
        "/files/hostile/report.html",
        "compare.html",
    ):
        assert text in body
    assert "/files/half/report.html" not in body


def test_pages_are_served_as_they_are(port: int, reports: Path) -> None:
    for name in ("report.html", "transcript.html"):
        status, body, headers = ask(port, f"/files/hostile/{name}")
        assert status == 200
        assert body.encode() == (reports / "hostile" / name).read_bytes()
        assert headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "../outside.json",
        "hostile/../../outside.json",
        "%2e%2e/outside.json",
        "..%2foutside.json",
        "link.json",
        ".hidden.json",
        "notes.py",
        "hostile/agent/memory.json",
        "hostile/.lock",
        "hostile",
        "hostile/",
        "/etc/passwd",
        "//etc/passwd",
        "%00",
        "hostile%5c..%5c..%5coutside.json",
        "",
    ],
)
def test_no_file_outside_the_folder_or_of_an_agent_is_served(port: int, path: str) -> None:
    status, body, _ = ask(port, f"/files/{path}")
    assert status == 404
    assert "secret" not in body
    assert "root:" not in body


def test_a_file_that_may_be_served_is_found(reports: Path) -> None:
    assert find_file(reports, "compare.html") == (reports / "compare.html").resolve()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["/", "/progress", "/files/compare.html", "/search/hostile"])
def test_nothing_can_be_changed(port: int, method: str, path: str) -> None:
    assert ask(port, path, method)[0] == 405


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
def test_requests_under_another_host_name_are_refused(port: int, host: str) -> None:
    status, body, _ = ask(port, "/", Host=host)
    assert status == 400
    assert "hostile" not in body


def test_a_transcript_is_searched_and_what_was_said_is_text(port: int) -> None:
    status, body, _ = ask(port, "/search/hostile?q=%3CSCRIPT%3Ealert")
    assert status == 200
    assert "<script>alert" not in body
    assert "&lt;script&gt;alert" in body
    assert 'href="/files/hostile/transcript.html#turn-' in body
    assert "0 turns with" in ask(port, "/search/hostile?q=nobody+says+this")[1]
    assert ask(port, "/search/nothing?q=x")[0] == 404
    assert ask(port, "/search/broken?q=x")[0] == 500


def states(stream: Any) -> dict[str, Any]:
    """Read the next list of states off a stream of events."""
    while not (line := stream.readline().decode()).startswith("data: "):
        assert line
    return {state["name"]: state for state in json.loads(line.removeprefix("data: "))}


def test_progress_is_streamed_as_a_log_grows(port: int, reports: Path, hostile_run: Path) -> None:
    log = reports / "half" / "events.jsonl"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/progress")
    stream = connection.getresponse()
    before = states(stream)
    assert (before["hostile"]["state"], before["half"]["state"]) == ("finished", "unfinished")
    assert before["half"]["done"] < before["half"]["planned"]
    old = log.read_bytes()
    log.write_bytes(b"".join((hostile_run / "events.jsonl").read_bytes().splitlines(keepends=True)[:-2]))
    try:
        after = states(stream)["half"]
        assert after["state"] == "running"
        assert after["done"] > before["half"]["done"]
    finally:
        connection.close()
        log.write_bytes(old)
        os.utime(log, (1, 1))


def test_the_list_fits_and_complains_of_nothing(port: int, browser: "Browser") -> None:
    for width in (390, 1280):
        browser.open(f"http://127.0.0.1:{port}/", width=width, scripts=True)
        assert browser.ask("document.documentElement.scrollWidth") <= width
        assert browser.problems == []
    assert browser.ask("document.querySelectorAll('tr[data-run]').length") == 3


def test_a_port_that_is_taken_is_refused(port: int, command: "Command") -> None:
    done = command("view", "--port", str(port))
    assert done.exit_code == 1
    assert f"--port {port}: somebody listens there already" in done.output


@pytest.fixture(scope="module")
def guarded(reports: Path) -> Iterator[int]:
    with serving(application(reports, "correct horse battery")) as port:
        yield port


@pytest.mark.parametrize(
    "path",
    ["/", "/progress", "/files/hostile/results.json", "/?token=wrong", "/?token=", "/search/hostile?q=a"],
)
def test_nothing_is_served_without_the_token(guarded: int, path: str) -> None:
    for headers in ({}, {"Cookie": "ltm-bench-token=correct horse"}):
        status, body, _ = ask(guarded, path, **headers)
        assert (status, "token is needed" in body, "hostile" in body) == (401, True, False)


def test_a_token_in_the_address_becomes_a_cookie(guarded: int) -> None:
    status, _, headers = ask(guarded, "/?token=correct%20horse%20battery", Host="any.example")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    status, body, _ = ask(guarded, "/", Cookie=cookie.partition(";")[0])
    assert status == 200
    assert "hostile" in body


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--host", "0.0.0.0"), "--host 0.0.0.0: others could read all runs there; set --token"),
        (("--host", "example.org"), "others could read all runs there"),
        (("--host", "0.0.0.0", "--token", "short"), "--token: it has 5 characters"),
        (("--host", "192.0.2.1", "--token", "correct horse battery"), "it is no address of this machine"),
    ],
)
def test_other_machines_are_served_only_with_a_token(
    command: "Command",
    words: tuple[str, ...],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("view", *words)
    assert done.exit_code == 1
    assert complaint in done.err
