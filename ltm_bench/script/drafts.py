"""Makes a scenario in TOML of turns that a person marked in a transcript. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Ask, Message, Outcome, Reply, Turn, Verdict
from ltm_bench.script.toml import Recipe
from ltm_bench.script.transcripts import StoredTurn

_SHOWN = 80


class Asked(NamedTuple):
    """A turn whose reply is scored."""

    turn: int
    right: Sequence[str]
    """The right answer; all parts of it, if there are several."""
    wrong: Sequence[str] = ()


class Marks(NamedTuple):
    """What a person marked."""

    told: Sequence[int]
    asked: Sequence[Asked]


class Draft(NamedTuple):
    """A scenario made of a transcript."""

    toml: str
    between: Sequence[StoredTurn]
    """The transcript's turns from the first marked one to the last."""
    verdicts: Mapping[int, Verdict]
    """What is said about the transcript's own replies to the questions."""


def drafted(turns: Sequence[StoredTurn], marks: Marks, source: str) -> Draft:
    """Return the scenario of marked turns. Raises ConfigError if they cannot be one.

    Args:
        turns: The transcript.
        marks: What is marked in it.
        source: The transcript's name.
    """
    asked = {each.turn: each for each in marks.asked}
    _check(turns, marks, asked)
    places = [i for i, turn in enumerate(turns) if turn.number in asked or turn.number in marks.told]
    between = turns[places[0] : places[-1] + 1]
    ends = [0]
    for turn in between:
        ends.append(ends[-1] + len(turn.text) + len(turn.reply))
    blocks, verdicts = [], {}
    for place in places:
        turn, at = turns[place], round(ends[place - places[0]] / (ends[-2] or 1), 3)
        key = "ask" if turn.number in asked else "say"
        block = f"\n[[messages]]\n{key} = {_literal(turn.text)}\nat = {at}\n"
        if key == "ask":
            expect, verdicts[turn.number] = _expected(turn, asked[turn.number], turns[:place])
            table = ", ".join(f"{name} = {_value(each)}" for name, each in expect.items())
            block += f"expect = {{ {table} }}\n# the reply was {_text(turn.reply)}\n"
        blocks.append(block)
    first = " ".join(next(turn.text for turn in turns if turn.number in asked).split())
    skills = ["recall", "conflict"] if any("stale = " in block for block in blocks) else ["recall"]
    about = f"From {source}: {first if len(first) <= _SHOWN else first[:_SHOWN] + '…'}"
    toml = f"about = {_text(about)}\nskills = {json.dumps(skills)}\n{''.join(blocks)}"
    return Draft(toml, between, verdicts)


def _check(turns: Sequence[StoredTurn], marks: Marks, asked: Mapping[int, Asked]) -> None:
    """Raise ConfigError for marks that are no example."""
    known = [turn.number for turn in turns]
    marked = [*marks.told, *(each.turn for each in marks.asked)]
    for number in marked:
        if number not in known:
            raise ConfigError(
                f"turn {number} does not exist; the transcript has turns {known[0]} to {known[-1]}"
            )
        if marked.count(number) > 1:
            raise ConfigError(f"turn {number} is marked twice; a turn is told or asked, once")
    if not marks.told or not asked:
        raise ConfigError(
            f"no turn is marked as {'asked' if marks.told else 'told'}; an example is told something, and asked for it"
        )
    for number, question in asked.items():
        if number < min(marks.told):
            raise ConfigError(f"turn {number} is asked before anything is told (turn {min(marks.told)})")
        if not any(answer.strip() for answer in question.right):
            raise ConfigError(f"turn {number} is asked, but its right answer is missing")


def _expected(
    turn: StoredTurn, asked: Asked, before: Sequence[StoredTurn]
) -> tuple[Mapping[str, Any], Verdict]:
    """Return the first expectation that takes the right answer and no wrong one, and its verdict on the reply."""
    for expect in _candidates(asked, " ".join(each.text for each in before)):
        table = {
            "about": "x",
            "skills": ["x"],
            "messages": [{"ask": _escaped(turn.text), "expect": _escaped(expect)}],
        }
        try:
            [question] = Recipe.model_validate(table).script(Dice("draft"), {})
        except ValueError:
            continue
        if isinstance(question, Ask) and _takes(question, asked):
            return expect, _verdict(question, turn.reply)
    told = " and ".join(map(repr, asked.right))
    raise ConfigError(
        f"turn {turn.number}: no matcher takes {told} for right"
        + (f" and refuses {', '.join(map(repr, asked.wrong))}" if asked.wrong else "")
        + "; name the answer alone, as short as a good reply would"
    )


def _candidates(asked: Asked, before: str) -> Iterator[Mapping[str, Any]]:
    right, wrong = [*asked.right], [*asked.wrong]
    if len(right) > 1:
        yield {"lists": right, "among": right + wrong}
        return
    if wrong:
        stale = [each for each in wrong if each in before]
        yield {"names": right[0], "among": right + wrong} | ({"stale": stale} if stale else {})
        yield {"says": right[0], "among": wrong}
        yield {"retells": right[0], "among": right + wrong}
    else:
        yield {"says": right[0]}


def _takes(question: Ask, asked: Asked) -> bool:
    """Whether a question accepts the right answer, and what its matcher takes for right, and refuses the wrong ones."""
    right = (", ".join(asked.right), *question.expect.right())
    refused = any(_verdict(question, each).outcome is not Outcome.CORRECT for each in right)
    return not refused and all(
        _verdict(question, each).outcome is not Outcome.CORRECT for each in asked.wrong
    )


def _verdict(question: Ask, reply: str) -> Verdict:
    message = Message(str(question.text), datetime(2026, 1, 5, tzinfo=UTC), 0)
    return question.expect.verdict(reply, [Turn(message, Reply(reply))])


def _escaped(value: Any) -> Any:
    """Return texts in which a brace is a brace, not the name of a choice."""
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, Mapping):
        return {name: _escaped(each) for name, each in value.items()}
    return [_escaped(each) for each in value]


def _literal(text: str) -> str:
    return _text(_escaped(text))


def _value(value: str | Sequence[str]) -> str:
    return _literal(value) if isinstance(value, str) else f"[{', '.join(map(_literal, value))}]"


def _text(text: str) -> str:
    """Return a text as TOML, on one line; halves of characters, which no file can hold, become question marks."""
    whole = text.encode("utf-8", "replace").decode()
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")
