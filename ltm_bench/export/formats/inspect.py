"""An evaluation log of Inspect, in its JSON form (version 2)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ltm_bench.core.messages import Turn
from ltm_bench.export.source import Source
from ltm_bench.log.manifest import Manifest
from ltm_bench.report.text import visible
from ltm_bench.score.results import ExampleResult, Results

FILE = "inspect.json"


def write(source: Source) -> bytes:
    """Return a log with a sample for every example, and one for the whole conversation, which has no score of its own.

    A sample has the turns of its example and its score. Inspect's mean over samples is a mean over examples; the
    headline of ltm-bench is in the log's metadata.
    """
    results, manifest = source.results, source.manifest
    by_example: dict[str, list[Turn]] = {}
    everything: list[Turn] = []
    for turn in source.turns():
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
    created = (source.started or manifest.suite.start).isoformat()
    whole = {
        "id": "conversation",
        "epoch": 1,
        "input": "The whole conversation, with the turns of all examples.",
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
