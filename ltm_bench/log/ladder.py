"""The ladder of a run: its missed questions asked again with ever more help, in logs of their own.

`controls/ladder/isolated/` holds a log for every reply, EXAMPLE-TURN-RUNG.jsonl, and `controls/ladder/scope.json` what
was asked.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from ltm_bench.core.errors import LogError
from ltm_bench.core.limits import content_of
from ltm_bench.core.messages import Turn
from ltm_bench.log.controls import control_of
from ltm_bench.log.gateway import GatewayCalls, read_gateway
from ltm_bench.log.lines import write_whole
from ltm_bench.log.reader import read_turns

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
    gateway: GatewayCalls = GatewayCalls()
    """The agent's own calls, as far as a gateway saw them."""


def ladder_of(run: Path) -> Path:
    """Return the folder of a run's ladder."""
    return control_of(run, "ladder")


def write_scope(ladder: Path, scope: Scope) -> None:
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
    for log in sorted(path.parent.glob("isolated/*.jsonl")):
        _, turn, rung = log.stem.rsplit("-", 2)
        for asked in read_turns(log):
            replies.setdefault((asked.example or "", int(turn)), {})[rung] = asked
    return LadderLog(scope, replies, read_gateway(path.parent))
