"""A run as OpenTelemetry spans: what OpenTelemetry's own package reads, and what a collector gets."""

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import Run, run
from ltm_bench.core.errors import ConfigError
from ltm_bench.export.formats.otel import CONVENTIONS, write
from ltm_bench.export.sending import MOST, collector, send
from ltm_bench.export.source import Source, source_of

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

METERED = """
from ltm_bench import Agent, Message, Reply, Usage

class Metered(Agent):
    \"\"\"Says what it used, and a key.\"\"\"

    async def reply(self, message: Message) -> Reply:
        usage = Usage(uncached=100, cache_read=7, output=3, model="gpt-4o", provider="openai")
        return Reply("My key is sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRkdI.", usage)
"""


COMPACTING = """
from ltm_bench import Agent, Message, Reply
from ltm_bench.adapters import Compacted

class Compacting(Agent):
    \"\"\"Its provider compacts the conversation with the third reply.\"\"\"

    async def reply(self, message: Message) -> Reply:
        self.count = getattr(self, "count", 0) + 1
        return Compacted("Okay.") if self.count == 3 else Reply("Okay.")
"""


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return run("vector_memory", "2k", scenarios=["colours"], examples=2)


def source(of: Run) -> Source:
    return source_of(of.folder, of.results)


def spans(content: bytes) -> list[dict[str, Any]]:
    [resource] = json.loads(content)["resourceSpans"]
    [scope] = resource["scopeSpans"]
    found: list[dict[str, Any]] = scope["spans"]
    return found


def values(attributes: list[dict[str, Any]]) -> Mapping[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in attributes}


def test_spans_form_one_tree_and_children_lie_within_their_parents(done: Run) -> None:
    found = spans(write(source(done)))
    by_id = {span["spanId"]: span for span in found}
    assert len(by_id) == len(found)
    assert len({span["traceId"] for span in found}) == 1
    [root] = [span for span in found if "parentSpanId" not in span]
    assert root["name"] == "conversation"
    for span in found:
        parent = by_id[span.get("parentSpanId", root["spanId"])]
        began, ended = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        assert int(parent["startTimeUnixNano"]) <= began <= ended <= int(parent["endTimeUnixNano"])
    assert write(source(done)) == write(source(done))


def test_every_turn_has_its_span_and_every_operation_and_verdict_its_place(done: Run) -> None:
    found = spans(write(source(done)))
    names = [span["name"] for span in found]
    assert names.count("invoke_agent vector_memory") == done.results.turns
    operations = {each.name: each.calls for each in done.results.operations}
    assert {"upsert_memory": operations["write"], "search_memory": operations["retrieve"]}.items() <= {
        name: names.count(name) for name in names
    }.items()
    assert names.count("chat") == operations["answer"]
    said = [values(event["attributes"]) for span in found for event in span.get("events", ())]
    questions = [q for e in done.examples for q in e.questions]
    assert sorted(each["gen_ai.evaluation.explanation"] for each in said) == sorted(
        q.reason for q in questions
    )
    assert {each["gen_ai.evaluation.score.label"] for each in said} == {q.outcome.value for q in questions}


def test_opentelemetrys_own_package_reads_the_file(done: Run) -> None:
    parse = pytest.importorskip("google.protobuf.json_format").Parse
    form = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    content = write(source(done))
    read = parse(content, form.ExportTraceServiceRequest())
    [resource] = read.resource_spans
    about = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert about["service.name"] == "ltm-bench"
    assert about["ltm_bench.conventions"] == CONVENTIONS
    assert [span.name for span in resource.scope_spans[0].spans] == [span["name"] for span in spans(content)]


def test_usage_is_told_and_keys_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agents").mkdir()
    Path("agents/metered.py").write_text(METERED)
    content = write(source(run("metered", "2k", scenarios=["colours"], examples=1)))
    turns = [values(span["attributes"]) for span in spans(content) if span["name"] == "invoke_agent metered"]
    assert all(each["gen_ai.usage.input_tokens"] == "107" for each in turns)
    assert all(each["gen_ai.request.model"] == "gpt-4o" for each in turns)
    assert b"sk-proj-" not in content


def test_each_isolated_example_is_a_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = write(source(run("vector_memory", "2k", scenarios=["colours"], examples=3, isolated=True)))
    found = spans(content)
    talks = [span for span in found if span["name"] == "conversation"]
    assert len(talks) == 3
    assert {span["parentSpanId"] for span in found if span["name"].startswith("invoke")} == {
        span["spanId"] for span in talks
    }
    assert any(span["name"] == "upsert_memory" for span in found)


class Collected(BaseHTTPRequestHandler):
    """A collector that keeps what it gets; it refuses requests without the header `key`."""

    got: list[tuple[str, int]]
    answer = b""

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200 if self.headers.get("key") == "a b" else 401)
        self.end_headers()
        self.wfile.write(self.answer)
        self.got.append((self.path, len(spans(content))))

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    Collected.got = []
    server = HTTPServer(("127.0.0.1", 0), Collected)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_collector_gets_all_spans_with_the_headers_of_the_variable(
    done: Run, address: str, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = len(spans(write(source(done))))
    assert send(source(done), address, "key=a%20b,other=1") == sent
    assert Collected.got == [("/v1/traces", sent)]
    assert sent < MOST
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "key=a%20b")
    ran = command("run", "--span", "2k", "--scenario", "colours", "--agent", "goldfish", "--otel", address)
    assert ran.exit_code == 0
    assert "spans of colours-2k-goldfish-seed0 sent" in ran.output
    assert f"otel: {sent} spans" in command("export", done.name, "--otel", f"{address}/v1/traces").output


def test_a_run_whose_collector_refuses_is_finished_with_a_warning(
    address: str, command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = command("run", "--span", "2k", "--scenario", "colours", "--agent", "goldfish", "--otel", address)
    assert ran.exit_code == 0
    assert f"warning: --otel {address}: the collector did not take the spans: " in ran.output
    assert "401" in ran.output


def test_an_endpoint_is_an_address() -> None:
    assert collector("http://localhost:4318") == "http://localhost:4318/v1/traces"
    assert collector("https://host/otlp/") == "https://host/otlp/v1/traces"
    for wrong in ("localhost:4318", "ftp://host", "", "http://"):
        with pytest.raises(ConfigError, match="write the collector's address"):
            collector(wrong)


@pytest.mark.parametrize(
    ("answer", "rejected", "why"),
    [
        (b'{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}', 3, "too old"),
        (b'{"partialSuccess": {"rejectedSpans": 2}}', 2, ""),
        (b'{"partialSuccess": {"errorMessage": "slow down"}}', 0, "slow down"),
        (b'{"partialSuccess": {}}', 0, None),
        (b"{}", 0, None),
        (b"", 0, None),
        (b'{"partialSuccess": [1]}', 0, None),
        (b'{"partialSuccess": {"rejectedSpans": "many"}}', 0, None),
        (b"\x0a\x00", 0, None),
    ],
)
def test_what_a_collector_rejects_is_said(
    done: Run,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    recwarn: pytest.WarningsRecorder,
    answer: bytes,
    rejected: int,
    why: str | None,
) -> None:
    monkeypatch.setattr(Collected, "answer", answer)
    sent = len(spans(write(source(done))))
    assert send(source(done), address, "key=a%20b") == sent - rejected
    told = [str(each.message) for each in recwarn if each.category is UserWarning]
    expected = f"--otel {address}: the collector rejected {rejected} of {sent} spans, saying: {why!r}"
    assert told == ([] if why is None else [expected])


def test_a_turn_with_which_the_conversation_was_compacted_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compacting.py").write_text(COMPACTING, "utf-8")
    found = spans(write(source(run("compacting.py", "2k", scenarios=["colours"], examples=1))))
    about = [values(span["attributes"]) for span in found if span["name"].startswith("invoke_agent")]
    answered = [each for each in about if each["ltm_bench.answered"] == "agent"]
    marks = ["gen_ai.conversation.compacted" in each for each in answered]
    assert marks == [number == 2 for number in range(len(answered))]
    assert len(marks) > 3
