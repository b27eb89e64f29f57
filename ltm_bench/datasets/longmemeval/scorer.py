"""How LongMemEval judges: yes or no, depending on the type of question. Also a strict score from text alone.

The prompts to the judge are ours, with the meaning of the official ones (`src/evaluation/evaluate_qa.py`).

A reply is read by what it concludes with, where it says so: `Final answer: …`, in a line of its own or as a heading.
"""

import re
from collections.abc import Generator, Sequence

from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.matchers.reading import Form, abstains, lexicon, mentions, number, read, words

_HEAP = 150
"""Maximum number of words of an answer that is scored by text alone."""

_RULES = {
    "temporal-reasoning": (
        "Count it as right as well if it is equivalent to the reference, or works out every step that leads there. "
        "A part of what the reference requires is not enough. A number of days, weeks or months that is off by one "
        "is still right."
    ),
    "knowledge-update": (
        "The reference is the newest state of affairs. Naming older states besides does no harm, as long as the "
        "newest one is given as the answer."
    ),
    "single-session-preference": (
        "The reference describes what a fitting, personal answer takes into account. The reply need not cover all of "
        "it: it is right if it recalls what the user has told about themselves, and uses it rightly."
    ),
}
_RULE = (
    "Count it as right as well if it is equivalent to the reference, or contains every step that leads there. "
    "A part of what the reference requires is not enough."
)


def prompt(question: HistoryQuestion, reply: str) -> str:
    """Return the prompt to a judge about a reply."""
    if question.unanswerable:
        return (
            "Someone was asked a question that cannot be answered from what they had been told before.\n\n"
            f"Question: {question.text}\n\nWhy it cannot be answered: {question.reference}\n\nReply: {reply}\n\n"
            "Does the reply recognise that? It may say that the information is missing or incomplete, or that it knows "
            "something similar but not this. Answer with yes or no, and nothing else."
        )
    rule = _RULES.get(question.type, _RULE)
    return (
        "Compare a reply with a reference. Does the reply contain what the reference says?\n"
        f"{rule}\n\nQuestion: {question.text}\n\nReference: {question.reference}\n\nReply: {reply}\n\n"
        "Is the reply right? Answer with yes or no, and nothing else."
    )


def inquiry(question: HistoryQuestion, reply: str) -> Generator[str, str, bool]:
    """Ask a judge about a reply, and read its answer as the official program does: `yes` anywhere in it."""
    return "yes" in (yield prompt(question, reply)).lower()


def strict(reply: str, golds: Sequence[str], kind: str, *, unanswerable: bool) -> float | None:
    """Return 1 if the reply gives the gold answer verbatim, 0 if not; None if only a judge can tell.

    Where the reply has a conclusion (`Final answer: …`), that is its answer, whatever stands before it. A gold answer
    that is only denied is not given. Articles are ignored, and a number in words is that in figures. Only a judge can
    tell for preferences, and for golds longer than a phrase. An unanswerable question calls for an abstention.
    """
    end = conclusion(reply) or reply
    if unanswerable:
        return float(abstains(reply) and abstains(end))
    if kind == "single-session-preference" or not golds:
        return None
    accepted = {
        tuple(found): part for gold in golds for part in _alternatives(gold) if (found := _content(part))
    }
    if not accepted or min(map(len, accepted)) > 8:
        return None
    said = _content(end)
    if len(said) > _HEAP:
        return 0.0
    text = f" {' '.join(said)} "
    given = tuple(part for found, part in accepted.items() if f" {' '.join(found)} " in text)
    named = mentions(read(end), lexicon(given))
    return float(bool(given) and (not named or not all(each.denied for each in named)))


def _content(text: str) -> list[str]:
    """Return the words of a text without articles, and numbers in figures."""
    kept = (word for word in words(text) if word not in ("a", "an", "the"))
    return [str(value) if word.isalpha() and (value := number(word)) is not None else word for word in kept]


def _alternatives(gold: str) -> list[str]:
    """Return the parts of a gold answer such as `8 days. 9 days is also acceptable.`, each of which is right."""
    parts = re.split(r"(?<=[.;])\s+|\s+or\s+|\(|\)", gold)
    return [re.sub(r"\b(?:is|are) also acceptable\b|\bincluding the last day\b", "", part) for part in parts]


_LABELS = ("answer", "conclusion")
_MOST = 6
"""Maximum words of a label: `step 4 - final answer`."""


def conclusion(reply: str) -> str:
    """Return what stands behind the last label such as `Final answer:`; nothing if there is no such label."""
    blocks = read(reply).blocks
    for place, block in reversed(list(enumerate(blocks))):
        label, sign, rest = block.text.partition(":")
        said = words(label)
        if (sign or block.form is Form.HEADING) and said[-1:] and said[-1] in _LABELS and len(said) <= _MOST:
            return "\n".join((rest, *(each.text for each in blocks[place + 1 :]))).strip()
    return ""
