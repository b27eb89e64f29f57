"""What the probes of memory products share: a scripted model, a folder of one's own, and a line for each property.

A probe is a file with one function a property. `python docs/seen/probe_mem0.py update` calls that function in a fresh
process with an empty home, prints what it saw, and fails if that is not what docs/seen.toml says. Without a name it
calls all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DIMENSIONS = 64


def vector(text: str) -> list[float]:
    """Return a bag of words as a unit vector: texts without a word in common are at right angles, nearly always."""
    values = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        values[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSIONS] += 1
    norm = sum(value * value for value in values) ** 0.5 or 1.0
    return [value / norm for value in values]


@contextmanager
def provider(reply: Callable[[list[dict[str, Any]], dict[str, Any]], str | dict[str, Any]]) -> Iterator[str]:
    """Serve chat completions by a function of (messages, body), and embeddings by `vector`; give the base URL.

    The function returns a text, or a whole choice (`message`, `finish_reason`).
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            if self.path.endswith("/embeddings"):
                texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
                data = [
                    {"object": "embedding", "index": n, "embedding": vector(t)} for n, t in enumerate(texts)
                ]
                answer = {"object": "list", "model": body["model"], "data": data, "usage": usage}
            else:
                said = reply(body["messages"], body)
                choice = said if isinstance(said, dict) else {"message": {"content": said}}
                choice = {"index": 0, "finish_reason": "stop", **choice}
                choice["message"] = {"role": "assistant", "content": None, **choice["message"]}
                answer = {
                    "id": "1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice],
                    "usage": usage,
                }  # fmt: skip
            content = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


_hosts: list[str] = []


def outside_hosts() -> list[str]:
    """Return the hosts that this process looked up, without this machine's own."""
    return sorted({host for host in _hosts if host not in ("localhost", "127.0.0.1", "::1", "None")})


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        _hosts.append(arguments[0].decode() if isinstance(arguments[0], bytes) else str(arguments[0]))


def written(besides: Path) -> list[str]:
    """Return the folders below the home and the packages in which this process made files, but for `besides`."""
    home, packages = Path(os.environ["HOME"]), Path(sysconfig.get_path("purelib"))
    new = [path for path in home.rglob("*") if path.is_file() and not path.is_relative_to(besides)]
    start = float(os.environ["PROBE_START"])
    inside = [
        path
        for path in packages.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.stat().st_mtime > start
    ]
    names = [f"~/{path.relative_to(home)}" for path in new] + [
        f"packages/{p.relative_to(packages)}" for p in inside
    ]
    return sorted({"/".join(name.split("/")[:3]) for name in names})


def again(name: str, *arguments: str, kill: bool = False) -> str:
    """Call a function of the probe in another process with the same home; return what it printed, or its error.

    With `kill`, the process is killed as soon as it prints its first line.
    """
    command = [sys.executable, sys.argv[0], f"={name}", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        if kill:
            line = process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            return line.strip()
        out, error = process.communicate(timeout=120)
    return _result(out) or error.strip().splitlines()[-1]


def killed(expected: str) -> str:
    """Kill a process of the probe once its `_write` has added one memory; return how many its `_count` finds then."""
    added = again("_write", kill=True)
    assert added == "added", added
    count = again("_count")
    assert count == expected, count
    return f"after SIGKILL: {count} of 1"


def _result(out: str) -> str:
    return "".join(line.removeprefix("= ") for line in out.splitlines() if line.startswith("= "))


def main(probe: dict[str, Any]) -> None:
    """Call the functions named in the arguments, or all; each in a process and a home of its own."""
    names = sys.argv[1:]
    if names and names[0].startswith("="):
        sys.addaudithook(_hear)
        said = probe[names[0][1:]](*names[1:])
        print(f"= {said}", flush=True)  # products print, too
        return
    failed = False
    known = [
        name
        for name, value in probe.items()
        if getattr(value, "__module__", "") == "__main__" and name[0] != "_"
    ]
    for name in names or known:
        folder = tempfile.mkdtemp()
        inherited = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG")}
        environment = inherited | {
            "HOME": folder,
            "TMPDIR": folder,
            "PROBE_START": str(Path(folder).stat().st_mtime),
        }
        environment |= probe.get("NEEDS", {})
        if name not in ("files", "sends"):  # these show what the product does by itself
            environment |= probe.get("QUIET", {})
        command = [sys.executable, str(Path(sys.argv[0]).resolve()), f"={name}"]
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        shutil.rmtree(folder, ignore_errors=True)
        failed = failed or done.returncode != 0
        print(
            f"{name}: {_result(done.stdout) if not done.returncode else done.stderr.strip().splitlines()[-1]}",
            flush=True,
        )
    sys.exit(failed)
