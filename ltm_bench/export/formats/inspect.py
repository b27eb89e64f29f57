"""An evaluation log of Inspect, in its JSON form (version 2).

Inspect's viewer opens it under any name, but a folder's list shows only names like its own logs', with a time first:
`2026-11-22T10-00-00_colours_1.json`.
"""

import json
import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from ltm_bench.core.messages import Turn, Usage
from ltm_bench.export.source import Source
from ltm_bench.report.text import visible
from ltm_bench.score.results.accounts import Account
from ltm_bench.score.results.examples import ExampleResult, as_json
from ltm_bench.score.results.run import Results

FILE = "inspect.json"


class _Call(NamedTuple):
    """A turn of an example, as Inspect's model event shows it."""

    turn: Turn
    began: float
    """Seconds that all replies before it had taken."""
    seconds: float
    """What its own took; 0 if a script replied."""
    dollars: Decimal | None
    """What its own cost; None if unknown."""


class _Frame(NamedTuple):
    """The fields shared by all samples of a log."""

    model: str
    started: datetime

    def at(self, seconds: float) -> str:
        return (self.started + timedelta(seconds=seconds)).isoformat()


def write(source: Source) -> bytes:
    """Return a log with a sample for every example.

    A sample has its example's turns, as messages and as events, their usage, and its score. Filler belongs to no
    example. Timestamps are the start of the run plus the time of all replies so far: nothing else is recorded.
    Inspect's mean over samples is a mean over examples; the headline of ltm-bench is in the log's metadata.
    """
    results, manifest = source.results, source.manifest
    frame = _Frame(f"ltm-bench/{results.agent}", source.started or manifest.suite.start)
    by_example: dict[str, list[_Call]] = {}
    passed = 0.0
    for turn, seconds, price in source.turns():
        if turn.example is not None:
            by_example.setdefault(turn.example, []).append(_Call(turn, passed, seconds or 0.0, price))
        passed += seconds or 0.0
    samples = [_sample(example, by_example.get(example.id, []), frame) for example in results.examples]
    log = {
        "version": 2,
        "status": "success" if results.complete else "cancelled",
        "eval": {
            "created": frame.at(0.0),
            "task": f"ltm_bench/{results.suite}",
            "task_id": results.run,
            "run_id": results.run,
            "eval_id": results.run,
            "dataset": {
                "name": results.suite,
                "samples": len(samples),
                "sample_ids": [sample["id"] for sample in samples],
            },
            "model": frame.model,
            "task_args": {"span": results.span, "seed": results.seed},
            "tags": [f"{key}={value}" for key, value in results.tags.items()],
            "config": {},
            "packages": {"ltm-bench": manifest.version},
            "metadata": {"manifest": manifest.model_dump(mode="json")},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": _results(results),
        "stats": {
            "started_at": frame.at(0.0),
            "completed_at": frame.at(passed),
            "model_usage": _model_usage(results, frame.model),
        },
        "samples": samples,
    }
    return json.dumps(log, indent=1).encode() + b"\n"


def _results(results: Results) -> dict[str, Any]:
    known = [example.score for example in results.examples if example.score is not None]
    metrics = {}
    if known:
        mean = sum(known) / len(known)
        metrics["mean"] = mean
        if len(known) > 1:
            metrics["stderr"] = math.sqrt(sum((s - mean) ** 2 for s in known) / (len(known) - 1) / len(known))
    scored = {
        "name": "ltm_bench",
        "scorer": "ltm_bench",
        "params": {},
        "scored_samples": len(known),
        "unscored_samples": len(results.examples) - len(known),
        "metrics": {name: {"name": name, "value": value, "params": {}} for name, value in metrics.items()},
    }
    return {
        "total_samples": len(results.examples),
        "completed_samples": len(known),
        "scores": [scored],
        "metadata": {
            "score": results.score,
            "score_so_far": results.score_so_far,
            "extremes": results.extremes,
            "decided_by": results.decided_by,
            "out_of": results.out_of,
            "interval": None if results.interval is None else results.interval.model_dump(),
            "verdict": results.verdict,
        },
    }


_STOPS = {"stop": "stop", "length": "max_tokens", "refusal": "content_filter", "overflow": "model_length"}


def _sample(example: ExampleResult, calls: Sequence[_Call], frame: _Frame) -> dict[str, Any]:
    asked = [call for call in calls if call.turn.kind == "ask"]
    last = example.questions[-1]
    target = [visible(q.expected) for q in example.questions]
    score = {
        "value": example.score,
        "answer": None if last.reply is None else visible(last.reply),
        "explanation": visible("\n".join(f"{q.outcome}: {q.reason}" for q in example.questions)),
        "metadata": {
            "outcomes": [q.outcome.value for q in example.questions],
            "verdicts": [as_json(q, {"verdict"}) for q in example.questions],
            "scorer": last.scorer,
        },
    }
    events = [_model_event(call, frame) for call in calls]
    sample: dict[str, Any] = {
        "id": example.id,
        "epoch": 1,
        "input": visible("\n\n".join(q.text for q in example.questions)),
        "target": target,
        "messages": [message for call in calls for message in _messages(call.turn)],
        "output": _output(asked[-1], frame) if asked else {"model": frame.model, "choices": []},
        "scores": {},
        "events": events,
        "model_usage": _summed(calls, frame.model),
        "metadata": {
            "scenario": example.scenario,
            "span": example.span,
            "overrun": example.overrun,
            "needles": [{"depth": n.depth, "at": n.at.isoformat()} for n in example.needles],
        },
    }
    if calls:
        end = calls[-1].began + calls[-1].seconds
        sample |= {
            "started_at": frame.at(calls[0].began),
            "completed_at": frame.at(end),
            "total_time": end - calls[0].began,
            "working_time": sum(call.seconds for call in calls),
        }
        if example.score is not None:
            event = {"event": "score", "score": score, "target": target}
            sample["events"] = [*events, event | {"timestamp": frame.at(end), "working_start": end}]
    if example.score is not None:
        sample["scores"] = {"ltm_bench": score}
    return sample


def _messages(turn: Turn) -> list[dict[str, Any]]:
    about = {
        "turn": turn.message.turn,
        "kind": turn.kind,
        "example": turn.example,
        "at": turn.message.at.isoformat(),
    }
    return [
        {"role": "user", "content": visible(turn.message.text), "metadata": about},
        {"role": "assistant", "content": visible(turn.reply.text), "source": "generate"},
    ]


def _model_event(call: _Call, frame: _Frame) -> dict[str, Any]:
    """Return an event with the new message only: what else the model read is up to the agent."""
    return {
        "event": "model",
        "timestamp": frame.at(call.began),
        "completed": frame.at(call.began + call.seconds),
        "working_start": call.began,
        "working_time": call.seconds,
        "model": frame.model,
        "input": _messages(call.turn)[:1],
        "tools": [],
        "tool_choice": "none",
        "config": {},
        "output": _output(call, frame),
    }


def _output(call: _Call, frame: _Frame) -> dict[str, Any]:
    reply = call.turn.reply
    choice = {"message": _messages(call.turn)[1], "stop_reason": _STOPS[reply.finish.value]}
    output: dict[str, Any] = {"model": frame.model, "choices": [choice], "completion": visible(reply.text)}
    if reply.usage is not None:
        price = {} if call.dollars is None else {"total_cost": float(call.dollars)}
        output["usage"] = _tokens(reply.usage) | price
    return output | {"time": call.seconds}


def _summed(calls: Iterable[_Call], model: str) -> dict[str, Any]:
    """Add up what the replies of a sample used, by model; those beside the agent's own too."""
    sums: dict[str, Usage] = {}
    for call in calls:
        usage = call.turn.reply.usage
        for each in () if usage is None else (usage, *usage.besides):
            name = each.model or model
            sums[name] = sums[name] + each if name in sums else each
    return {name: _tokens(each) for name, each in sums.items()}


def _model_usage(results: Results, model: str) -> dict[str, Any]:
    """Return what the run used by model; a judge's account has the judge's name before it."""
    return {
        f"{account.purpose}/{account.model or model}"
        if account.purpose != "agent"
        else account.model or model: (
            _tokens(account) | ({} if account.dollars is None else {"total_cost": account.dollars})
        )
        for account in results.costs.accounts
        if account.unknown < account.calls
    }


def _tokens(usage: Usage | Account) -> dict[str, int]:
    return {
        "input_tokens": usage.uncached,
        "input_tokens_cache_read": usage.cache_read,
        "input_tokens_cache_write": usage.cache_write,
        "output_tokens": usage.output,
        "reasoning_tokens": usage.reasoning,
        "total_tokens": usage.uncached + usage.cache_read + usage.cache_write + usage.output,
    }
