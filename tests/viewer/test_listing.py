"""The table of many runs comes in pages, which the server sorts and filters."""

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from ltm_bench.viewer.shown_runs import PAGE, listed
from ltm_bench.viewer.states import RunState

FEW = [RunState(f"r{number}", "parrot") for number in range(PAGE)]
MANY = [
    RunState(
        f"run-{number}",
        ("goldfish", "parrot")[number % 2],
        seed=number,
        state="finished" if number % 10 else "unfinished",
        score=float(number % 7),
        out_of=7,
        started=f"2026-11-01T00:00:{number:04}",
        tags={"who": "Ada" if number % 100 == 3 else "Ben"},
    )
    for number in range(2 * PAGE + 10)
]


def names(query: str) -> list[str]:
    return [each.name for each in listed(MANY, dict(parse_qsl(query))).rows]


def test_all_runs_that_fit_on_one_page_are_left_to_the_browser() -> None:
    listing = listed(FEW, {"words": "nobody", "page": "7"})
    assert (listing.rows, listing.found, listing.pages) == (FEW, PAGE, 1)


def test_pages_hold_every_run_once_newest_first() -> None:
    pages = [names(f"page={page}") for page in (1, 2, 3)]
    assert [len(page) for page in pages] == [PAGE, PAGE, 10]
    assert [name for page in pages for name in page] == [each.name for each in reversed(MANY)]


@pytest.mark.parametrize("page", ["0", "-1", "x", "", "4", "9" * 30, "٣"])
def test_a_page_that_is_none_is_the_first_or_the_last(page: str) -> None:
    assert listed(MANY, {"page": page}).page in (1, 3)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("sort=name&down=0", ["run-0", "run-1", "run-2"]),
        ("sort=name", ["run-409", "run-408", "run-407"]),
        ("sort=score&words=goldfish", ["run-6", "run-20", "run-34"]),
        ("sort=started&down=0&state=unfinished", ["run-0", "run-10", "run-20"]),
        ("words=ADA+parrot", ["run-403", "run-303", "run-203"]),
        ("words=nobody", []),
        ("sort=__class__", ["run-409", "run-408", "run-407"]),
    ],
)
def test_the_server_sorts_and_filters_all_runs(query: str, first: list[str]) -> None:
    assert names(query)[:3] == first


def test_runs_without_a_score_come_last() -> None:
    states = [replace(each, score=None) if each.seed == 5 else each for each in MANY]
    assert listed(states, {"sort": "score", "page": "3"}).rows[-1].name == "run-5"
