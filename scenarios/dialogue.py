"""Dialogue: a history from a public set (LoCoMo, LongMemEval, BEAM, PersonaMem, GateMem, …), and the questions.

They come at the end, or after the session that a question names.

Every session has its date, in the text and on the clock. `data` is the set's file; without it, the seed generates facts
like those of FactConsolidation. `chosen` lists the ids of the questions to ask; if it is empty, all are asked.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from ltm_bench import Ask, Dice, Script, Tell, scenario
from ltm_bench.core.clock import stamp
from ltm_bench.datasets.dialogue import History, HistoryQuestion, Session, Utterance
from ltm_bench.datasets.public import nth_history, public_set

WORDS = json.loads(Path(__file__).with_name("dialogue.json").read_text("utf-8"))
"""Roles, and people who may hold them."""

MADE = "factconsolidation-sh-6k"
"""The set whose form generated facts have."""

CHANGES = 3
"""How often each fact is stated; the last statement counts."""

SITTING = 4
"""Parts of a session up to which nothing comes between them in a woven conversation."""

BEGIN = (
    "I am going to show you a record in parts. Please take note of what it says; questions come at the end."
)
FORGET = "That was all of that record. If something like it comes up again, it is about something else."
SPEAKERS = {"user": "User", "assistant": "Assistant"}


@scenario(skills={"recall", "conflict", "long read"}, topics={"long material"}, forget=FORGET, version=3)
def dialogue(
    dice: Dice,
    *,
    set: str = MADE,
    data: str = "",
    digest: str = "",
    chosen: str = "",
    scorer: str = "strict",
    part: int = 8000,
    alone: bool = False,
    formerly: bool = False,
) -> Script:
    """Tell the sessions of a history, and ask its questions.

    Args:
        dice: The example's; its index is that of the history.
        set: The public set.
        data: Its file or folder.
        digest: The first 16 hex digits of the SHA-256 of `data`.
        chosen: Ids of the questions to ask, separated by spaces; empty for all.
        scorer: `official`, `strict`, `paper` for BEAM, or `open` for LoCoMo.
        part: Maximum number of characters of a session in one message.
        alone: Tell a history once for every question, and ask only that one.
        formerly: Say it as 0.2.0 and 0.3.0 did: how to answer is said once, at the start.
    """
    if part < 200:
        raise ValueError(f"part = {part}: it is 200 or more")
    which = public_set(set)
    if scorer not in which.scorers:
        raise ValueError(f"scorer = {scorer!r}: for {set} it is {' or '.join(which.scorers)}")
    history = _history(dice, set, data, digest, chosen.split(), alone=alone)
    needs = {} if scorer == "official" else _needs(history.questions, scorer, alone=alone)
    told = [(session, list(_parts(session, part, formerly))) for session in history.sessions]
    holding = defaultdict[str, list[int]](list)
    parts = sum(len(texts) for _, texts in told)
    once = WORDS["once"].get(which.dataset, "") if formerly else ""
    reply = yield Tell(f"{BEGIN} {once}".rstrip(), at=0.0)
    clock, place = _Dates(history.sessions, reply.at), 0

    def ask(question: HistoryQuestion, at: float | None, now: datetime | None) -> Ask:
        wait = clock.wait(question.at, now)
        if formerly:
            expect = which.expect(replace(question, options=()), scorer)
            return Ask(_asked(question, ""), expect=expect, at=at, after=wait)
        put = which.put(question, scorer, dice.child(question.id))
        return Ask(
            _asked(put, which.instruction),
            expect=which.expect(put, scorer),
            at=at,
            after=wait,
            search_by=question.text,  # or an agent that retrieves by similarity would find the other questions
            shows=question.id if question.id in needs.values() else None,
            needs=needs.get(question.id),
            evidence=_evidence(question, holding),
        )

    for nth, (session, texts) in enumerate(told, start=1):
        for number, (text, said) in enumerate(texts):
            place += 1
            for name in {session.id, *said}:
                holding[name].append(place)
            apart = number == 0 or len(texts) > SITTING
            reply = yield Tell(
                text,
                at=place / (parts + 1) if apart else None,
                after=None if number else clock.wait(session.at, reply.at),
                # Ids such as LongMemEval's `answer_…` give away where the answer lies.
                session=session.id if formerly else str(nth),
            )
        for question in (q for q in history.questions if q.after == session.id):
            reply = yield ask(question, None, reply.at)
    for place, question in enumerate(q for q in history.questions if not q.after):
        reply = yield ask(question, None if place else 1.0, reply.at)


def _history(dice: Dice, set: str, data: str, digest: str, chosen: Sequence[str], *, alone: bool) -> History:
    """Return the history of the example's number, or a made one without `data`."""
    if data:
        return nth_history(set, Path(data), digest, chosen, dice.index, alone=alone)
    if set != MADE:
        raise ValueError(
            f"set = {set!r}: name its file with data; only facts like those of {MADE} can be made"
        )
    if alone:
        raise ValueError("alone = True: it splits the questions of a set's file; name that with data")
    return _made(dice)


def _needs(questions: Sequence[HistoryQuestion], scorer: str, *, alone: bool) -> Mapping[str, str]:
    """Return, for each question that silence would answer, the last one before it that silence does not."""
    if alone and any(each.restrains for each in questions):
        raise ValueError(
            f"scorer = {scorer!r}: it counts what is rightly kept back only beside what is rightly said, so no "
            "question can be asked alone; use --questions in-line, or scorer = 'official'"
        )
    found, shown = {}, next((each.id for each in questions if not each.restrains), "")
    for question in questions:
        if not question.restrains:
            shown = question.id
        elif shown:
            found[question.id] = shown
    return found


def _evidence(question: HistoryQuestion, holding: Mapping[str, Sequence[int]]) -> tuple[int, ...]:
    """Return the lines that hold the answer; nothing if the set does not name all that does.

    Args:
        question: The question.
        holding: The lines that tell a session or an utterance, by its id.
    """
    # LoCoMo names some utterances that no session has, such as D4:36: its session holds them.
    found = [holding.get(name) or holding.get(name.partition(":")[0]) for name in question.evidence]
    return tuple(sorted({line for lines in found for line in lines or ()})) if all(found) else ()


def _made(dice: Dice) -> History:
    """Return numbered facts about who holds which role, each stated several times, and questions about the latest."""
    roles = dice.sample(WORDS["roles"], 6)
    holders = dice.shuffled([f"{first} {last}" for first in WORDS["first"] for last in WORDS["last"]])
    facts, newest = list[Utterance](), dict[str, str]()
    for role in [role for _ in range(CHANGES) for role in dice.shuffled(roles)]:
        newest[role] = holders.pop()
        facts.append(Utterance("user", f"{len(facts)}. The {role} is {newest[role]}.", id=str(len(facts))))
    questions = tuple(
        HistoryQuestion(role, MADE, f"Who is the {role}?", (newest[role],)) for role in dice.shuffled(roles)
    )
    return History("made", (Session("made", None, tuple(facts)),), questions)


class _Dates:
    """A record's dates on the benchmark's clock, which only moves forward: unchanged, or all shifted."""

    def __init__(self, sessions: tuple[Session, ...], now: datetime | None) -> None:
        first = next((session.at for session in sessions if session.at is not None), None)
        self._shift = max(timedelta(), now - first) if first is not None and now is not None else timedelta()

    def wait(self, until: datetime | None, now: datetime | None) -> timedelta | None:
        """Return how long to wait for a date; None if it has passed or is unknown."""
        if until is None or now is None or until + self._shift <= now:
            return None
        return until + self._shift - now


def _parts(session: Session, most: int, formerly: bool) -> Iterator[tuple[str, set[str]]]:
    """Yield a session in parts, each with its date; of a long utterance, every piece names the speaker.

    With each part come the ids of the utterances in it.
    """
    head = f"[{stamp(session.at)}]\n" if session.at is not None else ""
    lines, said = list[str](), set[str]()
    for utterance in session.utterances:
        for line in _lines(utterance, most, formerly):
            if lines and sum(map(len, lines)) + len(line) > most:
                yield head + "\n".join(lines), said
                lines, said = [], set()
            lines.append(line)
            said |= {utterance.id} - {""}
    if lines:
        yield head + "\n".join(lines), said


def _lines(utterance: Utterance, most: int, formerly: bool) -> Iterator[str]:
    if utterance.speaker is None and utterance.id and utterance.text.startswith(f"{utterance.id}."):
        yield utterance.text  # a numbered fact, which has no speaker
        return
    who, text = utterance.speaker or SPEAKERS[utterance.role], utterance.text
    if formerly:
        line = f"{who}: {text}"
        yield from (line[start : start + most] for start in range(0, len(line), most))
        return
    room = max(most - len(f"{who} (continued): "), most // 2)
    for start in range(0, max(len(text), 1), room):
        yield f"{who}{' (continued)' if start else ''}: {text[start : start + room]}"


def _asked(question: HistoryQuestion, instruction: str) -> str:
    when = f"[{stamp(question.at)}]" if question.at is not None else ""
    return "\n".join(filter(None, (when, instruction, question.text)))
