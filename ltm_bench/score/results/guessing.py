"""What guessing scores, measured: figures that `perf/validity.py` wrote, by the hash of a scenario's content."""

import json
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from ltm_bench.score.statistics.intervals import Interval

FILE = Path(__file__).with_name("guessing.json")


class Guessed(BaseModel, frozen=True):
    """The score of the best of many agents that guess and do not remember, with a scenario's own parameters."""

    scenario: str
    guesser: str
    mean: float
    interval: Interval
    seeds: int
    """Number of examples, each of another seed."""


@cache
def _shipped() -> dict[str, Guessed]:
    return {hash: Guessed.model_validate(each) for hash, each in json.loads(FILE.read_text("utf-8")).items()}


def guessed(hash: str) -> Guessed | None:
    """Return what guessing scores in a scenario with this content; None if it was not measured."""
    return _shipped().get(hash)
