"""The folder of runs in a browser: what is shown, what is live, and what is never served."""

import asyncio
import http.client
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from ltm_bench.api.publication import publish
from ltm_bench.viewer.access import find_file
from ltm_bench.viewer.server import application
from tests.finished import copied

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.conftest import Command
    from tests.finished import Finished
    from tests.made import serving
else:
    from made import serving

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"), packages=("chromium",))


@pytest.fixture(scope="module")
def reports(hostile_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two runs, one of them half done long ago, with secrets around it."""
    place = tmp_path_factory.mktemp("served")
    folder = place / "reports"
    copied(hostile_run, folder / "hostile")
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
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
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


def test_pages_are_served_unchanged(port: int, reports: Path) -> None:
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


EVIL = """<!DOCTYPE html><title>evil</title><h1>FAKE 11/11</h1>
<script>document.title = "inline"; fetch("/progress");</script><svg onload="document.title = 'handler'"></svg>
<iframe src="/files/hostile/events.jsonl"></iframe><form action="/search"><button>x</button></form>"""


@pytest.mark.parametrize(
    "path", ["hostile/evil.html", "evil/report.html", "evil/transcript.html", "evil.html", "hostile/evil.svg"]
)
def test_no_script_of_a_file_runs(port: int, reports: Path, browser: "Browser", path: str) -> None:
    (reports / path).parent.mkdir(exist_ok=True)
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg"><script>document.documentElement.id = "ran"</script></svg>'
    )
    (reports / path).write_text(drawing if path.endswith(".svg") else EVIL, "utf-8")
    address = f"http://127.0.0.1:{port}/files/{path}"
    browser.open(address, scripts=True)
    assert browser.ask("document.documentElement.id + document.title") in ("", "evil")
    assert browser.ask("document.querySelector('iframe')?.contentDocument?.body?.textContent ?? ''") == ""
    assert [each for each in browser.requests if each.startswith("http")] == [address]
    assert browser.problems, "the policy says what it blocked"


def test_the_script_of_our_own_page_runs(port: int, browser: "Browser") -> None:
    browser.open(f"http://127.0.0.1:{port}/files/hostile/report.html", scripts=True)
    assert browser.problems == []
    assert browser.ask("document.getElementById('filter').hidden") is False


@pytest.mark.parametrize(
    ("path", "sandboxed"),
    [
        ("hostile/events.jsonl", True),
        ("compare.html", True),
        ("chart.pdf", True),
        ("hostile/report.html", False),
    ],
)
def test_every_file_has_a_policy_and_all_but_our_pages_a_sandbox(
    port: int, reports: Path, path: str, sandboxed: bool
) -> None:
    (reports / "chart.pdf").write_bytes(b"%PDF-")
    status, _, headers = ask(port, f"/files/{path}")
    policy = headers["Content-Security-Policy"]
    assert status == 200
    assert policy.startswith("default-src 'none'; ")
    assert ("; sandbox" in policy, "allow-scripts" in policy) == (sandboxed, False)
    assert (headers["Content-Disposition"] == "attachment") is path.endswith(".pdf")


def test_pages_of_an_unpacked_bundle_are_not_served_until_they_are_written_again(
    reports: Path, port: int, hostile_run: Path
) -> None:
    folder = copied(hostile_run, reports / "unpacked")
    (folder / "SHA256SUMS").write_text("", "utf-8")
    (folder / "report.html").write_text("FAKE 11/11", "utf-8")
    for name in ("report.html", "transcript.html"):
        status, body, _ = ask(port, f"/files/unpacked/{name}")
        assert (status, "a page that came with a bundle" in body) == (404, True)
        assert f"/files/unpacked/{name}" not in ask(port, "/")[1]
    assert ask(port, "/files/unpacked/events.jsonl")[0] == 200
    asyncio.run(publish(folder))
    assert "FAKE" not in ask(port, "/files/unpacked/report.html")[1]
    assert "/files/unpacked/report.html" in ask(port, "/")[1]
    shutil.rmtree(folder)


def test_a_servable_file_is_found(reports: Path) -> None:
    assert find_file(reports, "compare.html") == (reports / "compare.html").resolve()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize(
    "path", ["/", "/progress", "/files/compare.html", "/search?run=hostile", "/compare", "/live/half"]
)
def test_requests_that_write_are_refused(port: int, method: str, path: str) -> None:
    assert ask(port, path, method)[0] == 405


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
def test_requests_under_another_host_name_are_refused(port: int, host: str) -> None:
    status, body, _ = ask(port, "/", Host=host)
    assert status == 400
    assert "hostile" not in body


def test_a_transcript_is_searched_and_its_contents_stay_text(port: int) -> None:
    status, body, _ = ask(port, "/search?run=hostile&q=%3CSCRIPT%3Ealert")
    assert status == 200
    assert "<script>alert" not in body
    assert "&lt;script&gt;alert" in body
    assert 'href="/files/hostile/transcript.html#turn-' in body
    assert "0 turns with" in ask(port, "/search?run=hostile&q=nobody+says+this")[1]
    assert ask(port, "/search?run=nothing&q=x")[0] == 404


def test_all_runs_are_searched_when_none_is_chosen_despite_a_bad_one(port: int) -> None:
    status, body, _ = ask(port, "/search?q=%3Cscript%3Ealert")
    assert status == 200
    heads = [part.partition("</h2>")[0] for part in body.split("<h2>")[1:]]
    assert sorted(heads) == ["<bdi>broken</bdi>", "<bdi>half</bdi>", "<bdi>hostile</bdi>"]
    assert body.count("It cannot be read to its end") == 1


def test_chosen_runs_are_compared(port: int) -> None:
    status, body, _ = ask(port, "/compare?run=hostile&run=half")
    assert status == 200
    assert 'href="/files/hostile/report.html' in body
    assert "/files/half/report.html" not in body
    assert '<a href="/">ltm-bench · all runs</a>' in body
    for path, code, why in (
        ("/compare?run=hostile", 400, "at least two"),
        ("/compare?run=hostile&run=hostile", 400, "at least two"),
        ("/compare?run=hostile&run=nothing", 404, "no such run"),
        ("/compare?run=hostile&run=../reports/half", 404, "no such run"),
        ("/compare?run=hostile&run=broken", 500, "not a manifest"),
    ):
        status, body, _ = ask(port, path)
        assert (status, why in body) == (code, True), path


def test_a_run_under_way_shows_its_score_so_far_and_its_last_turns(port: int) -> None:
    status, body, _ = ask(port, "/live/half")
    assert status == 200
    assert "Score so far" in body
    assert "this is not a result yet" in body
    assert '<article class="turn' in body
    assert "<script>alert" not in body
    assert ask(port, "/live/nothing")[0] == 404
    status, body, _ = ask(port, "/live/broken")
    assert (status, "Nothing has been said yet" in body) == (200, True)


def states(stream: Any) -> dict[str, Any]:
    """Read the next list of states from a stream of events."""
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


def test_a_port_that_is_taken_is_refused(port: int, command: "Command") -> None:
    done = command("view", "--port", str(port))
    assert done.exit_code == 1
    assert f"--port {port}: the port is in use" in done.output


@pytest.fixture(scope="module")
def guarded(reports: Path) -> Iterator[int]:
    with serving(application(reports, "correct horse battery")) as port:
        yield port


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/progress",
        "/files/hostile/results.json",
        "/?token=wrong",
        "/?token=",
        "/search?q=a",
        "/compare?run=hostile&run=half",
        "/live/half",
    ],
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
        (("--host", "example.invalid"), "this is not an address of this machine"),
        (("--host", "192.0.2.1"), "this is not an address of this machine"),
        (("--host", "0.0.0.0", "--token", "correct horse battery"), "No such option: --token"),
    ],
)
def test_an_address_that_cannot_be_served_is_named_and_a_token_is_not_an_argument(
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


def test_a_token_that_is_too_short_is_refused(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LTM_BENCH_TOKEN", "short")
    assert "LTM_BENCH_TOKEN has 5 characters" in command("view", "--host", "0.0.0.0").err


@pytest.mark.parametrize("variable", [None, "correct horse battery"])
def test_other_machines_are_served_only_with_a_token(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    served: list[Any] = []
    monkeypatch.setattr("uvicorn.run", lambda app, **how: served.append(app))
    if variable is not None:
        monkeypatch.setenv("LTM_BENCH_TOKEN", variable)
    done = command("view", "--host", "0.0.0.0", "--port", "18499")
    assert done.exit_code == 0
    with serving(served[0]) as port:
        assert ask(port, "/")[0] == 401
        token = variable or done.out.partition("?token=")[2].split()[0]
        assert len(token) >= 12
        assert ask(port, f"/?token={quote(token)}")[0] == 303
    if variable is not None:
        assert variable not in done.output


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/\\\\evil.example/", "//evil.example/%2e%2e", "///evil.example"]
)
def test_the_token_leads_to_no_other_host(guarded: int, path: str) -> None:
    status, _, headers = ask(guarded, f"{path}?token=correct%20horse%20battery")
    assert status == 303
    assert headers["location"].startswith("/")
    assert headers["location"][1:2] not in ("/", "\\")
    assert "token" not in headers["location"]


@pytest.mark.parametrize("host", ["[::1]", "[::1]:7700", "127.0.0.1:80", "localhost", "LOCALHOST:7700"])
def test_all_names_of_this_machine_are_accepted(port: int, host: str) -> None:
    assert ask(port, "/", Host=host)[0] == 200


@pytest.mark.parametrize("host", ["[::2]", "[::1]evil.example", "[::1", "::1", "localhost.evil.example:80"])
def test_no_other_names_are_accepted(port: int, host: str) -> None:
    assert ask(port, "/", Host=host)[0] == 400


BAD = {
    "brackets": {"results.json": b"[" * 100_000},
    "objects": {"results.json": b'{"score":' * 5_000},
    "digits": {"results.json": b'{"score": ' + b"9" * 100_000 + b', "out_of": 1, "complete": true}'},
    "large": {"results.json": b'{"score": 1e999, "out_of": 1e999, "complete": true}'},
    "types": {"results.json": b'{"score": [], "out_of": {}, "complete": 1}'},
    "deep manifest": {"events.jsonl": b'{"event":"manifest","a":' * 10_000},
    "no manifest": {"events.jsonl": b"\xff\xfe\x00" * 1000},
    "empty": {"events.jsonl": b""},
}


@pytest.fixture
def infested(tmp_path: Path, finished: "Finished") -> Path:
    """A folder with a valid run among bad ones, and with every kind of special file."""
    folder = tmp_path / "reports"
    good = finished.copy(folder / "good", "perfect", scenarios=["colours"])
    for name, files in BAD.items():
        shutil.copytree(good, folder / name, ignore=shutil.ignore_patterns("agent", ".lock"))
        for file, content in files.items():
            (folder / name / file).write_bytes(content)
    for name in ("pipe", "loop", "device", "folder", "dangling"):
        (folder / name).mkdir()
    os.mkfifo(folder / "pipe" / "events.jsonl")
    os.mkfifo(folder / "good" / "pipe.json")
    (folder / "loop" / "events.jsonl").symlink_to(folder / "loop" / "events.jsonl")
    (folder / "good" / "loop.json").symlink_to("loop.json")
    (folder / "device" / "events.jsonl").symlink_to("/dev/zero")
    (folder / "good" / "device.json").symlink_to("/dev/zero")
    (folder / "folder" / "events.jsonl").mkdir()
    (folder / "dangling" / "events.jsonl").symlink_to(folder / "nothing")
    (folder / "good" / "agent").mkdir(exist_ok=True)
    (folder / "good" / "agent" / "memory.json").write_text("secret", "utf-8")
    (folder / "good" / "shown.json").symlink_to("agent/memory.json")
    (folder / "shown.json").symlink_to("good/agent/memory.json")
    (folder / "inside").symlink_to("good/agent")
    (folder / "good" / ".env.json").write_text("secret", "utf-8")
    (folder / "good" / "env.json").symlink_to(".env.json")
    return folder


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes pipes")
def test_one_bad_run_is_one_bad_row(infested: Path) -> None:
    with serving(application(infested)) as port:
        status, body, _ = ask(port, "/")
        assert status == 200
        rows = {part.partition('"')[0]: part for part in body.split('data-run="')[1:]}
        assert "finished" in rows["good"]
        assert {"pipe", "device", "folder", *BAD} <= set(rows)
        for name in set(rows) & {
            "pipe",
            "loop",
            "device",
            "folder",
            "dangling",
            "deep manifest",
            "no manifest",
            "empty",
        }:
            assert "unreadable" in rows[name], name
        for name in rows:
            assert ask(port, f"/search?run={quote(name)}&q=a")[0] in (200, 404)
            assert ask(port, f"/live/{quote(name)}")[0] in (200, 404)
            assert ask(port, f"/compare?run=good&run={quote(name)}")[0] in (200, 400, 404, 500)
        assert ask(port, "/search?run=good&q=a")[0] == 200


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes pipes")
@pytest.mark.parametrize(
    "path",
    [
        "good/pipe.json", "good/loop.json", "good/device.json", "good/shown.json", "shown.json", "inside/memory.json",
        "good/env.json", "x" * 5_000 + ".json", "good/" + "x" * 300 + ".json", "/".join(["x"] * 3_000) + ".json",
        "folder/events.jsonl", "dangling/events.jsonl", "good/results.json/x.json",
    ],
)  # fmt: skip
def test_only_regular_files_of_a_run_are_served(infested: Path, path: str) -> None:
    with serving(application(infested)) as port:
        status, body, _ = ask(port, f"/files/{path}")
    assert (status, "secret" in body) == (404, False)


@pytest.fixture
def far(reports: Path, tmp_path: Path) -> Iterator[int]:
    """The same runs behind a URL."""
    pytest.importorskip("fsspec")
    place = tmp_path / "far"
    shutil.copytree(reports, place, symlinks=True)
    shutil.copytree(place / "hostile", place / "again")
    (place / "again" / "SHA256SUMS").write_text("foreign", "utf-8")
    with serving(application(f"file://{place}")) as port:
        yield port


def test_runs_behind_a_url_are_listed_shown_compared_and_searched(far: int, reports: Path) -> None:
    status, body, _ = ask(far, "/")
    assert status == 200
    assert all(name in body for name in ("hostile", "half", "again", "unreadable"))
    status, body, headers = ask(far, "/files/hostile/report.html")
    assert body.encode() == (reports / "hostile" / "report.html").read_bytes()
    assert "script-src 'sha256-" in headers["Content-Security-Policy"]
    assert ask(far, "/live/half")[0] == 200
    assert ask(far, "/live/nobody")[0] == 404
    assert ask(far, "/compare?run=hostile&run=again")[0] == 200
    assert ask(far, "/compare?run=hostile&run=../hostile")[0] == 404
    status, body, _ = ask(far, "/search?q=the")
    assert (status, "Choose the runs to search" in body) == (400, True)
    assert ask(far, "/search?q=the&run=hostile")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "again/report.html",
        "hostile/agent/memory.json",
        "hostile/.lock",
        "hostile/nothing.json",
        "../outside.json",
        "link.json",
        "compare.html",
        "hostile/../../outside.json",
    ],
)
def test_behind_a_url_only_files_of_runs_are_served(far: int, path: str) -> None:
    status, body, _ = ask(far, f"/files/{path}")
    assert status == 404
    assert "secret" not in body


def test_a_place_that_is_no_folder_is_named(command: "Command") -> None:
    done = command("view", "nowhere")
    assert (done.exit_code, "nowhere: there is no such folder" in done.err) == (1, True)
