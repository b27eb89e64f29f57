"""The prompt of a judge, and the parser of its answer. Pure text, identified by its hash.

The agent's reply is untrusted: it is passed as a JSON string, so that nothing in it can pose as the rubric.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Outcome
from ltm_bench.judge.texts import TEXTS

TEXT: str = TEXTS["judge"]["text"]

MEANINGS = {
    "right": Outcome.CORRECT,
    "outdated": Outcome.STALE,
    "wrong": Outcome.WRONG,
    "no answer": Outcome.ABSTAINED,
}
"""The verdicts that a judge may give, and their outcomes."""

READ = 20_000
"""Maximum characters of a reply shown to a judge."""


MOST_TOLD = 12_000
"""Maximum characters of earlier turns shown to a judge."""

LEAST_TOLD = 300
"""Characters of each earlier message that are always shown."""


@dataclass(frozen=True)
class Earlier:
    """A turn that bears on a question."""

    at: str
    """Benchmark time, e.g. `2026-01-05 09:00`; empty if unknown."""
    user: str
    agent: str = ""
    """The agent's reply, if it matters."""


@dataclass(frozen=True)
class Case:
    """A question and a reply for a judge to decide on. It does not reveal the matcher's verdict."""

    question: str
    expected: str
    """A right reply, or what a right reply must say."""
    reply: str
    told: tuple[Earlier, ...] = ()
    at: str = ""
    """When the question was asked, in benchmark time."""


def digest() -> str:
    """Return the first 16 hex digits of the rubric's SHA-256."""
    return hashlib.sha256(TEXT.encode()).hexdigest()[:16]


def prompt(case: Case) -> str:
    """Return the complete message to a judge."""
    each = max(LEAST_TOLD, MOST_TOLD // max(1, len(case.told)))
    content = {
        "told": [
            {
                name: shortened(text, each)
                for name, text in (("at", turn.at), ("user", turn.user), ("agent", turn.agent))
                if text
            }
            for turn in case.told
        ],
        "asked at": case.at,
        "question": case.question,
        "right": case.expected,
        "reply": case.reply[:READ],
    }
    return f"{TEXT}\n{json.dumps(content, indent=1, ensure_ascii=True)}\n"


def shortened(text: str, most: int) -> str:
    """Return a text without its middle, if it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most // 2]} […] {text[-(most // 2) :]}"


def object_alone(answer: str) -> dict[str, Any] | None:
    """Read an answer that is one JSON object, alone or in one fence; None if it is anything else."""
    text = answer.strip()
    if text.startswith("```") and text.endswith("```") and len(text) > 6:
        text = text.removesuffix("```").partition("\n")[2].strip()
    try:
        json_of(text)  # it is within the limits
        content: Any = json.loads(text, object_pairs_hook=_each_key_once)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _each_key_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice: which of the two is meant?")
    return found


def read(answer: str) -> tuple[Outcome, str] | None:
    """Read a judge's answer: outcome and reason, or None if unreadable."""
    content = object_alone(answer)
    if content is None:
        return None
    verdict, reason = content.get("verdict"), content.get("reason", "")
    if not isinstance(verdict, str) or verdict not in MEANINGS or not isinstance(reason, str):
        return None
    return MEANINGS[verdict], reason[:500]
