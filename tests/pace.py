"""Whether work takes time in proportion to its size, whatever else the machine does meanwhile."""

from collections.abc import Callable
from math import inf
from time import process_time

TRIES = 5
SLACK = 0.1
"""CPU seconds that the larger work may always take."""


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process that some work takes."""
    begun = process_time()
    work()
    return process_time() - begun


def in_proportion(took: Callable[[int], float], size: int, *, most: float = 8.0) -> bool:
    """Say whether four times the size takes at most `most` times as long.

    Work that grows with the square takes 16 times as long. A busy machine slows down one try or the other, so the best
    of several counts; the first that is good enough is the last.
    """
    short = long = inf
    for _ in range(TRIES):
        short, long = min(short, took(size)), min(long, took(4 * size))
        if long < SLACK + most * short:
            return True
    return False
