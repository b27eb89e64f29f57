"""Sends any number of bytes through a door of the program, and says what came of it and what memory it took.

    python -m tests.doors NAME BYTES [SECONDS]

Everything is in this one process: what is sent is made as it goes, a block at a time, so that the memory is the door's.
"""

import asyncio
import json
import resource
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

BLOCK = 1 << 16
ZEROS = b"0" * BLOCK


def packed(size: int, start: bytes = b"", block: bytes = ZEROS) -> Iterator[bytes]:
    """Yield gzip that unpacks to this many bytes."""
    making = zlib.compressobj(wbits=31)
    yield making.compress(start)
    for _ in range(size // BLOCK):
        yield making.compress(block)
    yield making.flush()


def plain(size: int, start: bytes = b"") -> Iterator[bytes]:
    yield start
    for _ in range(size // BLOCK):
        yield ZEROS


class Server(BaseHTTPRequestHandler):
    """Answers with `size` bytes: plain, packed, as a stream without a blank line, or a byte at a time."""

    size: ClassVar[int] = 0
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        left = int(self.headers.get("content-length") or 0)
        while left > 0 and (got := self.rfile.read(min(left, BLOCK))):
            left -= len(got)
        self.do_GET()

    def do_GET(self) -> None:
        self.send_response(200)
        events = "events" in self.path
        self.send_header("content-type", "text/event-stream" if events else "application/json")
        if "packed" in self.path:
            self.send_header("content-encoding", "gzip")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            if "dripping" in self.path:
                while True:
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.02)
            for each in (
                packed(self.size) if "packed" in self.path else plain(self.size, b"data: " if events else b"")
            ):
                self.wfile.write(each)
        except OSError:
            pass
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Print nothing."""


KEY = "ltm-0123456789abcdef"
"""The key of the gateway's own."""


@contextmanager
def serving(size: int) -> Iterator[str]:
    """Serve inside the block; yield the address."""
    Server.size = size
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextmanager
def gateway(upstream: str, cache: Path | None = None) -> Iterator[str]:
    """Run a gateway before an address; yield its own."""
    from ltm_bench.adapters.gateway.server import Gateway
    from ltm_bench.adapters.gateway.upstreams import Upstream
    from ltm_bench.adapters.routing import Route
    from ltm_bench.core.budget import Budget
    from ltm_bench.log.journal import Journal

    with TemporaryDirectory() as folder:
        journal, budget = Journal(Path(folder) / "gateway.jsonl", time.perf_counter), Budget(None)
        routes: dict[str, Route] = {}

        def adopt(name: str) -> Route:
            known = Route(here.url, name, KEY, journal, budget, {"k"}, (), name or None)
            return routes.setdefault(name, known)

        place = Upstream(upstream, "openai", "sk-real-0123456789abcdefghij")
        here = Gateway({"openai": place, "anthropic": place}, budget, adopt=adopt, key=KEY, cache=cache)
        with here.listening():
            yield here.url
        journal.close()


def ask(url: str, body: Iterator[bytes], length: int | None) -> str:
    """Post a body; return the status line and the end of the answer."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as line:
        how = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
        own = f"host: {host}\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n{how}"
        line.sendall(f"POST /v1/chat/completions HTTP/1.1\r\n{own}\r\n\r\n".encode())
        try:
            for each in filter(None, body):
                line.sendall(each if length is not None else b"%x\r\n%b\r\n" % (len(each), each))
            if length is None:
                line.sendall(b"0\r\n\r\n")
        except OSError:
            pass  # it was refused before its end
        said = b""
        try:
            while piece := line.recv(BLOCK):
                said = (said + piece)[:2000] if len(said) < 2000 else said
        except OSError:
            pass
    return said.decode("latin-1")[:2000]


HELLO = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": False}).encode()


def _request(size: int, folder: Path) -> str:
    with gateway("http://127.0.0.1:9") as url:
        return ask(url, plain(size), size)


def _chunked_request(size: int, folder: Path) -> str:
    with gateway("http://127.0.0.1:9") as url:
        return ask(url, plain(size), None)


def _answer(kind: str) -> Callable[[int, Path], str]:
    def door(size: int, folder: Path) -> str:
        with serving(size) as server, gateway(f"{server}/{kind}") as url:
            return ask(url, iter([HELLO]), len(HELLO))

    return door


def _chat(kind: str) -> Callable[[int, Path], str]:
    def door(size: int, folder: Path) -> str:
        import httpx2

        from ltm_bench.adapters.http.shared import bounded

        async def fetch(url: str) -> str:
            async with bounded(httpx2.AsyncClient, timeout=600) as client:
                return str(len((await client.get(url)).content))

        with serving(size) as server:
            return asyncio.run(fetch(f"{server}/{kind}"))

    return door


def _collector(kind: str) -> Callable[[int, Path], str]:
    def door(size: int, folder: Path) -> str:
        from ltm_bench.export import sending

        class Source:
            pass

        for name, value in {"spans": lambda _: iter([{}]), "as_request": lambda *_: b"{}"}.items():
            setattr(sending, name, value)
        if "dripping" in kind:
            sending._SECONDS = 2.0
        with serving(size) as server:
            return f"sent {sending.send(Source(), f'{server}/{kind}')}"  # type: ignore[arg-type]  # spans() is replaced above

    return door


def _file(name: str, read: str, start: bytes = b"", block: bytes = ZEROS) -> Callable[[int, Path], str]:
    """Return a door for a file: packed if its name says so, otherwise with a hole of that size, or of blocks."""

    def door(size: int, folder: Path) -> str:
        path = folder / name
        with path.open("wb") as file:
            if path.suffix == ".gz":
                file.writelines(packed(size, start, block))
            elif block is not ZEROS:
                file.writelines(block for _ in range(size // len(block)))
            else:
                file.write(start)
                file.truncate(size)
        said: list[str] = []
        scope: dict[str, Any] = {"path": path, "bad": lambda line: said.append(line[:300]), "Path": Path}
        exec(read, scope)  # of this file
        return f"{scope.get('got')!s:.300} {said[:2]}"

    return door


TIMINGS = "from ltm_bench.score.results.timings import side_of\ngot = side_of(path.parent, None)"


def _download(size: int, folder: Path) -> str:
    from ltm_bench.core.download import download

    with serving(size) as server:
        return download(f"{server}/plain", folder / "x", name="x", on_progress=lambda *_: None)


DOORS: dict[str, Callable[[int, Path], str]] = {
    "gateway request": _request,
    "gateway request in chunks": _chunked_request,
    "gateway answer": _answer("plain"),
    "gateway packed answer": _answer("packed"),
    "gateway stream without a blank line": _answer("events"),
    "gateway packed stream without a blank line": _answer("packed/events"),
    "provider's answer": _chat("plain"),
    "provider's packed answer": _chat("packed"),
    "collector's answer": _collector("plain"),
    "collector's packed answer": _collector("packed"),
    "collector that drips": _collector("dripping"),
    "predictions .gz": _file(
        "x.jsonl.gz",
        "from ltm_bench.datasets.answers import read_answers\ngot = read_answers(path, bad)",
        b'{"question": "',
    ),
    "published .gz": _file(
        "x.json.gz",
        "from ltm_bench.datasets.recounting import read_published\ngot = read_published(path)",
        b'{"question": "',
    ),
    "panel .gz": _file(
        "x.json.gz",
        "from ltm_bench.judge.panel import replies_of\ngot = replies_of(path, {}, bad)",
        b'{"question": "',
    ),
    "goodai .gz": _file(
        "results-x.jsonl.gz",
        "from ltm_bench.datasets.goodai.files import results\ngot = list(results(path.parent, bad))",
        b'{"question": "',
    ),
    "elements .gz": _file(
        "x.json.gz",
        "from ltm_bench.datasets.streaming import read_elements\n"
        "got = sum(1 for _ in read_elements(path, bad))",
        b'["',
    ),
    "lines .gz": _file(
        "x.jsonl.gz",
        "from ltm_bench.datasets.streaming import read_elements\n"
        "got = sum(1 for _ in read_elements(path, bad))",
        b'{"a": "',
    ),
    "value .gz": _file(
        "x.json.gz", "from ltm_bench.datasets.streaming import read_value\ngot = read_value(path)", b'"'
    ),
    "bank .gz": _file(
        "locomo10.json.gz",
        "from ltm_bench.judge.banks import open_bank\ngot = open_bank(f'locomo-audit:{path.parent}')",
        b'"',
    ),
    "csv": _file(
        "x.csv",
        "from ltm_bench.datasets.recounting import read_published\ngot = read_published(path)",
        b"question,answer\n",
    ),
    "toml": _file("x.toml", "from ltm_bench.core.limits import toml_in\ngot = toml_in(path)", b"a = 1\n"),
    "text": _file(
        "x.txt",
        "from ltm_bench.datasets.swim.documents import read_document\ngot = len(read_document(path).text)",
    ),
    "html": _file(
        "x.html",
        "from ltm_bench.datasets.swim.documents import read_document\ngot = len(read_document(path).text)",
        b"<html><body><p>",
    ),
    "pdf": _file(
        "x.pdf",
        "from ltm_bench.datasets.swim.documents import read_document\ngot = len(read_document(path).text)",
        b"%PDF-1.7\n",
    ),
    "log": _file(
        "events.jsonl",
        "from ltm_bench.log.reader import read_manifest\ngot = read_manifest(path.parent)",
        b'{"event": "',
    ),
    "timings of one line": _file("timings.jsonl", TIMINGS),
    "timings of many lines": _file("timings.jsonl", TIMINGS, block=b'{"turn":1,"seconds":0.25}\n' * 4096),
    "timings of many lines, verified": _file(
        "timings.jsonl",
        "from ltm_bench.export.side_files import check_side_files\ngot = check_side_files(path.parent)",
        block=b'{"turn":1,"seconds":0.25}\n' * 4096,
    ),
    "log of a run that is viewed": _file(
        "events.jsonl", "from ltm_bench.viewer.states import _ended\ngot = _ended(path)"
    ),
    "CSV field .gz": _file(
        "x.csv.gz",
        "from ltm_bench.datasets.recounting import read_published\ngot = read_published(path)",
        b"question,answer\nq,",
    ),
    "download": _download,
}


def peak() -> int:
    """Return the most memory that this process has had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def main(name: str, size: int) -> None:
    """Send them through a door, and print what was said, the memory it took above that before, and the seconds."""
    import uvicorn  # noqa: F401  # so that what it takes is not counted for the door

    before, begun = peak(), time.monotonic()
    with TemporaryDirectory() as folder:
        try:
            said = DOORS[name](size, Path(folder))
        except BaseException as error:  # whatever it is, it is what was said
            said = f"{type(error).__name__}: {error!s:.400}"
    took = time.monotonic() - begun
    told = {"door": name, "peak": peak() - before, "seconds": round(took, 1), "said": said[:600]}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
