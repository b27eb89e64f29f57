"""The turns before a question: everything that a judge or a person needs to read its reply."""

from ltm_bench.core.clock import stamp
from ltm_bench.judge.rubric import Case, Earlier
from ltm_bench.log.events import Replied, Sent
from ltm_bench.score.audits.forms import FOR_JUDGES
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.fold import TurnListener


class Background(TurnListener):
    """The turns of a run's examples, without filler. It listens while the log is read.

    The agent's replies are kept only for questions and chats: its replies to needles are mere politeness. Of messages
    with buried needles, only the needles are kept.
    """

    def __init__(self) -> None:
        self._turns: dict[str, dict[int, Earlier]] = {}

    def turn(
        self, sent: Sent, replied: Replied | None, question: Question | None, *, forked: bool = False
    ) -> None:
        """Keep a turn of an example, if it was answered; a forked question is no part of the conversation."""
        if replied is not None and sent.example is not None and not forked:
            text = sent.message if sent.buried is None else "\n".join(needle for needle, _ in sent.buried)
            said = "" if sent.kind == "tell" else replied.reply
            self._turns.setdefault(sent.example, {})[sent.turn] = Earlier(stamp(sent.at), text, said)

    def case(self, example: str, question: Question) -> Case:
        """Return a judge's case: the question, the turns before it, and the reply or, of it, what a reader copied."""
        asked = question.turn or 0
        earlier = self._turns.get(example, {})
        read = question.reading
        alone = read.span if read is not None and read.form in FOR_JUDGES else ""
        return Case(
            question=question.text,
            expected=question.in_words or question.expected,
            reply=alone or question.reply or "",
            told=tuple(turn for number, turn in earlier.items() if number < asked),
            at="" if question.at is None else stamp(question.at),
        )
