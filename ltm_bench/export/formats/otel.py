"""A run as OpenTelemetry spans, in OTLP's JSON form, by the GenAI conventions 0.1.0.

One trace for a run: a span for each conversation, within it one for each turn, and within that one for each operation
that was measured (writing, settling, retrieving, answering). A verdict is an event of its turn.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ltm_bench.core.keys import scrubbed
from ltm_bench.core.messages import Turn, Usage
from ltm_bench.export.source import Source, Timed
from ltm_bench.log.lines import records
from ltm_bench.report.text import visible
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.operations import read_operations

FILE = "otel.json"

CONVENTIONS = "semantic-conventions-genai 0.1.0"
"""The conventions that the names follow: https://github.com/open-telemetry/semantic-conventions-genai."""

_NAMES: Mapping[str, str | None] = {
    "write": "upsert_memory",
    "retrieve": "search_memory",
    "answer": "chat",
    "settle": None,
}
"""What the conventions call the operations; they have no word for waiting until a memory can be searched."""

_INTERNAL, _CLIENT = 1, 3
_ERROR = 2

Span = dict[str, Any]

_Operation = tuple[str, float, Sequence[Usage | None]]
"""Its name, its seconds, and the usage of its calls."""


def write(source: Source) -> bytes:
    """Return the trace as one request of OTLP."""
    return as_request(source, spans(source))


def as_request(source: Source, found: Iterable[Span]) -> bytes:
    """Return some of a run's spans as a request to a collector."""
    about = {
        "service.name": "ltm-bench",
        "service.version": source.manifest.version,
        "ltm_bench.run": source.results.run,
        "ltm_bench.conventions": CONVENTIONS,
    }
    scope = {"name": "ltm_bench", "version": source.manifest.version}
    content = {
        "resource": {"attributes": _attributes(about)},
        "scopeSpans": [{"scope": scope, "spans": list(found)}],
    }
    return json.dumps({"resourceSpans": [content]}).encode() + b"\n"


def spans(source: Source) -> Iterator[Span]:
    """Yield a run's spans, children before their conversation.

    What took how long is measured; when it began is not, so spans follow each other from the run's start.
    """
    began = source.started or source.manifest.suite.start
    (done, compacted), now = _measured(source), round(began.timestamp()) * 1_000_000_000
    asked = {(e.id, q.turn): q for e in source.results.examples for q in e.questions}
    trace, talk = _Trace(source), _Conversed("", now)
    for timed in source.turns():
        name = (timed.turn.example or "").replace("/", "-") if source.manifest.suite.isolated else ""
        if name != talk.name and talk.turns:
            yield trace.conversation(talk, now)
        if name != talk.name or not talk.turns:
            talk = _Conversed(name, now)
        talk.turns += 1
        place = (name, timed.turn.message.turn)
        made = trace.turn(timed, done.get(place, ()), asked, talk, now, compacted=place in compacted)
        now = int(made[-1]["endTimeUnixNano"])
        yield from made
    if talk.turns:
        yield trace.conversation(talk, now)


class _Conversed:
    """A conversation whose turns are being written."""

    def __init__(self, name: str, began: int) -> None:
        self.name, self.began, self.turns = name, began, 0


class _Trace:
    """Makes the spans of one run; equal runs get equal ids."""

    def __init__(self, source: Source) -> None:
        self._results = source.results
        self._id = self._digest("trace")[:32]

    def _digest(self, name: str) -> str:
        return sha256(
            f"{self._results.log}/{self._results.run}/{name}".encode("utf-8", "replace")
        ).hexdigest()

    def _span(self, name: str, place: str, inside: str | None, kind: int, began: int, ended: int) -> Span:
        return {
            "traceId": self._id,
            "spanId": self._digest(place)[:16],
            **({} if inside is None else {"parentSpanId": self._digest(inside)[:16]}),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(began),
            "endTimeUnixNano": str(ended),
        }

    def conversation(self, talk: _Conversed, ended: int) -> Span:
        """Return the span of a whole conversation."""
        about = {
            "gen_ai.conversation.id": f"{self._results.run}/{talk.name}".rstrip("/"),
            "gen_ai.agent.name": self._results.agent,
            "ltm_bench.suite": self._results.suite,
            "ltm_bench.span": self._results.span,
            "ltm_bench.seed": str(self._results.seed),
            "ltm_bench.score": self._results.score,
        }
        span = self._span("conversation", f"talk {talk.name}", None, _INTERNAL, talk.began, ended)
        return span | {"attributes": _attributes(about)}

    def turn(
        self,
        timed: Timed,
        operations: Sequence[_Operation],
        asked: Mapping[tuple[str, int | None], Question],
        talk: _Conversed,
        began: int,
        *,
        compacted: bool,
    ) -> list[Span]:
        """Return the spans of a turn's operations, and its own, which comes last."""
        turn, place = timed.turn, f"turn {talk.name} {timed.turn.message.turn}"
        ended, made = began, []
        for number, (name, seconds, usage) in enumerate(operations):
            called, start, ended = _NAMES[name], ended, ended + round(seconds * 1e9)
            kind = _INTERNAL if called is None else _CLIENT
            span = self._span(called or name, f"{place} {number}", place, kind, start, ended)
            known = [each for each in usage if each is not None]
            used = sum(known[1:], known[0]) if known else None
            about = {"gen_ai.operation.name": called, **(_usage(used) if used else {})}
            made.append(span | {"attributes": _attributes(about)})
        ended = max(ended, began + round((timed.seconds or 0.0) * 1e9))
        span = self._span(
            f"invoke_agent {self._results.agent}", place, f"talk {talk.name}", _INTERNAL, began, ended
        )
        span["attributes"] = _attributes(
            self._about(turn, talk) | {"gen_ai.conversation.compacted": compacted or None}
        )
        question = asked.get((turn.example or "", turn.message.turn)) if turn.kind == "ask" else None
        if question is not None:
            span["events"] = [_verdict(question, ended)]
            if question.outcome.infrastructure:
                span["status"] = {"code": _ERROR, "message": _text(question.reason)}
        return [*made, span]

    def _about(self, turn: Turn, talk: _Conversed) -> dict[str, Any]:
        reply, usage = turn.reply, turn.reply.usage
        said = [
            ("user", turn.message.text, {}),
            ("assistant", reply.text, {"finish_reason": reply.finish.value}),
        ]
        heard, answered = (
            json.dumps([{"role": role, "parts": [{"type": "text", "content": _text(text)}], **more}])
            for role, text, more in said
        )
        return {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self._results.agent,
            "gen_ai.conversation.id": f"{self._results.run}/{talk.name}".rstrip("/"),
            "gen_ai.input.messages": heard,
            "gen_ai.output.messages": answered,
            **({} if usage is None else _usage(usage)),
            "ltm_bench.turn": turn.message.turn,
            "ltm_bench.kind": turn.kind,
            "ltm_bench.example": turn.example,
            "ltm_bench.answered": turn.answered,
            "ltm_bench.forked": turn.forked,
            "ltm_bench.at": turn.message.at.isoformat(),
            "ltm_bench.user": turn.message.user,
        }


def _verdict(question: Question, at: int) -> dict[str, Any]:
    """Return the event that says what became of a reply."""
    about = {
        "gen_ai.evaluation.name": question.scorer,
        "gen_ai.evaluation.score.value": question.score,
        "gen_ai.evaluation.score.label": question.outcome.value,
        "gen_ai.evaluation.explanation": _text(question.reason),
        "ltm_bench.expected": _text(question.expected),
        "ltm_bench.decided_by": question.decided_by,
    }
    return {"timeUnixNano": str(at), "name": "gen_ai.evaluation.result", "attributes": _attributes(about)}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "gen_ai.provider.name": usage.provider,
        "gen_ai.request.model": usage.model,
        "gen_ai.usage.input_tokens": usage.prompt,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
    }


def _attributes(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return attributes in OTLP's form, without those that are unknown."""
    return [{"key": key, "value": _value(value)} for key, value in about.items() if value is not None]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": _text(str(value))}


def _text(text: str) -> str:
    """Return a text without keys and control characters."""
    return visible(scrubbed(text))


def _measured(source: Source) -> tuple[dict[tuple[str, int], list[_Operation]], set[tuple[str, int]]]:
    """Return the operations that the side file has, by conversation and turn, and the turns of compactions."""
    found: dict[tuple[str, int], list[_Operation]] = {}
    compacted = set[tuple[str, int]]()
    for record in records(source.folder / "timings.jsonl"):
        turn, place = record.get("turn"), record.get("conversation")
        if isinstance(turn, int):
            found.setdefault((str(place or ""), turn), []).extend(read_operations(record.get("operations")))
            if record.get("compacted") is True:
                compacted.add((str(place or ""), turn))
    return found, compacted
