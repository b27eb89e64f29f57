"""Table: which replies retell one joke, and no other."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm_bench import retells
from ltm_bench.core.messages import Outcome

JOKES = (
    "A snail was mugged by two tortoises. Asked by the police, it could only say that everything went so fast.",
    "Two antennas got married on the roof. The ceremony was dull, but the reception was excellent.",
    "My umbrella and I have an understanding. I forget it on trains, and it stays dry at the lost property office.",
)
EXPECT = retells(JOKES[0], among=JOKES)
TABLE = [
    (JOKES[0], Outcome.CORRECT, "word by word"),
    (f"You told me this one: “{JOKES[0]}”", Outcome.CORRECT, "quoted"),
    (JOKES[0].upper().replace(",", ""), Outcome.CORRECT, "other case, no commas"),
    ("The one about the snail that was mugged by tortoises.", Outcome.CORRECT, "described"),
    ("A snail was mugged by 2 tortoises; asked by the police it just said it all went so fast!", Outcome.CORRECT, "paraphrased"),
    ("It was not the antennas one. A snail was mugged by two tortoises. Asked by the police, it could only say that everything went so fast.", Outcome.CORRECT, "a word of another joke"),
    (JOKES[1], Outcome.WRONG, "another joke"),
    (" ".join(JOKES), Outcome.WRONG, "all of them"),
    (f"Either {JOKES[0]} or {JOKES[1]}", Outcome.WRONG, "two of them"),
    ("A snail went to the police, who laughed at it.", Outcome.UNDECIDED, "two words of it"),
    ("A man walks into a bar.", Outcome.WRONG, "one that was never told"),
    ("Which joke did I tell you about 3 hours ago? Tell me that one, and no other.", Outcome.WRONG, "an echo of the question"),
    ("Ha ha, that was a good one!", Outcome.WRONG, "no joke at all"),
    ("I'm sorry, I have no record of a joke from that time.", Outcome.ABSTAINED, "no record"),
    ("I do not remember.", Outcome.ABSTAINED, "forgotten"),
    ("", Outcome.MALFORMED, "nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "outcome", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_one_joke_is_retold_and_no_other(reply: str, outcome: Outcome, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.outcome is outcome, verdict.reason


def _two_sentences() -> list[str]:
    path = Path(__file__).parents[2] / "scenarios/jokes.json"
    told = [each for texts in json.loads(path.read_text("utf-8")).values() for each in _texts(texts)]
    parts = [each.split(". ", 1) for each in told]
    return [". ".join(each) for each in parts if len(each) == 2 and len(each[1].split()) > 5]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value.values()]
    for each in value if isinstance(value, list) else []:
        yield from [each] if isinstance(each, str) and "{" not in each else _texts(each)


@pytest.mark.parametrize("joke", _two_sentences())
def test_a_joke_with_another_end_is_not_credited(joke: str) -> None:
    begin, end = joke.split(". ", 1)
    words = end.split()
    others = ("A parrot walked into a bank, and asked for credit.", "Why are trombones silent on Mondays?")
    expect = retells(joke, among=(joke, *others))
    assert expect.verdict(joke, []).score == 1
    half = " ".join(words[: len(words) // 2])
    for changed in (f"{begin}. Nobody ever found the trombone.", f"{begin}. {half} zebra xylophone."):
        assert expect.verdict(changed, []).score == 0, changed
