"""`perf/calibration.py`: predictions by hand, a small live calibration, and the page beside its data."""

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ltm_bench import in_order, item_counts
from perf.calibration import CREDIT, FAULTS, Question, calibrated, flat, insert, planned, predicted, share

DOCS = Path(__file__).parents[1] / "docs"
NOW = datetime(2026, 1, 5, 10, tzinfo=UTC)


class Told(NamedTuple):
    key: str
    at: datetime = NOW - timedelta(seconds=60)
    position: int = 1000
    number: int = 3


def asked(*parts: list[list[Told]], shown: str = "", **changes: Any) -> Question:
    question = Question("x/0", "q", "Says", None, None, parts, frozenset(shown.split()), NOW, 4000, 9)
    return question._replace(**changes)


ONE, OTHER = [Told("a")], [Told("b")]


@pytest.mark.parametrize(
    ("fault", "level", "expected"),
    [
        ("loses", 0.3, 0.49),
        ("finds", 0.9, 0.81),
        ("uses", 0.8, 0.8),
        ("mixes", 0.1, 1.0),
        ("forgets_after", 3000, 1.0),
        ("forgets_after", 2999, 0.0),
        ("readable_after", 61, 0.0),
        ("holds", 6, 1.0),
        ("holds", 5, 0.0),
    ],
)
def test_a_question_that_needs_two_facts_is_right_if_both_are_known(
    fault: str, level: float, expected: float
) -> None:
    assert predicted([asked([ONE, OTHER], shown="uses")], fault, level) == pytest.approx(expected)


def test_a_fact_told_twice_is_lost_if_both_are() -> None:
    assert predicted([asked([[*ONE, *OTHER]])], "loses", 0.5) == 0.75


def test_a_list_earns_its_share_on_average() -> None:
    assert predicted([asked([ONE], [OTHER])], "loses", 0.3) == pytest.approx(0.7)


def test_what_two_questions_need_is_counted_once_if_one_opens_the_other() -> None:
    shows, needs = asked([ONE], shows="it"), asked([ONE], needs="it", key="r")
    assert predicted([shows, needs], "loses", 0.3) == pytest.approx(0.7)
    assert predicted([shows, needs], "finds", 0.7) == pytest.approx((0.7 + 0.49) / 2)


@pytest.mark.parametrize("known", [(True, True, False), (True, False, True), (False, True, False)])
def test_the_credit_for_part_of_a_list_is_that_of_its_matcher(known: tuple[bool, ...]) -> None:
    things = ("apple", "lemon", "onion")
    left = [thing for thing, there in zip(things, known, strict=True) if there]
    order = in_order(things, among=(*things, "kiwi")).verdict(json.dumps(left), ())
    assert CREDIT["InOrder"](known) == pytest.approx(order.score, abs=1e-5)
    cart = json.dumps([{"item": each, "quantity": 2} for each in left])
    items = item_counts(dict.fromkeys(things, 2), among=things).verdict(cart, ())
    assert CREDIT["ItemCounts"](known) == pytest.approx(items.score, abs=1e-5)
    assert share(known) == len(left) / 3


def test_scores_lie_on_the_predicted_line() -> None:
    plans = [planned("standard", seed, scenarios=("colours", "counting_stars")) for seed in range(8)]
    found = calibrated(plans, {"loses": (0, 0.4), "forgets_after": (0, 3000), "leaks": (0, 0.5)})
    for faults in found.values():
        for fault in ("loses", "forgets_after"):
            assert all(cell["low"] <= cell["predicted"] <= cell["high"] for cell in faults[fault])
        assert faults["loses"][1]["predicted"] == pytest.approx(0.6)
        assert flat(faults["leaks"])
        assert faults["leaks"][1]["score"] == 1
    assert not flat(found["counting_stars"]["forgets_after"])


@pytest.fixture(scope="module")
def data() -> Any:
    return json.loads((DOCS / "calibration.json").read_text("utf-8"))


def test_the_page_says_what_the_data_say(data: Any) -> None:
    page = (DOCS / "calibration.md").read_text("utf-8")
    assert insert(page, data) == page
    assert "| `colours` |" in page


def test_a_worse_fault_never_scores_higher(data: Any) -> None:
    for faults in data["scenarios"].values():
        for fault in FAULTS:
            # What is said beside a fault lengthens or shortens the conversation, so positions move a little.
            assert all(b["score"] <= a["score"] + 0.03 for a, b in pairwise(faults[fault])), fault


def test_a_flat_line_is_flat_and_nine_in_ten_intervals_hold_the_prediction(data: Any) -> None:
    cells = [cell for faults in data["scenarios"].values() for of in faults.values() for cell in of]
    assert all(cell["score"] == 1 for cell in cells if cell["predicted"] == 1)
    held = [cell["low"] <= cell["predicted"] <= cell["high"] for cell in cells if cell["predicted"] < 1]
    assert sum(held) > 0.9 * len(held)


def test_memories_are_told_apart_as_often_as_promised(data: Any) -> None:
    planned_size = data["power"]["sizes"][-1]
    assert planned_size["seeds"] == data["power"]["seeds_needed"]
    luck = sqrt(0.8 * 0.2 / data["power"]["comparisons"])
    assert planned_size["promised"] >= 0.8
    assert planned_size["shown"] >= 0.8 - 2 * luck
