"""What the judged sets share with all who are asked about a reply: an inquiry, and what it comes to."""

from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ltm_bench.core.messages import Outcome


class Judged(NamedTuple):
    """The verdict on a reply, derived from a judge's answers."""

    outcome: Outcome
    score: float | None
    """From 0 to 1, as the run is scored; None if the rubric gives no more than right or wrong."""
    reason: str
    scores: Mapping[str, float] = MappingProxyType({})
    """From 0 to 1, by the columns of the published scorer."""


Inquiry = Generator[str, str, Judged | None]
"""Yields prompts to a judge about a reply, receives its answers without their thinking, and returns the verdict.

None if an answer could not be read.
"""
