"""Folds a run's log again by the verdicts that its results state: nothing is scored, and all else has to follow."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ltm_bench.core.errors import LogError, NotVerified
from ltm_bench.core.messages import Matcher, Outcome, Reply, Turn, Verdict
from ltm_bench.core.tokens import counter
from ltm_bench.export.scrub import REMOVED
from ltm_bench.export.stored import Place
from ltm_bench.log.controls import AskedAgain
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.manifest import Manifest
from ltm_bench.matchers.phrases import says
from ltm_bench.score.results.examples import BLIND, Question
from ltm_bench.score.results.files import RunFiles
from ltm_bench.score.results.fold import Fold, TurnListener
from ltm_bench.score.results.open_examples import AskedQuestion


class LoggedMessage(NamedTuple):
    """A message of an example in the log, and its reply."""

    sent: Sent
    replied: Replied | None
    """None if the agent did not answer."""
    forked: bool


class LoggedTexts(TurnListener):
    """What a log says of its examples; counts the tokens of every text again. Raises NotVerified."""

    def __init__(self, tokenizer: str) -> None:
        self.messages: defaultdict[str, list[LoggedMessage]] = defaultdict(list)
        """By example."""
        self.counted = 0
        """Texts with as many tokens as the log says."""
        self._count = counter(tokenizer).count
        self._where = ""

    def conversation(self, example: str | None) -> None:
        """Begin a conversation."""
        self._where = example or "events.jsonl"

    def turn(
        self, sent: Sent, replied: Replied | None, question: Question | None, *, forked: bool = False
    ) -> None:
        """Take a turn, or a forked question at its place."""
        if sent.example is not None or question is not None:
            self.messages[sent.example or ""].append(LoggedMessage(sent, replied, forked))
        self._recount(sent.message, sent)
        if replied is not None:
            self._recount(replied.reply, replied)

    def _recount(self, text: str, event: Sent | Replied) -> None:
        if REMOVED in text:
            return
        self.counted += 1
        if (tokens := self._count(text)) != event.tokens:
            raise NotVerified(
                f"{self._where}: the text of turn {event.turn} ({event.event}) has {tokens} tokens, "
                f"the log says {event.tokens}: it was changed"
            )


class _Files(RunFiles):
    """A run's files, as far as its verdicts are derived from them."""

    again: Mapping[str, AskedAgain] = MappingProxyType({})  # the same matchers score it again


class Refolded(Fold):
    """A run, folded again.

    Args:
        folder: The run folder.
        manifest: Its manifest.
        stated: The questions of its results.
    """

    def __init__(self, folder: Path, manifest: Manifest, stated: Mapping[Place, Question]) -> None:
        self._stated = stated
        self.texts = LoggedTexts(manifest.tokenizer)
        with _Files(folder, manifest) as files:
            super().__init__(files, listeners=(self.texts,))

    def _decide(self, asked: AskedQuestion) -> None:
        """Let judges and people decide; what a blind reader read was a matcher's to judge."""
        place = (asked.example, asked.question.turn or 0)
        asked.decide(self._heard.get(place), self._by_hand.get(place))

    def _expected(self, sent: Sent) -> Matcher:
        try:
            return super()._expected(sent)
        except LogError:
            return says("")  # of a user's own, not imported here: nothing that is compared depends on it

    def _scored(
        self, place: tuple[str, int], expect: Matcher, reply: Reply, turns: Sequence[Turn]
    ) -> tuple[Verdict, Verdict]:
        """Return the verdict that judges and people found when they decided."""
        question = self._stated.get(Place(*place))
        found = Verdict(Outcome.UNDECIDED, 0.0, "") if question is None else _undecided(question)
        return found, found


def _undecided(question: Question) -> Verdict:
    """Return a question's verdict as the matcher or a blind reader left it."""
    verdict, override = question.verdict, question.override
    if override is not None and question.overruled == BLIND:
        return Verdict(override.was, override.was_score, "")
    if question.matched in (None, question.outcome) or question.decided_by == BLIND:
        return verdict
    return replace(verdict, outcome=question.matched, score=0.0, reason=question.doubt)
