"""Folds a run's log again by the verdicts that its results state: nothing is scored, and all else has to follow.

And plays the scripts against the log. They draw everything from the seed, and read replies. So with the logged replies
each script repeats the logged messages word for word, and expects what the log says was expected. A log with an easier
question or another answer matches no script.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, cast

from ltm_bench.core.errors import LogError, NotVerified
from ltm_bench.core.keys import REMOVED
from ltm_bench.core.messages import Ask, Line, Matcher, Outcome, Reply, Turn, Verdict
from ltm_bench.core.tokens import counter
from ltm_bench.export.stored import Place
from ltm_bench.log.controls import AskedAgain
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.manifest import Manifest
from ltm_bench.matchers.forms import dump
from ltm_bench.matchers.phrases import says
from ltm_bench.plan.planning import reference_examples
from ltm_bench.runner.recording import json_form
from ltm_bench.score.results.examples import BLIND, Question
from ltm_bench.score.results.files import RunFiles
from ltm_bench.score.results.fold import Fold, TurnListener
from ltm_bench.score.results.open_examples import AskedQuestion
from ltm_bench.script.scenario import Example
from ltm_bench.script.sealed import SealedReply


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


class Retold(NamedTuple):
    """The result of retelling a run's examples."""

    examples: int
    """Examples that match; 0 if their scenarios have changed, are unknown here, or read a user's files."""
    differing: Sequence[str]
    """A sentence for each example that differs."""


def retold(manifest: Manifest, log: Refolded) -> Retold:
    """Retell a run's examples."""
    examples = reference_examples(manifest)
    told, differing = 0, list[str]()
    for example in examples:
        if _reads_files(example):
            continue
        said = log.texts.messages.get(example.id, ())
        problem = _problem(example, said, ended=log.examples[example.id].ended is not None)
        # A script that hears a reply without its secret may go on otherwise, although nobody has changed the log.
        if problem is None:
            told += 1
        elif not any(REMOVED in each.replied.reply for each in said if each.replied and not each.forked):
            differing.append(problem)
    return Retold(told, differing)


def _reads_files(example: Example) -> bool:
    """Whether a script reads files named in the manifest: others must not choose which files are read here."""
    named = {**example.scenario.parameters, **example.parameters}
    return any(named.get(key) for key in ("data", "tasks"))


def _problem(example: Example, said: Sequence[LoggedMessage], *, ended: bool) -> str | None:
    """Return where a script first differs from the log; None if it does not."""
    script = example.script()
    reply: Reply | SealedReply | None = None
    for each in said:
        sent = each.sent
        where = f"{example.id} turn {sent.turn}"
        try:
            line = script.send(cast(Reply, reply))  # a fresh generator takes None
        except StopIteration:
            return f"{where}: its script never sends the logged message"
        except Exception as error:  # a script can raise anything on untrusted replies
            return f"{where}: its script fails with the logged replies: {error}"
        text = line.text if isinstance(line.text, str) else line.text(sent.at)
        if text != sent.message:
            return f"{where}: the log has {sent.message!r:.80}, seed {example.seed} gives {text!r:.80}"
        if _expects_otherwise(line, sent):
            return f"{where}: the log expects a different answer from the one that seed {example.seed} gives"
        if each.forked:
            reply = SealedReply(sent.at)
        elif each.replied is None:
            return None
        else:
            reply = replace(each.replied.said, at=sent.at)
    if ended and said:
        try:
            script.send(cast(Reply, reply))
        except StopIteration:
            return None
        except Exception as error:  # as above
            return f"{example.id}: its script fails with the logged replies: {error}"
        return f"{example.id}: its script sends more than is in the log"
    return None


def _expects_otherwise(line: Line, sent: Sent) -> bool:
    """Whether the log's matcher is not the script's; one of another version cannot be compared."""
    if not isinstance(line, Ask) or sent.expect is None:
        return isinstance(line, Ask) is not (sent.expect is not None)
    mine = json_form(dump(line.expect))
    alike = all(mine.get(key) == sent.expect.get(key) for key in ("matcher", "version"))
    return alike and mine != sent.expect
