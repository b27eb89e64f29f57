"""What a task is made of: material, and what is asked about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ltm_bench.script.deliveries import Piece


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its answer."""

    text: str
    """What the public files call `input`: a key, a target, a call, a question; empty where the task says it all."""
    label: Any
    """The answer, in the form of the public files."""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """Material and the questions that share it."""

    pieces: tuple[Piece, ...]
    asked: tuple[Asked, ...]
    joint: str = "\n"
    """What stands between two pieces."""
