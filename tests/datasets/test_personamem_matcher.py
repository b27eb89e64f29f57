"""`fitting_reply`, reply by reply."""

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.datasets.personamem.matcher import fitting_reply

TABLE = [
    # reply, official, strict
    ("(c)", Outcome.CORRECT, Outcome.CORRECT),
    ("c", Outcome.CORRECT, Outcome.CORRECT),
    ("C.", Outcome.CORRECT, Outcome.CORRECT),
    ("Answer: c", Outcome.CORRECT, Outcome.CORRECT),
    ("(c) It suits you.", Outcome.CORRECT, Outcome.CORRECT),
    ("Not (a), not (b). <final_answer> (c)", Outcome.CORRECT, Outcome.CORRECT),
    ("Not (a). <final_answer>(c)</final_answer>", Outcome.CORRECT, Outcome.CORRECT),
    ("I take c, since it is a quiet one.", Outcome.WRONG, Outcome.WRONG),  # a bare `a` counts for the program
    ("I take c here.", Outcome.CORRECT, Outcome.WRONG),
    ("(c) <final_answer> none", Outcome.CORRECT, Outcome.WRONG),  # the program falls back on the whole reply
    ("(b)", Outcome.WRONG, Outcome.WRONG),
    ("(b) or (c)", Outcome.WRONG, Outcome.WRONG),
    ("(a) (b) (c) (d)", Outcome.WRONG, Outcome.WRONG),
    ("I do not know.", Outcome.ABSTAINED, Outcome.ABSTAINED),
    ("Roses.", Outcome.MALFORMED, Outcome.MALFORMED),
    ("", Outcome.MALFORMED, Outcome.MALFORMED),
]


@pytest.mark.parametrize(("reply", "published", "ours"), TABLE)
def test_the_letter_is_what_counts(reply: str, published: Outcome, ours: Outcome) -> None:
    assert fitting_reply("c", "x").verdict(reply, ()).outcome is published
    assert fitting_reply("c", "x", mode="strict").verdict(reply, ()).outcome is ours
