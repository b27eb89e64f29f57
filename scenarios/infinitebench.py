"""InfiniteBench: one of its twelve tasks; material fills the span, then come questions about it.

After InfiniteBench (Zhang et al. 2024). The seed generates six of the tasks; all twelve can be read from the public
files with `data = "PATH.jsonl"`, and asked in the published words with `prompts = "PATH/prompt.py"`. The original has
only single prompts (`delivery = "one_shot"`).
"""

from dataclasses import replace
from itertools import islice

from ltm_bench import Ask, Dice, Script, benchmarked, deliver, scenario
from ltm_bench.datasets.infinitebench import (
    GENERATORS,
    Record,
    begin,
    question,
    read_tasks,
    running,
    running_values,
)
from ltm_bench.datasets.infinitebench.generating import Order, signed_numbers, terms_of
from ltm_bench.datasets.infinitebench.prompts import published
from ltm_bench.datasets.infinitebench.scorer import MODES, SCORERS
from ltm_bench.script.deliveries import CHUNK, DELIVERIES, room

FORGET = "That is all of it. If something like it comes up again, it has nothing to do with this."
TERMS = 20
"""Number of terms in each part of a sum that is worked out in a conversation."""

NUMBERS = 200
"""Number of terms in such a sum, unless `size` is given."""


def _record(dice: Dice, task: str, order: Order, data: str, digest: str, first: int) -> Record:
    if not data:
        if task not in GENERATORS:
            raise ValueError(
                f"task = {task!r}: it is read from a file: set data = 'PATH.jsonl' "
                f"(made from the seed are {', '.join(GENERATORS)})"
            )
        return GENERATORS[task](dice, order)
    documents = read_tasks(data, task, digest)
    batches = (
        (document, document.asked[i : i + order.questions])
        for document in documents
        for i in range(0, len(document.asked), order.questions)
    )
    wanted = first + order.index
    for document, asked in islice(batches, wanted, wanted + 1):
        return Record(document.record().pieces, asked)
    raise ValueError(
        f"data = {data!r}: there is no delivery number {wanted} in it, counted from 0; ask fewer examples"
    )


@scenario(skills={"recall", "long read"}, topics={"long material"}, forget=FORGET)
def infinitebench(
    dice: Dice,
    *,
    task: str = "passkey",
    delivery: str = "one_shot",
    span: int = 2000,
    size: int = 0,
    depths: int = 5,
    questions: int = 1,
    style: str = "plain",
    scorer: str = "strict",
    chunk: int = CHUNK,
    most: int = 0,
    data: str = "",
    digest: str = "",
    first: int = 0,
    prompts: str = "",
    templates: str = "gpt4",
) -> Script:
    """Deliver the material of `task`, then ask up to `questions` questions about it."""
    if task not in SCORERS:
        raise ValueError(f"task = {task!r}: it is one of {', '.join(SCORERS)}")
    if scorer not in MODES:
        raise ValueError(f"scorer = {scorer!r}: it is one of {', '.join(MODES)}")
    if min(span, depths, questions) < 1 or min(size, most, first) < 0:
        raise ValueError(
            f"span = {span}, depths = {depths}, questions = {questions} are 1 or more; "
            f"size = {size}, most = {most}, first = {first} are 0 or more"
        )
    order = Order(dice.index, room(span), size, depths, questions)
    if task == "math_calc" and delivery != "one_shot" and not data:
        yield from _worked_out(dice, order, delivery, scorer)
        return
    record = _record(dice, task, order, data, digest, first)
    if prompts:
        if not data or (delivery, questions, style) != ("one_shot", 1, "plain"):
            raise ValueError(
                f"prompts = {prompts!r}: each published prompt holds one question of the public files: set data, and "
                "leave delivery, questions and style as they are"
            )
        (asked,) = record.asked
        before, after = published(prompts, templates, task, asked)
        ask = Ask(after, expect=benchmarked(task, asked.label, mode=scorer))
        yield from deliver(record.pieces, [ask], delivery=delivery, begin=before, most=most, gap="")
        return
    final = style != "plain"
    yield from deliver(
        record.pieces,
        [
            Ask(question(task, each, style), expect=benchmarked(task, each.label, mode=scorer, final=final))
            for each in record.asked
        ],
        delivery=delivery,
        begin=begin(task),
        joint=record.joint,
        chunk=chunk,
        most=most,
    )


def _worked_out(dice: Dice, order: Order, delivery: str, scorer: str) -> Script:
    """Send the sum in parts, and ask for its value after each one; the agent must remember it."""
    if delivery not in DELIVERIES:
        raise ValueError(f"delivery = {delivery!r}: it is one of {', '.join(DELIVERIES)}")
    numbers = signed_numbers(dice, replace(order, size=max(2, order.size or NUMBERS)))
    values = [numbers[0], *running_values(numbers)]
    starts = range(0, len(numbers), TERMS)
    for part, start in enumerate(starts):
        terms = terms_of(numbers)[start : start + TERMS]
        value = values[min(start + TERMS, len(numbers)) - 1]
        yield Ask(
            running(terms, first=not part),
            expect=benchmarked("math_find", [value], mode=scorer),
            at=(part + 1) / len(starts) if delivery == "scattered" else None,
            inline=start + TERMS < len(numbers),  # the next part continues this one's terms
        )
