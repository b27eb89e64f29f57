"""A model's window is found where its server says it, and nothing strange in an answer is taken for one."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ltm_bench.adapters import Endpoint
from ltm_bench.adapters.chat import model_window


@contextmanager
def serving(answers: dict[str, Any]) -> Iterator[str]:
    """Serve JSON by path, and 404 elsewhere; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answers.get(self.path)).encode()
            self.send_response(200 if self.path in answers else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def window(url: str, model: str = "qwen3") -> int | None:
    return asyncio.run(model_window(Endpoint.openai(model, base_url=url, timeout=5, max_retries=0)))


VLLM = {
    "/v1/models": {"data": [{"id": "other", "max_model_len": 7}, {"id": "qwen3", "max_model_len": 40960}]}
}
LLAMA = {
    "/v1/models": {"data": [{"id": "qwen3", "meta": {"n_ctx_train": 131072}}], "models": [{"name": "qwen3"}]},
    "/props": {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 4},
}
OLLAMA = {
    "/v1/models": {"data": [{"id": "qwen3:latest", "owned_by": "library"}]},
    "/api/ps": {"models": [{"name": "qwen3:latest", "model": "qwen3:latest", "context_length": 4096}]},
}


@pytest.mark.parametrize("path", ["", "/v1", "/v1/"])
@pytest.mark.parametrize(
    ("answers", "found"), [(VLLM, 40960), (LLAMA, 8192), (OLLAMA, 4096), ({}, None)],
    ids=["vllm", "llama.cpp", "ollama", "silent"],
)  # fmt: skip
def test_each_server_says_it_in_a_place_of_its_own(
    key: str, answers: dict[str, Any], found: int | None, path: str
) -> None:
    with serving(answers) as url:
        assert window(url + path) == found


def test_the_window_of_another_model_is_not_this_ones(key: str) -> None:
    with serving(VLLM) as url:
        assert window(url, "gemma") is None


@pytest.mark.parametrize("said", [0, -1, True, "4096", 4096.0, None, [4096], {"n": 1}])
def test_what_is_no_number_of_tokens_is_no_window(key: str, said: object) -> None:
    places = {
        "/v1/models": {"data": [None, "x", {"id": "qwen3", "max_model_len": said}], "models": said},
        "/props": {"default_generation_settings": {"n_ctx": said}},
        "/api/ps": [said],
    }
    with serving(places) as url:
        assert window(url) is None


def test_a_server_that_is_not_there_has_no_window(key: str) -> None:
    with serving({}) as url:
        pass
    assert window(url) is None
