"""Hindsight's own server on this machine, with its own Postgres, and the test provider as its model."""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ltm_bench.adapters.testing import Answer, Provider, provider

SETTINGS = {
    "ACCESS_LOG": "false",
    "EMBEDDINGS_MAX_RETRIES": "0",
    "EMBEDDINGS_OPENAI_API_KEY": "unused",
    "EMBEDDINGS_OPENAI_MODEL": "some-embedder",
    "EMBEDDINGS_PROVIDER": "openai",
    "HOST": "127.0.0.1",
    "LLM_API_KEY": "unused",
    "LLM_MAX_RETRIES": "0",
    "LLM_MODEL": "some-model",
    "LLM_PROVIDER": "openai",
    "LOG_LEVEL": "warning",
    "MCP_ENABLED": "false",
    "RERANKER_PROVIDER": "rrf",  # any other is a download, or a service
    "SKIP_LLM_VERIFICATION": "true",
    "WORKER_ID": "tests",
    "WORKER_MAX_RETRIES": "0",
    "WORKER_POLL_INTERVAL_MS": "50",
}


OWN_KEY = "a-key-of-the-tests-for-the-gateway"
"""What the server and a run have in LTM_BENCH_GATEWAY_KEY."""


@dataclass(frozen=True)
class Running:
    """A server."""

    url: str
    model: Provider
    """What it asks for facts, observations and vectors."""


@cache
def hindsight_server(program: str, model: Answer, gateway: str = "") -> Running:
    """Start the server, which takes some 20 seconds; it runs until the process ends.

    Args:
        program: hindsight-api.
        model: Answers for the model that it calls.
        gateway: The address at which it calls that model, if not the model's own.
    """
    ending = ExitStack()
    atexit.register(ending.close)
    place = Path(tempfile.mkdtemp(prefix="hindsight-"))
    ending.callback(shutil.rmtree, place, ignore_errors=True)
    answering = ending.enter_context(provider(model))
    port = free_port()
    log = place / "log"
    settings = {
        **SETTINGS,
        "DATABASE_URL": database(program, place, ending),
        "EMBEDDINGS_OPENAI_BASE_URL": answering.openai_url,
        "LLM_BASE_URL": gateway or answering.openai_url,
        **({"LLM_API_KEY": OWN_KEY, "LLM_MODEL": "gpt-6-luna"} if gateway else {}),
        "PORT": str(port),
    }
    environment = {f"HINDSIGHT_API_{name}": value for name, value in settings.items()}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program],
            cwd=place,
            env={
                "HOME": str(place),
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "PATH": os.environ["PATH"],
                **environment,
            },
            stdout=output,
            stderr=output,
            start_new_session=True,  # an interrupted test must not end it before its database
        )
    ending.callback(end, process)
    url = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 240
    while not answers(f"{url}/health"):
        assert process.poll() is None, log.read_text("utf-8")[-2000:]
        assert time.monotonic() < until, log.read_text("utf-8")[-2000:]
        time.sleep(0.1)
    return Running(url, answering)


def database(program: str, place: Path, ending: ExitStack) -> str:
    """Start the Postgres of the package pg0, and return its URL."""
    [bundled] = Path(program).parent.parent.glob("lib/python*/site-packages/pg0/bin/pg0")
    home = place / "postgres"
    home.mkdir()
    command = home / "pg0"
    shutil.copy(bundled, command)
    nobody: dict[str, Any] = {}
    if sys.platform != "win32" and os.geteuid() == 0:  # Postgres refuses to be root
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        place.chmod(0o755)
        os.chown(home, 65534, 65534)

    def run(*words: str) -> None:
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [command, *words],
            cwd=home,
            env=environment,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            **nobody,
        )
        assert done.returncode == 0, done.stdout.decode()

    port, who = free_port(), "hindsight"
    options = ["fsync=off", "shared_buffers=64MB"]
    ending.callback(run, "stop", "--name", who)
    run(
        *(
            "start",
            "--name",
            who,
            "--port",
            str(port),
            "--username",
            who,
            "--password",
            who,
            "--database",
            who,
        ),
        *(word for option in options for word in ("--config", option)),
    )
    return f"postgresql://{who}:{who}@127.0.0.1:{port}/{who}"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
