"""Runs that ask another run's questions again: controls under other conditions, the ladder's rungs with more help.

Each is a run folder inside that of the run, `controls/KIND` or `rungs/KIND`, whose manifest says how it `asks`. Its
turns keep the numbers of the run's log, and `scope.json` says what it asks.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, Field, ValidationError

from ltm_bench.core.errors import ConfigError, LogError, check_known
from ltm_bench.core.limits import content_of
from ltm_bench.core.messages import Turn
from ltm_bench.log.calls import KEPT, Call, read_calls
from ltm_bench.log.lines import write_whole
from ltm_bench.log.reader import read_turns

KINDS: Mapping[str, str] = {
    "blind": "every question alone, in a fresh conversation",
    "evidence": "all that was told and the question, in one message",
    "near": "every example without filler, through the agent's memory",
}
"""The controls by name, each with what it asks."""

RUNGS: Mapping[str, str] = {
    "again": "the same question",
    "cued": "with what else was said at those moments",
    "recognised": "as a choice between the answer and others like it",
    "retold": "with all that was told before it",
}
"""The rungs of the ladder by name, from the lowest, each with how it asks."""

_SCOPE = "scope.json"

S = TypeVar("S", bound=BaseModel)


def parse_controls(given: object) -> tuple[str, ...]:
    """Return the controls that a list of texts such as `blind,evidence` names, in their order. Raises ConfigError."""
    texts = [given] if isinstance(given, str) else list(given) if isinstance(given, list | tuple) else []
    names = [name.strip() for text in texts for name in str(text).split(",")]
    for name in names:
        check_known(f"--control {name}: there is no such control", name, KINDS)
    return tuple(kind for kind in KINDS if kind in names)


def again_of(run: Path, kind: str) -> Path:
    """Return the folder in which a run's questions are asked again in this way."""
    return run / ("controls" if kind in KINDS else "rungs") / kind


def asked_again(run: Path) -> list[Path]:
    """Return the folders in which a run's questions were asked again."""
    kinds = (again_of(run, kind) for kind in (*KINDS, *RUNGS))
    return [folder for folder in (*kinds, old_ladder(run)) if (folder / _SCOPE).is_file()]


class Scope(BaseModel, frozen=True, extra="forbid"):
    """What is asked again."""

    questions: int = Field(ge=0)
    """Number of questions."""
    left_out: dict[str, str]
    """Why examples cannot be asked so, by their ids, and single questions of others, by `example#turn`."""
    choices: dict[str, int] = {}
    """Number of answers that the recognised rung offers, by EXAMPLE-TURN."""
    after: bool = False
    """Whether it was asked after the run, in the same conversation; so it was in 0.4.0, of agents that cannot fork."""
    unfinished: bool = False
    """Whether more may be missed, since it was noted before the run had been told to its end."""


class AskedAgain(NamedTuple):
    """What is known of questions that are asked again."""

    scope: Scope
    turns: Mapping[tuple[str, int], Turn] = {}
    """By example and turn of the run's log."""
    calls: Sequence[Call] = ()
    """All calls that it took."""
    judged: Sequence[Call] = ()
    """Those of judges and readers about its replies, but for answers that were kept elsewhere."""

    @property
    def to_go(self) -> int:
        """Number of questions that still lack a reply."""
        return max(0, self.scope.questions - sum(turn.kind == "ask" for turn in self.turns.values()))


def write_scope(folder: Path, scope: Scope) -> None:
    """Write what is asked again into its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / _SCOPE, scope.model_dump_json(indent=1, exclude_defaults=True).encode() + b"\n")


def read_again(run: Path, kinds: Iterable[str] = (*KINDS, *RUNGS)) -> Mapping[str, AskedAgain]:
    """Return how a run's questions were asked again, by kind. Raises LogError if one of its files is damaged."""
    folders = {kind: again_of(run, kind) for kind in kinds}
    old = _read_old(old_ladder(run)) if (old_ladder(run) / _SCOPE).is_file() else {}
    new = {kind: _read(each) for kind, each in folders.items() if (each / _SCOPE).is_file()}
    return {**new, **old}


def _read(folder: Path) -> AskedAgain:
    scope, known = _scope_in(folder, Scope), read_calls(folder)
    turns = dict[tuple[str, int], Turn]()
    for path in sorted((folder / "isolated").glob("*.jsonl")):
        for turn in read_turns(path):
            place, itself = (path.stem, turn.message.turn), turn.answered == "agent"
            # Of every turn: what was reserved to tell something is no cost once it is told, and a page counted it.
            known.take_reply(place, turn.reply.usage, itself=itself)
            turns[turn.example or "", turn.message.turn] = turn
    return AskedAgain(scope, turns, known.every, [each for each in known.asked if each.ending != KEPT])


def _scope_in(folder: Path, form: type[S]) -> S:
    try:
        return form.model_validate_json(content_of(folder / _SCOPE))
    except (OSError, ValidationError) as error:
        raise LogError(f"{folder / _SCOPE}: {error}; `ltm-bench control` writes it again") from error


def to_go(run: Path, kinds: Iterable[str]) -> list[str]:
    """Return in which of these ways a run was not asked again, or not to the end; a damaged one is none."""
    known = dict[str, AskedAgain]()
    for kind in (kinds := list(kinds)):
        with suppress(LogError):  # whoever asks it again writes its scope, and says what else is wrong
            known |= read_again(run, [kind])
    done = {kind for kind, each in known.items() if not each.to_go and not each.scope.unfinished}
    return [kind for kind in kinds if kind not in done]


class _OldScope(BaseModel):
    """What the ladder asked, up to 0.4.0."""

    questions: int = Field(ge=0)
    left_out: dict[str, dict[str, str]]
    choices: dict[str, int]
    after: bool


def old_ladder(run: Path) -> Path:
    """Return the folder in which releases up to 0.4.0 kept a ladder."""
    return run / "controls" / "ladder"


def _read_old(folder: Path) -> Mapping[str, AskedAgain]:
    """Return the rungs of a ladder that releases up to 0.4.0 kept in one folder; the first has all calls."""
    scope, known = _scope_in(folder, _OldScope), read_calls(folder)
    turns: Mapping[str, dict[tuple[str, int], Turn]] = {rung: {} for rung in RUNGS}
    for path in sorted((folder / "isolated").glob("*.jsonl")):
        _, number, rung = path.stem.rsplit("-", 2)
        for turn in read_turns(path):
            place = (path.stem, turn.message.turn)
            known.opened.add(place)  # the gateway knows it under its conversation's name
            known.take_reply(place, turn.reply.usage, itself=turn.answered == "agent")
            turns[rung][turn.example or "", int(number)] = turn
    found = {}
    for rung in RUNGS:
        left = scope.left_out.get(rung, {})
        questions = scope.questions - (len(left) if rung != "again" else 0)
        own = Scope(questions=questions, left_out=left, choices=scope.choices, after=scope.after)
        found[rung] = AskedAgain(own, turns[rung])
    return found | {"again": found["again"]._replace(calls=known.every)}


def check_ladder(run: Path) -> None:
    """Raise ConfigError if a run's ladder was begun by a release that kept it in one folder, and not ended."""
    if (old_ladder(run) / _SCOPE).is_file() and to_go(run, RUNGS):
        raise ConfigError(
            f"{old_ladder(run)}: this ladder was begun by ltm-bench 0.4, which can finish it; remove the folder to "
            "ask all of it again"
        )
