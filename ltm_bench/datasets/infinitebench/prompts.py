"""The prompts around a task's material, in our own words and in three styles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ltm_bench.datasets.infinitebench.records import Posed

STYLES = ("plain", "step_by_step", "recall")
"""Just the answer; think first; or repeat the part that matters first (context recalling, section 4.3 of the paper)."""

_HIDDEN = (
    "There is one thing worth knowing somewhere in the following text, and it is said in plain words. Everything else "
    "is of no importance. Find it and remember it; you will be asked for it."
)
_BOOK = "Please read this book; there is going to be a question about it."

_BEGIN: Mapping[str, str] = {
    "passkey": _HIDDEN,
    "number_string": _HIDDEN,
    "kv_retrieval": "Here is a JSON object. You will be asked for the value of one of its keys.",
    "math_find": "Here is a list of numbers. You will be asked something about all of it.",
    "math_calc": "Here is a long sum. Work from left to right, and keep track of the value after every operator.",
    "code_run": "Here are many small Python functions. You will be asked what a call returns.",
    "code_debug": "Here is the code of a project. One function in it has an obvious error, put there on purpose.",
    "longbook_sum_eng": _BOOK,
    "longbook_qa_eng": _BOOK,
    "longbook_choice_eng": _BOOK,
    "longbook_qa_chn": "请阅读下面这本书，之后会有一个关于它的问题。",
    "longdialogue_qa_eng": "Here is a script in which one name of a character has been replaced by $$MASK$$.",
}

_QUESTION: Mapping[str, str] = {
    "passkey": "What is the pass key? Write its digits alone.",
    "number_string": "What is the sequence of digits? Write its digits alone.",
    "kv_retrieval": 'What is the value of the key "{input}" in the JSON object? Write the value alone.',
    "math_find": "What is the {input} in the list? (Of equal numbers only one counts, but for the median.) "
    "Write one number alone.",
    "math_calc": "Write the values of that sum after the first operator, after the second one, and so on, to the end, "
    "as a list of numbers. Leave the starting number out, and write nothing else.",
    "code_run": "What does the call {input} return? Write the number alone.",
    "code_debug": "Which of these functions has the error?\n{options}\nAnswer with the letter, a full stop, and the "
    "name of the function.",
    "longbook_sum_eng": "Please summarise that book.",
    "longbook_qa_eng": "A question about that book: {input}\nAnswer as briefly as you can, in a few words.",
    "longbook_choice_eng": "A question about that book: {input}\n{options}\nAnswer with one letter alone.",
    "longbook_qa_chn": "关于这本书的问题：{input}\n请尽量简短地回答。",
    "longdialogue_qa_eng": "Who is the character that $$MASK$$ stands for? Write the name alone.",
}

_THINK = (
    "{question}\nThink it through step by step first, then end with a line that begins with 'Answer:' and holds "
    "nothing but the answer."
)
_RECALL = (
    "{question}\nFirst repeat the part of the material that decides it, word by word, then end with a line that begins "
    "with 'Answer:' and holds nothing but the answer."
)

_RUNNING = "The sum goes on:\n{terms}\nWhat is its value now? Write one number alone."
_STARTS = (
    "Let us work out a long sum together, a part at a time. It starts like this:\n{terms}\n"
    "What is its value so far? Write one number alone."
)


def begin(task: str) -> str:
    """Return the prompt before the material."""
    return _BEGIN[task]


def question(task: str, asked: Posed, style: str) -> str:
    """Return a question. Raises ValueError for an unknown style."""
    if style not in STYLES:
        raise ValueError(f"style = {style!r}: it is {', '.join(STYLES[:-1])} or {STYLES[-1]}")
    options = "\n".join(f"{letter}. {text}" for letter, text in zip("ABCD", asked.options, strict=False))
    plain = _QUESTION[task].replace("{options}", options).replace("{input}", asked.text)
    if style == "plain":
        return plain
    return (_THINK if style == "step_by_step" else _RECALL).replace("{question}", plain)


def running(terms: Sequence[str], *, first: bool) -> str:
    """Return the question for the value of a sum that comes in parts."""
    return (_STARTS if first else _RUNNING).replace("{terms}", " ".join(terms))
