"""The controls of a run: its questions asked again of the same agent under other conditions, in logs of their own.

`controls/KIND/isolated/` holds a log for each of their conversations, whose turns keep the numbers of the run's log.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import ConfigError, LogError, nearest
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Reply
from ltm_bench.log.gateway import GatewayCalls, read_gateway
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
    gateway: GatewayCalls = GatewayCalls()
    """The agent's own calls, as far as a gateway saw them."""


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
    replies = {
        (turn.example or "", turn.message.turn): turn.reply
        for path in sorted((control / "isolated").glob("*.jsonl"))
        for turn in read_turns(path)
    }
    try:
        scope = json_of(content_of(control / _SCOPE))
        left_out = {str(name): str(why) for name, why in scope["left_out"].items()}
        return Control(int(scope["questions"]), left_out, replies, read_gateway(control))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise LogError(f"{control / _SCOPE}: {error}; `ltm-bench control` writes it again") from error
