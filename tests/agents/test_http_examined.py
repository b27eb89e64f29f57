"""What `doctor` learns about an endpoint: it posts one message as a run would, and shows the answer."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command


class Endpoint(BaseHTTPRequestHandler):
    """Expects a field `input`, and answers with `{"output": {"text": …}}`."""

    asked: list[dict[str, Any]]
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        status = self.status if "input" in body else 422
        if self.path == "/observe" and "said" not in body:
            status = 500
        said = {
            200: {"output": {"text": "I hear you."}},
            422: {"detail": "field 'input' is missing"},
            500: {"detail": "KeyError: said", "token": self.headers["Authorization"]},
        }[status]
        content = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    Endpoint.asked, Endpoint.status = [], 200
    with HTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/chat"
        server.shutdown()


def doctor(command: "Command", url: str, *settings: str) -> tuple[int, str]:
    words = [word for each in settings for word in ("-A", each)]
    done = command("doctor", "--agent", "http", "-A", f"url={url}", *words)
    return done.exit_code, " ".join(done.out.split())


def test_the_reply_is_shown(command: "Command", url: str) -> None:
    code, said = doctor(command, url, "request=input", "reply=output.text", "session=user")
    assert code == 0
    assert "at reply='output.text' it says 'I hear you.'" in said
    (asked,) = Endpoint.asked
    assert asked["user"].startswith("doctor-")


def test_a_wrong_field_is_shown_as_the_endpoint_says_it_and_asked_once(command: "Command", url: str) -> None:
    code, said = doctor(command, url, "reply=output.text")
    assert code == 1
    assert "HTTP 422" in said
    assert "field 'input' is missing" in said
    assert len(Endpoint.asked) == 1


def test_what_observes_is_tried_too(command: "Command", url: str) -> None:
    code, said = doctor(
        command, url, "request=input", "reply=output.text", "observe=/observe", "observe_reply=said"
    )
    assert code == 0
    assert "/observe observes" in said
    assert Endpoint.asked[-1] == {"input": "By the way, it rains.", "said": "Okay."}


def test_an_error_shows_the_beginnings_of_request_and_answer_without_keys(
    command: "Command", url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", key := "Bearer sk-never-shown-0123")
    path = ("request=input", "reply=output.text", "headers=Authorization=MY_TOKEN")
    code, said = doctor(command, url, *path, "observe=/observe")
    assert code == 1
    assert '/observe failed with HTTP 500: {"detail": "KeyError: said"' in said
    assert '(the request was {"input": "By the way, it rains.", "reply": "Okay."})' in said
    assert key.split()[1] not in said


def test_a_failing_endpoint_is_not_retried(command: "Command", url: str) -> None:
    Endpoint.status = 500
    code, said = doctor(command, url, "request=input")
    assert code == 1
    assert "HTTP 500" in said
    assert len(Endpoint.asked) == 1


def test_a_wrong_reply_path_shows_the_answer(command: "Command", url: str) -> None:
    code, said = doctor(command, url, "request=input", "reply=text")
    assert code == 1
    assert "without text at reply='text'" in said
    assert "I hear you." in said


def test_it_says_when_nobody_listens(command: "Command") -> None:
    code, said = doctor(command, "http://127.0.0.1:9/chat")
    assert code == 1
    assert "ConnectError" in said
