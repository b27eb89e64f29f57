"""The measure of proportion tells work that grows with its size from work that grows with the square."""

from collections.abc import Callable

import pytest

from tests.pace import in_proportion


@pytest.mark.parametrize(
    ("took", "expected"),
    [
        (lambda size: size / 100, True),
        (lambda size: size**1.2 / 100, True),
        (lambda size: size**2 / 10_000, False),
        (lambda size: size**2 / 1e6, True),  # both too quick to tell
    ],
)
def test_work_that_grows_with_the_square_is_not_in_proportion(
    took: Callable[[int], float], expected: bool
) -> None:
    assert in_proportion(took, 50) == expected


def test_a_try_that_something_else_slowed_down_does_not_count() -> None:
    hindered = iter([1.0, 50.0, 1.0, 4.0])
    assert in_proportion(lambda _: next(hindered), 50)
