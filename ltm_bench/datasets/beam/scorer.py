"""How BEAM judges: each item of a rubric separately, 0, 0.5 or 1; and the order of events by Kendall's τ.

Two modes. `official` is the published program (`src/evaluation/compute_metrics.py`) as it runs: it truncates scores to
integers, so that 0.5 counts 0 everywhere but in the order of events, and it never tells the judge the question. `paper`
is what the paper describes: 0.5 counts, and the judge knows the question. In both, an order of events scores its τ,
which is what the program reports (`report_results.py`); a column of its own shows τ × F1, which counts what is missing
and what is foreign as well. The questions to the judge are ours.
"""

import itertools
import math
import re
from collections.abc import Generator, Sequence
from typing import Any, Literal, NamedTuple, get_args

from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.matchers.reading import last_readable

Mode = Literal["official", "paper"]
MODES: tuple[Mode, ...] = get_args(Mode)

ORDER = "event_ordering"
"""The ability whose answers are lists."""

TAU_F1 = "tau_f1"
"""The column of τ × F1, for orders of events alone."""


def item_score(score: float, ability: str, mode: Mode) -> float:
    """Return the value of a judge's score for a rubric item."""
    if mode == "official" and ability != ORDER:
        return float(int(score))
    return float(score)


def rubric_score(scores: Sequence[float], ability: str, mode: Mode) -> float:
    """Return the mean over the items of a rubric; 0 for none."""
    return sum(item_score(score, ability, mode) for score in scores) / len(scores) if scores else 0.0


class Ordering(NamedTuple):
    """How well the order of events was reported."""

    precision: float
    recall: float
    f1: float
    tau: float
    """Kendall's τ_b, moved to 0..1; for a single event that is told alone, 1."""
    ordered: bool = True
    """Whether τ is a number in the published program: a single event has no order."""

    @property
    def scores(self) -> dict[str, float]:
        """The scores by column, without the official one if that is not a number."""
        found = order_scores(self.tau, self.tau * self.f1)
        return found if self.ordered else {key: each for key, each in found.items() if key != MODES[0]}


def order_scores(tau: float, tau_f1: float) -> dict[str, float]:
    """Return the scores of an order of events by column."""
    return {**dict.fromkeys(MODES, tau), TAU_F1: tau_f1}


def event_order(events: Sequence[str], told: Sequence[str]) -> Ordering:
    """Compare two lists of events.

    Args:
        events: The right events in their order.
        told: The lines of an answer; a line that means an event is that event, letter by letter (see `aligned`).
    """
    wanted, said = set(events), set(told)
    right = len(wanted & said)
    foreign, left_out = sum(line not in wanted for line in told), sum(event not in said for event in events)
    precision = right / (right + foreign) if right + foreign else 0.0
    recall = right / (right + left_out) if right + left_out else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    union = list(dict.fromkeys([*events, *told]))
    tau = _tau_b(_ranks(events, union), _ranks(told, union))
    if math.isnan(tau):
        return Ordering(precision, recall, f1, float(list(events) == list(told)), ordered=False)
    return Ordering(precision, recall, f1, (tau + 1) / 2)


def _ranks(items: Sequence[str], union: Sequence[str]) -> list[int]:
    places = {item: place for place, item in enumerate(items, start=1)}
    return [places.get(item, len(union) + 1) for item in union]


def _tau_b(first: Sequence[int], second: Sequence[int]) -> float:
    """Return Kendall's τ_b (Kendall 1945); NaN if all of one side is tied."""
    together = apart = tied_first = tied_second = 0
    for (a, x), (b, y) in itertools.combinations(zip(first, second, strict=True), 2):
        product = (a - b) * (x - y)
        together += product > 0
        apart += product < 0
        tied_first += a == b
        tied_second += x == y
    pairs = len(first) * (len(first) - 1) // 2
    if pairs in (tied_first, tied_second):
        return math.nan
    # One root after the other, and bounded, as SciPy does: the published figures agree to the last digit.
    tau = (together - apart) / math.sqrt(pairs - tied_first) / math.sqrt(pairs - tied_second)
    return max(-1.0, min(1.0, tau))


def aligned(events: Sequence[str], lines: Sequence[str]) -> Generator[tuple[str, str], bool, list[str]]:
    """Replace each line with the first unused event of the same meaning.

    Yields an event and a line, and is sent whether they mean the same. Returns the lines.

    Args:
        events: The right events.
        lines: The lines of an answer.
    """
    taken: set[int] = set()
    found = []
    for line in lines:
        meant = line
        for place, event in enumerate(events):
            if place not in taken and (yield event, line):
                taken.add(place)
                meant = event
                break
        found.append(meant)
    return found


def prompt(question: HistoryQuestion, item: str, reply: str, mode: Mode) -> str:
    """Return the question to a judge about one item of a rubric."""
    asked = f"Question: {question.text}\n\n" if mode == "paper" else ""
    return (
        "Rate how far a reply meets one requirement: 1, 0.5 or 0. Judge the requirement alone, and by its sense: other "
        "words for the same thing, and other ways of writing a number, an amount or a date, are as good. Tone, length "
        "and form matter only to a requirement about them.\n"
        "- A reply that evades the question, or is about something else, gets 0, whatever the requirement.\n"
        "- If something must be there: 1 if it is there and right, 0.5 if it is incomplete or has small errors, 0 if "
        "it is missing or wrong. Where that something is an admission that the answer is unknown, admitting it is no "
        "evasion.\n"
        "- If something must stay out: 1 if the reply deals with the question and keeps it out, 0.5 if it lets in a "
        "trace of it, 0 if it lets it in.\n"
        "- If a requirement names several things: 1 for all of them, 0.5 for some, 0 for none.\n\n"
        f"{asked}Requirement: {item}\n\nReply: {reply}\n\n"
        'Answer with JSON alone: {"score": 0, 0.5 or 1, "reason": "one sentence"}'
    )


def same_prompt(event: str, line: str) -> str:
    """Return the question to a judge about an event and a line of an answer."""
    return (
        "Do these two describe the same event or fact? Answer YES or NO, and nothing else.\n\n"
        f"1. {event}\n\n2. {line}"
    )


def read_score(answer: str) -> float | None:
    """Return the last score in a judge's answer; None unless there is one from 0 to 1."""
    found = last_readable(answer, score_of)
    loose = re.findall(r'"?score"?\s*[:=]\s*"?([\d.]{1,6})', answer) if found is None else ()
    return score_of(loose[-1]) if loose else found


def score_of(found: Any) -> float | None:
    """Return the score in a judge's stored answer: an object with `score`, or a number; None if there is none."""
    value = found.get("score") if isinstance(found, dict) else found
    try:
        score = float(str(value))
    except (TypeError, ValueError):
        return None
    return score if 0 <= score <= 1 else None
