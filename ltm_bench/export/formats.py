"""Results in forms that other programs read: CSV, JSON lines, Parquet, JUnit, and Inspect's log.

One row, and one test case, is one question. What agents said is text in all of them: what XML cannot hold is spelled
out, and in CSV a cell that a spreadsheet would take for a formula begins with an apostrophe.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ltm_bench.core.extras import extra
from ltm_bench.core.messages import Outcome, Turn
from ltm_bench.log.journal import begun_at
from ltm_bench.log.lines import to_line
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.report.page import visible
from ltm_bench.score.results import ExampleResult, Question, Results

Row = Mapping[str, Any]


def rows(results: Results) -> Iterator[Row]:
    """Give one flat row for every question; `needles` is a list of depths in tokens, times are ISO 8601."""
    for example in results.examples:
        for number, question in enumerate(example.questions):
            yield {
                "run": results.run,
                "agent": results.agent,
                "suite": results.suite,
                "span": results.span,
                "seed": results.seed,
                "scenario": example.scenario,
                "example": example.id,
                "number": number,
                "turn": question.turn,
                "position": question.position,
                "at": None if question.at is None else question.at.isoformat(),
                "needles": [needle.depth for needle in example.needles],
                "question": question.text,
                "expected": question.expected,
                "reply": question.reply,
                "outcome": question.outcome.value,
                "score": question.score,
                "example_score": example.score,
                "reason": question.reason,
                "scorer": question.scorer,
                "chance": question.chance,
            }


def as_csv(run: Path, results: Results) -> bytes:
    """Return a table with a head line, in UTF-8."""
    text = io.StringIO(newline="")
    found = list(rows(results))
    writer = csv.DictWriter(text, list(found[0]) if found else [])
    writer.writeheader()
    for row in found:
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return (
        f"'{value}"
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        else value
    )


def as_jsonl(run: Path, results: Results) -> bytes:
    """Return a JSON object a line."""
    return b"".join(to_line(row) for row in rows(results))


def as_parquet(run: Path, results: Results) -> bytes:
    """Return a Parquet file. Raises ConfigError where pyarrow is not installed."""
    with extra("parquet", wanted_by="--format parquet"):
        import pyarrow
        import pyarrow.parquet
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in _COLUMNS.items()])
    schema = schema.append(pyarrow.field("needles", pyarrow.list_(pyarrow.int64())))
    found = [
        {key: visible(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows(results)
    ]
    target = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(found, schema), target)
    return target.getvalue()


_COLUMNS = {
    **dict.fromkeys(("run", "agent", "suite", "scenario", "example"), "string"),
    **dict.fromkeys(("span", "seed", "number", "turn", "position"), "int64"),
    **dict.fromkeys(("at", "question", "expected", "reply", "outcome", "reason", "scorer"), "string"),
    **dict.fromkeys(("score", "example_score", "chance"), "float64"),
}


def as_junit(run: Path, results: Results) -> bytes:
    """Return JUnit's XML: a suite for every scenario, a case for every question, a failure for what is not all right.

    What the agent is not to blame for is an error, a question that was not reached is skipped.
    """
    root = ElementTree.Element("testsuites", name=visible(results.run))
    for scenario in results.scenarios:
        suite = ElementTree.SubElement(root, "testsuite", name=visible(scenario.name))
        counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
        for example in results.examples:
            if example.scenario != scenario.name:
                continue
            for number, question in enumerate(example.questions):
                counts["tests"] += 1
                name = example.id if len(example.questions) == 1 else f"{example.id}, question {number + 1}"
                case = ElementTree.SubElement(
                    suite, "testcase", classname=visible(f"{results.run}.{scenario.name}"), name=visible(name)
                )
                if (what := _failing(question)) is None:
                    continue
                counts[what[1]] += 1
                element = ElementTree.SubElement(case, what[0])
                element.set("message", visible(f"{question.outcome}: {question.reason}"))
                element.text = visible(
                    f"question: {question.text}\nexpected: {question.expected}\nreply: {question.reply}"
                )
        for key, count in counts.items():
            suite.set(key, str(count))
    ElementTree.indent(root, " ")
    document: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return document + b"\n"


def _failing(question: Question) -> tuple[str, str] | None:
    """Return the element and the count of a question that is not all right."""
    if question.outcome is Outcome.NOT_REACHED:
        return "skipped", "skipped"
    if question.outcome.infrastructure:
        return "error", "errors"
    return None if question.score == 1 else ("failure", "failures")


def as_inspect(run: Path, results: Results) -> bytes:
    """Return a log that Inspect reads (its JSON form, version 2).

    A sample for every example, with its own turns and its score, and at last the whole conversation, which has no
    score of its own. Inspect's mean over samples is a mean over examples; our headline is in the log's metadata.
    """
    manifest = read_manifest(run)
    by_example: dict[str, list[Turn]] = {}
    everything: list[Turn] = []
    for path in conversations(run):
        for turn in read_turns(path):
            everything.append(turn)
            if turn.example is not None:
                by_example.setdefault(turn.example, []).append(turn)
    model = f"ltm-bench/{results.agent}"
    samples = [_sample(example, by_example.get(example.id, []), model) for example in results.examples]
    known = [example.score for example in results.examples if example.score is not None]
    scored = {
        "name": "ltm_bench",
        "scorer": "ltm_bench",
        "params": {},
        "scored_samples": len(known),
        "unscored_samples": len(samples) - len(known),
        "metrics": {"mean": {"name": "mean", "value": sum(known) / len(known), "params": {}}}
        if known
        else {},
    }
    created = _created(run)
    whole = {
        "id": "conversation",
        "epoch": 1,
        "input": "The whole conversation, in which all examples were held.",
        "target": "",
        "messages": _messages(everything),
        "output": {"model": model, "choices": []},
        "scores": {},
        "metadata": {"turns": results.turns, "tokens": results.tokens},
    }
    log = {
        "version": 2,
        "status": "success" if results.complete else "cancelled",
        "eval": {
            "created": created,
            "task": f"ltm_bench/{results.suite}",
            "task_id": results.run,
            "run_id": results.run,
            "eval_id": results.run,
            "dataset": {
                "name": results.suite,
                "samples": len(samples) + 1,
                "sample_ids": [sample["id"] for sample in (*samples, whole)],
            },
            "model": model,
            "task_args": {"span": results.span, "seed": results.seed},
            "config": {},
            "packages": {"ltm-bench": manifest.version},
            "metadata": {"manifest": manifest.model_dump(mode="json")},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples) + 1,
            "completed_samples": len(known) + 1,
            "scores": [scored],
            "metadata": {
                "score": results.score,
                "score_so_far": results.score_so_far,
                "out_of": results.out_of,
                "interval": None if results.interval is None else results.interval.model_dump(),
            },
        },
        "stats": {"started_at": created, "completed_at": created, "model_usage": _usage(results, manifest)},
        "samples": [*samples, whole],
    }
    return json.dumps(log, indent=1).encode() + b"\n"


def _created(run: Path) -> str:
    """Return when a run was first started; the benchmark's own time where nobody wrote it down."""
    started = begun_at(run)
    return (read_manifest(run).suite.start if started is None else started).isoformat()


def _messages(turns: Iterable[Turn]) -> list[dict[str, Any]]:
    return [
        message
        for turn in turns
        for message in (
            {"role": "user", "content": visible(turn.message.text), "metadata": _about(turn)},
            {"role": "assistant", "content": visible(turn.reply.text), "source": "generate"},
        )
    ]


def _about(turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.message.turn,
        "kind": turn.kind,
        "example": turn.example,
        "at": turn.message.at.isoformat(),
    }


_STOPS = {"stop": "stop", "length": "max_tokens", "refusal": "content_filter", "overflow": "model_length"}


def _sample(example: ExampleResult, turns: Sequence[Turn], model: str) -> dict[str, Any]:
    asked = [turn for turn in turns if turn.kind == "ask"]
    choices = [
        {
            "message": {"role": "assistant", "content": visible(turn.reply.text), "source": "generate"},
            "stop_reason": _STOPS[turn.reply.finish.value],
        }
        for turn in asked[-1:]
    ]
    last = example.questions[-1]
    score = {
        "value": example.score,
        "answer": None if last.reply is None else visible(last.reply),
        "explanation": visible("\n".join(f"{q.outcome}: {q.reason}" for q in example.questions)),
        "metadata": {"outcomes": [q.outcome.value for q in example.questions], "scorer": last.scorer},
    }
    return {
        "id": example.id,
        "epoch": 1,
        "input": visible("\n\n".join(q.text for q in example.questions)),
        "target": [visible(q.expected) for q in example.questions],
        "messages": _messages(turns),
        "output": {"model": model, "choices": choices},
        "scores": {} if example.score is None else {"ltm_bench": score},
        "metadata": {
            "scenario": example.scenario,
            "span": example.span,
            "needles": [{"depth": n.depth, "at": n.at.isoformat()} for n in example.needles],
        },
    }


def _usage(results: Results, manifest: Manifest) -> dict[str, Any]:
    usage = results.costs.usage
    if not usage:
        return {}
    tokens = {
        "input_tokens": usage.get("uncached", 0),
        "input_tokens_cache_read": usage.get("cache_read", 0),
        "input_tokens_cache_write": usage.get("cache_write", 0),
        "output_tokens": usage.get("output", 0),
        "reasoning_tokens": usage.get("reasoning", 0),
    }
    whole = sum(count for key, count in tokens.items() if key != "reasoning_tokens")
    return {manifest.agent.name: tokens | {"total_tokens": whole}}


FORMATS: Mapping[str, tuple[Callable[[Path, Results], bytes], str]] = {
    "csv": (as_csv, "export.csv"),
    "jsonl": (as_jsonl, "export.jsonl"),
    "parquet": (as_parquet, "export.parquet"),
    "junit": (as_junit, "junit.xml"),
    "inspect": (as_inspect, "inspect.json"),
}
"""How each format is made, and what its file is called by default."""
