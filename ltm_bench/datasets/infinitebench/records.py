"""The parts of a task: material, and questions about it."""

from dataclasses import dataclass
from typing import Any

from ltm_bench.script.deliveries import Piece


@dataclass(frozen=True, slots=True)
class Posed:
    """A question and its answer."""

    text: str
    """What the public files call `input`: a key, a target, a call, a question; empty if the task needs none."""
    label: Any
    """The answer, in the form of the public files."""
    options: tuple[str, ...] = ()
    raw: str = ""
    """`input` as the file has it; the published prompts repeat it."""


@dataclass(frozen=True, slots=True)
class Record:
    """Material and the questions that share it."""

    pieces: tuple[Piece, ...]
    asked: tuple[Posed, ...]
    joint: str = "\n"
    """The separator between two pieces."""
