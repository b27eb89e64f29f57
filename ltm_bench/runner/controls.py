"""What is asked again of a run, in its controls and on the rungs of its ladder, and in which conversations.

What is said comes from the run's log. Each conversation has a fresh agent.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

from ltm_bench.core.errors import CannotCombine, ReplayDiverged
from ltm_bench.core.messages import Ask, Chat, Kind, Line, Message, Reply, Tell, Turn
from ltm_bench.log.controls import RUNGS, Scope, again_of, write_scope
from ltm_bench.log.events import Forked, Replied, Sent
from ltm_bench.log.forks import answers_in
from ltm_bench.log.reader import conversations, is_finished, read_events, read_manifest
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.rungs import Rung, in_hand, is_missed, rungs_of
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.script.rehearsal import holding, ideal_reply, rehearse
from ltm_bench.script.scenario import Example
from ltm_bench.script.sealed import SealedReply


class LoggedLine(NamedTuple):
    """A message of an example, as the log has it."""

    sent: Sent
    line: Line
    """What the script yielded."""
    reply: Reply


class Before(NamedTuple):
    """What a fresh agent is told first: a log, up to the question's turn."""

    log: Path
    lines: dict[int, Line]
    """The lines of its scripts, by turn."""


class AskedTalk(NamedTuple):
    """A conversation that asks questions again."""

    name: str
    example: Example
    said: Sequence[LoggedLine]
    """What is said in it. Replies count where a script acknowledges."""
    before: Before | None = None
    """None if nothing is told first."""
    frozen: Callable[[], Awaitable[Reply]] | None = None
    """Answers in the agent's place, which has frozen its prompt."""


class Asking(NamedTuple):
    """How questions are asked again, and which are not."""

    talks: Sequence[AskedTalk] = ()
    left_out: Mapping[str, str] = {}
    """As in `Scope`."""
    choices: Mapping[str, int] = {}
    """As in `Scope`."""


class Missed(NamedTuple):
    """A missed question."""

    example: Example
    asked: LoggedLine
    rungs: Sequence[Rung]
    """From the lowest."""
    lacking: Mapping[str, str]
    """Why it lacks the others, by name."""

    @property
    def name(self) -> str:
        """The name of its conversations."""
        return f"{self.example.id.replace('/', '-')}-{self.asked.sent.turn}"

    def on(self, kind: str, before: Before | None = None) -> Asking:
        """Return how it is asked on this rung."""
        found, choices = list[AskedTalk](), dict[str, int]()
        for rung in self.rungs:
            if rung.name == kind:
                sent = replace(self.asked.sent, message=rung.message.text, search_by=rung.message.search_by)
                found.append(AskedTalk(self.name, self.example, [self.asked._replace(sent=sent)], before))
                choices |= {self.name: rung.choices} if rung.choices else {}
        left = {
            f"{self.example.id}#{self.asked.sent.turn}": why
            for each, why in self.lacking.items()
            if each == kind
        }
        return Asking(found, left, choices)


def said_in(plan: Plan, folder: Path) -> Iterator[tuple[Example, list[LoggedLine]]]:
    """Yield every example with what its script said in a run. Raises ReplayDiverged if it now says anything else."""
    examples = {example.id: example for example in plan.examples}
    for path in conversations(folder):
        heard: dict[str, list[tuple[Sent, Reply]]] = {}
        answers, sent = answers_in(path), None
        for event in read_events(path):
            if isinstance(event, Sent) and event.example is not None:
                sent = event
            elif isinstance(event, Replied) and sent is not None and event.turn == sent.turn:
                heard.setdefault(sent.example or "", []).append((sent, replace(event.said, at=sent.at)))
            elif isinstance(event, Forked) and event.id in answers:
                heard.setdefault(event.example, []).append((event.sent, SealedReply(event.at)))
        for name, exchanges in heard.items():
            yield examples[name], _lines(path, examples[name], exchanges)


def _lines(path: Path, example: Example, exchanges: Sequence[tuple[Sent, Reply]]) -> list[LoggedLine]:
    """Return what was said with the lines of the script, which is played again with the logged replies."""
    script, last, found = example.script(), None, list[LoggedLine]()
    for sent, reply in exchanges:
        line = None
        with suppress(StopIteration):
            line = script.send(cast(Reply, last))  # a fresh generator takes None
        text = getattr(line, "text", None)
        text = text(sent.at) if callable(text) else text
        if line is None or text != sent.message:
            raise ReplayDiverged(
                f"{path}: at turn {sent.turn} the log says {sent.message!r:.300}, the script of {example.id} now says "
                f"{text!r:.300}; install the version of the manifest"
            )
        found.append(LoggedLine(sent, line, reply))
        last = reply
    return found


def rehearsed(example: Example, plan: Plan) -> list[LoggedLine]:
    """Return what an example would say, with ideal replies and without any pauses."""
    at, found = plan.manifest.suite.start, list[LoggedLine]()
    for turn, step in enumerate(rehearse(example, plan.counter)):
        kind: Kind = "ask" if isinstance(step.line, Ask) else "tell"
        sent = Sent(turn=turn, kind=kind, example=example.id, message=step.text, tokens=0, position=0, at=at)
        found.append(LoggedLine(sent, step.line, Reply(ideal_reply(step.line))))
    return found


def unfit(kind: str, said: Sequence[LoggedLine]) -> str:
    """Return why an example cannot be asked so; empty if it can."""
    lines = [each.line for each in said]
    if any(line.inline if isinstance(line, Ask) else isinstance(line, Chat) and line.ideal for line in lines):
        return "its replies decide how it goes on"
    if any(isinstance(line, Ask) and line.buried for line in lines):
        return "its question holds what it asks about"
    if kind != "evidence":
        return ""
    if len({line.user for line in lines}) > 1:
        return "one message cannot come from several users"
    if any(isinstance(line, Tell) and line.deletes for line in lines):
        return "one message cannot delete what it says"
    if all(unnamed(said, each) for each in said if isinstance(each.line, Ask)):
        return "its set does not name what holds the answers"
    return ""


def unnamed(said: Sequence[LoggedLine], asked: LoggedLine) -> bool:
    """Whether one message cannot hold a history, and nothing says which part of it holds the answer to a question."""
    told = any(isinstance(each.line, Tell) and each.line.session for each in said)
    return told and isinstance(asked.line, Ask) and not asked.line.evidence


def asked_in(
    kinds: Iterable[str],
    example: Example,
    said: Sequence[LoggedLine],
    before: Before | None = None,
    *,
    every: bool = False,
) -> Mapping[str, list[Asking]]:
    """Return how an example's questions are asked again, by kind.

    Args:
        kinds: Controls and rungs.
        example: The example.
        said: What it says.
        before: What a fresh agent is told before a rung.
        every: Whether rungs ask every question, as if all had been missed.
    """
    missed = [*_missed(example, said, every=every)] if RUNGS.keys() & {*kinds} else []
    return {
        kind: [each.on(kind, before) for each in missed] if kind in RUNGS else [_control(kind, example, said)]
        for kind in kinds
    }


def _missed(example: Example, said: Sequence[LoggedLine], *, every: bool) -> Iterator[Missed]:
    """Yield the questions that were missed."""
    heard = list[Turn]()
    for each in said:
        line, sent = each.line, each.sent
        turns = [*heard, Turn(sent.said, each.reply, sent.kind, example.id, session=sent.session)]
        if isinstance(line, Ask) and (
            every or is_missed(line.expect, verdict_on(line.expect, each.reply, turns), turns)
        ):
            yield Missed(example, each, *rungs_in(said, example, line, sent.said, heard))
        heard = turns


def _control(kind: str, example: Example, said: Sequence[LoggedLine]) -> Asking:
    """Return how a control asks an example's questions."""
    if why := unfit(kind, said):
        return Asking(left_out={example.id: why})
    said = list(map(_bare, said))
    stem = example.id.replace("/", "-")
    places = [place for place, each in enumerate(said) if isinstance(each.line, Ask)]
    if kind == "near":
        return Asking([AskedTalk(stem, example, said[: places[-1] + 1])] if places else [])
    found, left_out = list[AskedTalk](), dict[str, str]()
    for place in places:
        sent, asked_line = said[place].sent, cast(Ask, said[place].line)
        if kind == "evidence":
            if unnamed(said, said[place]):
                left_out[f"{example.id}#{sent.turn}"] = "its set names no evidence for them"
                continue
            told = [each.sent.said for each in said[:place] if not isinstance(each.line, Ask)]
            held = [told[each] for each in holding(asked_line, len(told), example)]
            sent = replace(sent, message=in_hand(held, sent.message), search_by=None)
        found.append(AskedTalk(f"{stem}-{sent.turn}", example, [said[place]._replace(sent=sent)]))
    return Asking(found, left_out)


def _bare(each: LoggedLine) -> LoggedLine:
    """Return a line without the filler around its needle, which is no part of its example."""
    if not (isinstance(each.line, Tell) and each.line.inside):
        return each
    return each._replace(sent=replace(each.sent, message=each.line.buried[0].text, buried=None))


def check_controls(kinds: Sequence[str], *, isolated: bool) -> None:
    """Raise CannotCombine if a run has no such control."""
    if isolated and "near" in kinds:
        raise CannotCombine(
            "--control near: the examples of this run have no filler, so it would be the run itself; leave it out"
        )


def asked_of(plan: Plan, kind: str) -> Plan:
    """Return the plan of a run that asks the questions of a run again in this way."""
    asked = plan.asked and plan.asked.model_copy(update={"controls": (), "ladder": False})
    return replace(plan, manifest=plan.manifest.again(kind), controls=(), rehearsals={}, asked=asked)


def asked_talks(plan: Plan, kinds: Sequence[str], run: Path) -> Callable[[str], list[AskedTalk]]:
    """Return a function that begins one of these kinds of asking an ended run's questions again.

    It notes in its folder what is asked, and returns the conversations that are open. What is asked is derived from the
    run's log once, for all kinds, when the first of them begins.
    """

    @cache
    def derived() -> Mapping[str, Sequence[Asking]]:
        isolated, told = read_manifest(run).suite.isolated, dict[Path, dict[int, Line]]()
        found: dict[str, list[Asking]] = {each: [] for each in kinds}
        for example, said in said_in(plan, run):
            log = run / (f"isolated/{example.id.replace('/', '-')}.jsonl" if isolated else "events.jsonl")
            before = Before(log, told.setdefault(log, {}))
            before.lines.update((each.sent.turn, each.line) for each in said)
            for each, asked in asked_in(kinds, example, said, before).items():
                found[each] += asked
        return found

    def begin(kind: str) -> list[AskedTalk]:
        # What is to go is known of all rungs once the first one begins.
        noted = [each for each in kinds if each in RUNGS] if kind in RUNGS else [kind]
        talks = {each: note_asked(again_of(run, each), derived()[each]) for each in noted}[kind]
        done = again_of(run, kind) / "isolated"
        return [talk for talk in talks if not is_finished(done / f"{talk.name}.jsonl")]

    return begin


def note_asked(home: Path, asked: Sequence[Asking], *, unfinished: bool = False) -> list[AskedTalk]:
    """Write what is asked again into its folder; return the conversations."""
    talks = [talk for each in asked for talk in each.talks]
    scope = Scope(
        questions=sum(isinstance(each.line, Ask) for talk in talks for each in talk.said),
        left_out={name: why for each in asked for name, why in each.left_out.items()},
        choices={name: number for each in asked for name, number in each.choices.items()},
        unfinished=unfinished,
    )
    write_scope(home, scope)
    return talks


def rungs_in(
    said: Sequence[LoggedLine], example: Example, line: Ask, asked: Message, heard: Sequence[Turn]
) -> tuple[list[Rung], dict[str, str]]:
    """Return the rungs of a question, and why it lacks the others, by name.

    Args:
        said: All that its example says.
        example: Its example.
        line: What the script yielded.
        asked: The question as it was asked.
        heard: The example's turns before it.
    """
    if why := unfit("blind", said):
        return [], {"again": why}
    nameless = "its set does not name what holds the answer"
    whole = nameless if unnamed(said, said[0]._replace(line=line)) else unfit("evidence", said)
    # By text: what is rehearsed has numbers of its own.
    bare = {each.sent.message: _bare(each).sent.message for each in said}
    told = [
        replace(turn, message=replace(turn.message, text=bare.get(turn.message.text, turn.message.text)))
        for turn in heard
    ]
    return rungs_of(example, line, asked, told, whole=whole)
