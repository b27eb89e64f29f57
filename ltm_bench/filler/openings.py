"""Opening lines of filler: thousands of variations in the style of the talk around them, so that no pattern fits."""

import json
from functools import cache
from importlib.resources import files

from ltm_bench.core.dice import Dice


@cache
def _parts() -> dict[str, list[str]]:
    """Return what an opening is made of, by name.

    A lead is a phrase that a sentence continues, or a complete sentence; the subject is the rest of a sentence; the
    request says what the agent is to do.
    """
    found: dict[str, list[str]] = json.loads(
        files("ltm_bench.filler").joinpath("openings.json").read_text("utf-8")
    )
    return found


def opening(dice: Dice) -> str:
    """Return the first line of a filler message. It rolls three numbers."""
    lead, subject, request = (dice.choice(_parts()[name]) for name in ("leads", "subjects", "requests"))
    if lead[-1:] not in (",", ":"):
        subject = subject[0].upper() + subject[1:]
    return " ".join((lead, subject, request)).lstrip()
