"""Controls and ladder of a run: its questions asked again of the same agent in other conditions, in logs of their own.

`controls/KIND/isolated/` holds a log for each of their conversations, whose turns keep the numbers of the run's log.

The ladder asks missed questions again with ever more help: `controls/ladder/isolated/` holds a log for every
reply, EXAMPLE-TURN-RUNG.jsonl, and `controls/ladder/scope.json` what was asked.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from ltm_bench.core.errors import ConfigError, LogError, nearest
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Reply, Turn
from ltm_bench.log.calls import Call, read_calls
from ltm_bench.log.lines import write_whole
from ltm_bench.log.reader import read_turns

KINDS: Mapping[str, str] = {
    "blind": "every question alone, in a fresh conversation",
    "evidence": "all that was told and the question, in one message",
    "near": "every example without filler, through the agent's memory",
}
"""The controls by name, each with what it asks."""

_SCOPE = "scope.json"


def parse_controls(given: object) -> tuple[str, ...]:
    """Return the controls that a list of texts such as `blind,evidence` names, in their order. Raises ConfigError."""
    texts = [given] if isinstance(given, str) else list(given) if isinstance(given, list | tuple) else []
    names = [name.strip() for text in texts for name in str(text).split(",")]
    for name in names:
        if name not in KINDS:
            raise ConfigError(
                f"--control {name}: there is no such control{nearest(name, KINDS)} ({', '.join(KINDS)})"
            )
    return tuple(kind for kind in KINDS if kind in names)


def control_of(run: Path, kind: str) -> Path:
    """Return the folder of a run's control."""
    return run / "controls" / kind


class Control(NamedTuple):
    """What is known of a control."""

    questions: int = 0
    """Number of questions that it asks."""
    left_out: Mapping[str, str] = {}
    """Why examples cannot be asked so, by their ids, and single questions of others, by `example#turn`."""
    replies: Mapping[tuple[str, int], Reply] = {}
    """By example and turn of the run's log."""
    calls: Sequence[Call] = ()
    """All calls that it took."""


def write_scope(control: Path, questions: int, left_out: Mapping[str, str]) -> None:
    """Write what a control asks into its folder."""
    control.mkdir(parents=True, exist_ok=True)
    scope = {"questions": questions, "left_out": dict(left_out)}
    write_whole(control / _SCOPE, json.dumps(scope, indent=1, sort_keys=True).encode() + b"\n")


def read_controls(run: Path) -> Mapping[str, Control]:
    """Return a run's controls by kind. Raises LogError if one of their files is damaged."""
    return {
        kind: _read(control_of(run, kind)) for kind in KINDS if (control_of(run, kind) / _SCOPE).is_file()
    }


def _read(control: Path) -> Control:
    replies, calls = dict[tuple[str, int], Reply](), list[Call]()
    for _, turn in _talks(control, calls):
        replies[turn.example or "", turn.message.turn] = turn.reply
    try:
        scope = json_of(content_of(control / _SCOPE))
        left_out = {str(name): str(why) for name, why in scope["left_out"].items()}
        return Control(int(scope["questions"]), left_out, replies, calls)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise LogError(f"{control / _SCOPE}: {error}; `ltm-bench control` writes it again") from error


RUNGS: Mapping[str, str] = {
    "again": "the same question",
    "cued": "with what else was said at those moments",
    "recognised": "as a choice between the answer and others like it",
    "retold": "with all that was told before it",
}
"""The rungs by name, from the lowest, each with how it asks."""


class Scope(BaseModel, frozen=True, extra="forbid"):
    """What the ladder asks."""

    questions: int = Field(ge=0)
    """Missed questions that it asks again."""
    to_go: int = Field(ge=0)
    """Replies that it still lacks."""
    left_out: dict[str, dict[str, str]]
    """Why questions have no such rung, by rung and `example#turn`; without `again` they have none at all."""
    choices: dict[str, int]
    """Number of answers that the recognised rung offers, by EXAMPLE-TURN."""
    after: bool
    """Whether it is asked after the run, since the agent cannot fork."""


class LadderLog(NamedTuple):
    """What is known of a run's ladder."""

    scope: Scope
    replies: Mapping[tuple[str, int], Mapping[str, Turn]]
    """The turns of each missed question by rung; questions by example and turn of the run's log."""
    calls: Sequence[Call] = ()
    """All calls that it took."""


def ladder_of(run: Path) -> Path:
    """Return the folder of a run's ladder."""
    return control_of(run, "ladder")


def write_ladder(ladder: Path, scope: Scope) -> None:
    """Write what a ladder asks into its folder."""
    write_whole(ladder / "scope.json", scope.model_dump_json(indent=1).encode() + b"\n")


def ladder_to_go(run: Path) -> bool:
    """Whether a run's ladder was not asked, or not to its end. Raises LogError if a file of it is damaged."""
    known = read_ladder(run)
    return known is None or known.scope.to_go > 0


def read_ladder(run: Path) -> LadderLog | None:
    """Return a run's ladder; None without one. Raises LogError if one of its files is damaged."""
    path = ladder_of(run) / "scope.json"
    if not path.is_file():
        return None
    try:
        scope = Scope.model_validate_json(content_of(path))
    except (OSError, ValidationError) as error:
        raise LogError(f"{path}: {error}; `ltm-bench control {run.name} --ladder` writes it again") from error
    replies: dict[tuple[str, int], dict[str, Turn]] = {}
    calls = list[Call]()
    for log, asked in _talks(path.parent, calls, rungs=True):
        _, turn, rung = log.stem.rsplit("-", 2)
        replies.setdefault((asked.example or "", int(turn)), {})[rung] = asked
    return LadderLog(scope, replies, calls)


def _talks(folder: Path, calls: list[Call], *, rungs: bool = False) -> Iterator[tuple[Path, Turn]]:
    """Yield the turns in the logs of a folder, each with its log; `calls` gets all calls behind them."""
    known = read_calls(folder, rungs=rungs)
    for path in sorted((folder / "isolated").glob("*.jsonl")):
        for turn in read_turns(path):
            place, itself = (path.stem, turn.message.turn), turn.answered == "agent"
            known.take_reply(place, turn.reply.usage, itself=itself)
            yield path, turn
    calls += known.every
