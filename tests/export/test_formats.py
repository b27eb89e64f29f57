"""Every format says what the results say, whatever the agent said."""

import csv
import io
import json
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Outcome
from ltm_bench.export.formats import format_named, known
from ltm_bench.export.source import Source, source_of
from ltm_bench.score.results.hearing import Heard
from ltm_bench.score.results.retrieval import Retrieval
from ltm_bench.score.results.run import Results

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.made import Made

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

METER = """
from ltm_bench import Agent, Message, Reply, Usage

class Meter(Agent):
    async def reply(self, message: Message) -> Reply:
        usage = Usage(uncached=100, cache_read=message.turn, output=3, model="gpt-4o", provider="openai")
        return Reply("Noted.", usage)
"""

REPLIES = (
    "=1+1",
    "<script>&",
    "\x00\x1b[2J",
    "\ud800",
    "",
    "-5",
    "\u202eabc",
    "a\r\nb",
    '"quoted", and more',
    "@x",
    "你",
)
ANSWERED = (Outcome.CORRECT, Outcome.WRONG, Outcome.PARTIAL)
UNANSWERED = (Outcome.NOT_REACHED, Outcome.AGENT_ERROR, Outcome.JUDGE_ERROR)


@pytest.fixture
def source(made: "Made", tmp_path: Path) -> Source:
    """Results with every kind of outcome, whose replies could break a format."""
    examples = []
    for scenario in ("colours", "jokes"):
        for i, reply in enumerate(REPLIES):
            outcome = ANSWERED[i % len(ANSWERED)]
            examples.append(made.example(f"{scenario}/{i}", outcome, i, 9_000, reply=reply))
        for i, outcome in enumerate(UNANSWERED, start=len(REPLIES)):
            examples.append(made.example(f"{scenario}/{i}", outcome, i, 9_000))
    results = made.results(examples)
    return Source(tmp_path, results, made.manifest(results), None)


@pytest.fixture
def real(hostile_run: Path) -> Source:
    """A real run."""
    results = Results.model_validate(json.loads((hostile_run / "results.json").read_bytes()))
    return source_of(hostile_run, results)


@pytest.mark.parametrize("name", known())
def test_every_format_says_what_it_is_and_writes_any_run(name: str, source: Source, real: Source) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    chosen = format_named(name)
    assert chosen.name == name
    assert Path(chosen.file).suffix
    assert len(known()[name]) >= 20
    assert chosen.write(real)
    if name not in ("inspect", "otel"):  # these read the turns, which made-up results lack
        assert chosen.write(source)


def test_an_unknown_format_is_named_with_its_neighbour() -> None:
    with pytest.raises(ConfigError, match="--format junid: unknown; did you mean 'junit'\\?"):
        format_named("junid")


def test_csv_has_a_row_for_every_question_and_no_formula(source: Source) -> None:
    text = format_named("csv").write(source).decode()
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(row["example"], row["outcome"]) for row in found] == [
        (example.id, outcome) for example in source.results.examples for outcome in example.outcomes
    ]
    cells = [cell for row in found for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_json_lines_keep_every_reply_unchanged(source: Source) -> None:
    lines = format_named("jsonl").write(source).splitlines()
    said = [question.reply for example in source.results.examples for question in example.questions]
    assert [json.loads(line)["reply"] for line in lines] == said
    assert "\ud800" in said


def test_parquet_is_read_back(real: Source) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    found = parquet.read_table(io.BytesIO(format_named("parquet").write(real))).to_pylist()
    questions = [question for example in real.results.examples for question in example.questions]
    assert [row["score"] for row in found] == [question.score for question in questions]
    assert any(row["needles"] and min(row["needles"]) > 0 for row in found)


def test_tables_hold_what_the_page_shows_of_a_question_and_of_its_run(made: "Made", tmp_path: Path) -> None:
    used = {"uncached": 30, "cache_read": 70, "cache_write": 0, "output": 9, "reasoning": 0}
    where = Retrieval(needles=3, stored=2, retrieved=1)
    more = {"usage": used, "dollars": 0.02, "seconds": 1.5, "retrieval": where}
    examples = [made.example(f"colours/{i}", Outcome.WRONG, i, 9_000, **more) for i in range(5)]
    results = made.results(examples, environment={"tags": {"branch": "x"}}, heard=Heard(asked=7, observed=1))
    found = Source(tmp_path, results, made.manifest(results), None)
    row = json.loads(format_named("jsonl").write(found).splitlines()[0])
    expected = {
        "skills": ["conflict", "recall"], "tags": ["branch=x"], "stored": 2, "retrieved": 1, "lost": "not stored",
        "tokens_in": 100, "tokens_cached": 70, "tokens_out": 9, "dollars": 0.02, "seconds": 1.5,
        "distance": 2670, "bin_low": 2670, "bin_high": 2670, "run_heard": 8, "run_dollars": 9.1213,
        "run_latency_median": 1.84, "run_latency_p99": 7.9, "run_latency_longest": 8.3,
        "run_verdict": results.verdict, "run_tokens_in": 6_252_000,
    }  # fmt: skip
    assert {key: row[key] for key in expected} == expected
    [header, first, *_] = csv.reader(io.StringIO(format_named("csv").write(found).decode(), newline=""))
    assert header == list(row)
    assert dict(zip(header, first, strict=True))["skills"] == "conflict recall"
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(format_named("parquet").write(found)))
    assert table.column_names == header
    assert table.to_pylist()[0] == row


def test_junit_tells_failures_errors_and_skipped_cases_apart(source: Source) -> None:
    root = ElementTree.fromstring(format_named("junit").write(source))
    assert [suite.get("name") for suite in root] == ["colours", "jokes"]
    counts = source.results.outcomes
    for element, attribute, outcomes in (
        ("failure", "failures", (Outcome.WRONG, Outcome.PARTIAL)),
        ("error", "errors", (Outcome.AGENT_ERROR, Outcome.JUDGE_ERROR)),
        ("skipped", "skipped", (Outcome.NOT_REACHED,)),
    ):
        expected = sum(counts[outcome] for outcome in outcomes)
        assert len(root.findall(f".//{element}")) == expected > 0
        assert sum(int(suite.get(attribute, 0)) for suite in root) == expected
    assert len(root.findall(".//testcase")) == sum(counts.values())


def test_inspects_log_has_one_sample_for_every_example(real: Source) -> None:
    log = json.loads(format_named("inspect").write(real))
    assert (log["version"], log["status"]) == (2, "success")
    examples = real.results.examples
    assert [sample["id"] for sample in log["samples"]] == [e.id for e in examples]
    assert log["eval"]["dataset"]["samples"] == log["results"]["total_samples"] == len(examples)
    for sample in log["samples"]:
        assert {m["metadata"]["example"] for m in sample["messages"] if m["role"] == "user"} == {sample["id"]}
        calls = [event for event in sample["events"] if event["event"] == "model"]
        assert len(sample["messages"]) == 2 * len(calls)
        assert sample["started_at"] <= sample["completed_at"]
        assert 0 < sample["working_time"] <= sample["total_time"] + 1e-9
        assert sample["events"][-1]["event"] == "score"
    scores = [e.score or 0.0 for e in examples]
    metrics = log["results"]["scores"][0]["metrics"]
    assert metrics["mean"]["value"] == pytest.approx(mean(scores))
    assert metrics["stderr"]["value"] == pytest.approx(stdev(scores) / len(scores) ** 0.5)


def test_inspects_samples_hold_usage_and_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "meter.py").write_text(METER, "utf-8")
    run = ("run", "--span", "2k", "--agent", "meter", "--scenario", "colours", "--name", "r", "--isolated")
    assert command(*run).exit_code == 0
    folder = tmp_path / "reports" / "r"
    results = Results.model_validate(json.loads((folder / "results.json").read_bytes()))
    log = json.loads(format_named("inspect").write(source_of(folder, results)))
    of_samples = [sample["model_usage"]["gpt-4o"] for sample in log["samples"]]
    whole = log["stats"]["model_usage"]["gpt-4o"]
    assert sum(each["total_tokens"] for each in of_samples) == whole["total_tokens"] > 0
    events = [event for sample in log["samples"] for event in sample["events"] if event["event"] == "model"]
    costs = sum(event["output"]["usage"]["total_cost"] for event in events)
    assert costs == pytest.approx(results.costs.dollars, abs=1e-6)
    assert whole["total_cost"] == pytest.approx(costs, abs=1e-6)


def test_inspects_own_reader_opens_the_log(real: Source, tmp_path: Path) -> None:
    reader = pytest.importorskip("inspect_ai.log")
    name = "2026-11-22T10-00-00_colours_1.json"  # which lists only files with names like its own
    (tmp_path / name).write_bytes(format_named("inspect").write(real))
    log = reader.read_eval_log(str(tmp_path / name))
    assert log.status == "success"
    assert [sample.id for sample in log.samples] == [example.id for example in real.results.examples]
    scores = [sample.scores["ltm_bench"].value for sample in log.samples]
    assert scores == [example.score for example in real.results.examples]
    assert all(sample.events[0].event == "model" and sample.total_time > 0 for sample in log.samples)
    assert set(log.results.scores[0].metrics) == {"mean", "stderr"}
    # What its viewer needs: the log is listed, its header reads separately, and it can be rewritten in Inspect's form.
    assert [Path(each.name).name for each in reader.list_eval_logs(str(tmp_path))] == [name]
    assert reader.read_eval_log(str(tmp_path / name), header_only=True).eval.model == log.eval.model
    reader.write_eval_log(log, str(tmp_path / "x.eval"))
    again = reader.read_eval_log(str(tmp_path / "x.eval"))
    assert [sample.scores["ltm_bench"].value for sample in again.samples] == scores
