"""The turns before a question: everything that a judge or a person needs to read its reply."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ltm_bench.core.clock import stamp
from ltm_bench.judge.rubric import Case, Earlier
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, read_events
from ltm_bench.score.results.examples import Question


class Told:
    """The turns of a run's examples, without filler."""

    def __init__(self, turns: Mapping[str, Mapping[int, Earlier]]) -> None:
        self._turns = turns

    def case(self, example: str, question: Question) -> Case:
        """Return a judge's case: the question, the turns before it, and the reply."""
        asked = question.turn or 0
        earlier = self._turns.get(example, {})
        return Case(
            question=question.text,
            expected=question.in_words or question.expected,
            reply=question.reply or "",
            told=tuple(turn for number, turn in earlier.items() if number < asked),
            at="" if question.at is None else stamp(question.at),
        )


def read_told(run: Path, manifest: Manifest) -> Told:
    """Read the turns of a run's examples from its log. Raises LogError.

    The agent's replies are kept only for questions and chats: its replies to needles are mere politeness. Of messages
    with buried needles, only the needles are kept.
    """
    turns: dict[str, dict[int, Earlier]] = {}
    for path in conversations(run, manifest):
        sent: Sent | None = None
        for event in read_events(path):
            if isinstance(event, Sent):
                sent = event
            elif isinstance(event, Replied) and sent is not None and sent.example is not None:
                text = sent.message if sent.buried is None else "\n".join(needle for needle, _ in sent.buried)
                said = "" if sent.kind == "tell" else event.reply
                turns.setdefault(sent.example, {})[event.turn] = Earlier(stamp(sent.at), text, said)
    return Told(turns)
