"""A recital of every value answers nothing, in whatever order and shape; nor does a retelling of what was heard."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import permutations

import pytest

from ltm_bench import Message, Reply, Turn, both_said, formerly, in_order, names_only, picks, withholds
from ltm_bench.core.messages import Matcher, Outcome

AT = datetime(2026, 1, 5, tzinfo=UTC)
QUESTION = "Well, what was it?"
SHAPES: dict[str, Callable[[Sequence[str]], str]] = {
    "commas": lambda v: f"{', '.join(v)}.",
    "and": lambda v: f"You said {', '.join(v[:-1])}, and {v[-1]}.",
    "or": lambda v: f"It was {', '.join(v[:-1])}, or {v[-1]}.",
    "and without commas": lambda v: f"It is {' and '.join(v)}.",
    "lines": "\n".join,
    "paragraphs": "\n\n".join,
    "bullets": lambda v: "\n".join(f"- {each}" for each in v),
    "sentences": lambda v: " ".join(f"It is {each}." for each in v),
    "words": lambda v: " ".join(f"{each.capitalize()}." for each in v),
    "slashes": " / ".join,
    "semicolons": lambda v: f"{'; '.join(f'you said {each}' for each in v)}.",
    "JSON": lambda v: f"[{', '.join(f'“{each}”' for each in v)}]".replace("“", '"').replace("”", '"'),
    "quotations": lambda v: f"You told me: {', '.join(f'“{each}”' for each in v)}.",
    "one after the other": lambda v: " ".join(f"You told me {each}." for each in v),
    "a table": lambda v: "\n".join(("| value |", "|---|", *(f"| {each} |" for each in v))),
    "bold": lambda v: ", ".join(f"**{each}**" for each in v),
    "an answer": lambda v: f"Answer: {', '.join(v)}",
}
THREE = ("pink", "red", "white")
FOUR = ("town hall", "boathouse", "lido", "old dairy")
MATCHERS: Sequence[tuple[Matcher, Sequence[str]]] = (
    *((names_only(each, among=THREE), THREE) for each in THREE),
    *((names_only(each, among=FOUR, stale=FOUR), FOUR) for each in FOUR),
    *((names_only(each, among=(*THREE, "blue", "grey", "tan", "teal", "gold"), stale=THREE), THREE) for each in THREE),
    *((formerly(each, among=FOUR), FOUR) for each in FOUR),
    *((picks(i + 1, of=3), ("option 1", "option 2", "option 3")) for i in range(3)),
    (both_said("pink", "red", among=(*THREE, "tan")), (*THREE, "tan")),
    (withholds("tan", answer="red", among=THREE), THREE),
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_no_recital_of_every_value_is_right(shape: str) -> None:
    right = []
    for expect, values in MATCHERS:
        for order in permutations(values):
            reply = SHAPES[shape](order)
            verdict = expect.verdict(reply, [Turn(Message(QUESTION, AT, 0), Reply(reply))])
            if verdict.score:
                right.append((expect, reply, verdict.reason))
    assert right == []


def test_the_whole_pool_in_every_order_is_no_order() -> None:
    pool = ("well", "roof", "stove", "gate", "fence")
    expect = in_order(pool[:3], among=pool)
    for order in permutations(pool):
        assert expect.verdict(SHAPES["bullets"](order), []).outcome is not Outcome.CORRECT


HEARD = "Hanno put the map into the crate and left. Dario moved it to the wardrobe."


@pytest.mark.parametrize("value", ["crate", "wardrobe"])
def test_a_retelling_leaves_the_answer_to_its_reader(value: str) -> None:
    expect = names_only(value, among=("crate", "wardrobe", "drawer"))
    question = "Where will Hanno look for the map first?"
    turns = [Turn(Message(text, AT, i), Reply("Noted.")) for i, text in enumerate((HEARD, question))]
    for reply in (
        HEARD,
        "Hanno put it into the crate. Then Dario came and put it into the wardrobe.",
        f"So: {HEARD}",
    ):
        verdict = expect.verdict(reply, [*turns[:-1], Turn(turns[-1].message, Reply(reply))])
        assert not verdict.score, (reply, verdict.reason)
