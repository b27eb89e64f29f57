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


def grows(work: Callable[[str], object], short: str, long: str) -> str:
    """Return how much longer a text of four times the length takes, if that is too much; otherwise nothing."""
    taken, before = cpu(lambda: work(long)), inf
    if taken < 0.1:
        return ""
    for _ in range(TRIES):  # the first call may have imported something, and another program have interfered
        before = min(before, cpu(lambda: work(short)))
        taken = min(taken, cpu(lambda: work(long)))
        if taken < 9 * max(before, 0.01):
            return ""
    return f"{before:.3f} s and {taken:.3f} s for {short[:40]!r}"


BOMBS = {
    "lists": "[" * 100_000,
    "closed lists": "[" * 900 + "]" * 900,
    "closed objects": '{"a":' * 900 + "1" + "}" * 900,
    "deep objects": '{"a":' * 30_000 + "1" + "}" * 30_000,
    "a number": "1" * 100_000,
    "a number of a field": '{"answer": ' + "1" * 100_000 + "}",
    "numbers": "1" * 5000 + " " + "-" + "2" * 5000 + ", 0x" + "f" * 5000,
    "the same key": "{" + '"answer": "red", ' * 5000 + '"answer": "blue"}',
    "an exponent": '{"answer": 1e999999999}',
    "surrogates": "\ud800" * 10_000 + '{"answer": "\\ud800"}',
    "signs that become eighteen": "ﷺ" * 50_000,
}
