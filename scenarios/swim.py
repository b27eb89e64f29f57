"""SWiM: questions about a user's own documents, by position, by size, and with the answer left out.

After SWiM (Dsouza et al. 2024). `data` is a folder of documents, `tasks` a file of questions about them
(`ltm-bench swim generate` makes one). Six stories, `chapter_break.md`, are bundled, with two questions each; with
`filled`, letters, notes and plans that nobody asks about (`swim_more.json`) fill the span around them.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ltm_bench import Ask, Dice, Piece, Script, answers, declines, deliver, scenario
from ltm_bench.datasets.swim import Document, arrange, keep, read_documents, read_tasks
from ltm_bench.datasets.swim.arranging import JOINT, size_of
from ltm_bench.filler.kinds import decks
from ltm_bench.script.deliveries import CHUNK, room

BEGIN = "Here are some documents. There will be a question about them; answer it from what they say alone."
QUESTION = (
    "Answer from those documents alone, in a few words. If they do not say it, say that they do not.\n"
    "Question: {question}"
)
FORGET = "That was all about those documents. Others may follow that have nothing to do with them."

TESTS = ("position", "size", "absent", "voting", "control")


@cache
def _shipped() -> tuple[Document, ...]:
    chapters = re.split(
        r"^# ", Path(__file__).with_name("chapter_break.md").read_text("utf-8"), flags=re.MULTILINE
    )
    stories = (chapter.partition("\n")[::2] for chapter in chapters[1:])
    return tuple(Document(title.strip(), text.partition("\n## ")[0].strip()) for title, text in stories)


LENGTH = 24
"""Sentences of a document that fills the span."""


def _more(dice: Dice, tokens: int) -> Iterator[Document]:
    """Yield this many tokens of letters, notes and plans by drawn people; no sentence comes twice up to 100,000."""
    known = json.loads(Path(__file__).with_name("swim_more.json").read_text("utf-8"))
    number = 0
    while True:
        told = [
            (of, each.joint or " ", texts[i : i + LENGTH])
            for of in known["frames"]
            for each in decks(of)
            for texts in [dice.shuffled(each.texts)]
            for i in range(0, len(texts), LENGTH)
        ]
        for of, joint, texts in dice.shuffled(told):
            name, other = dice.sample(known["names"], 2)
            drawn = {"name": name, "other": other, "place": dice.choice(known["places"])}
            drawn |= {"day": dice.choice(known["days"]), "text": joint.join(texts)}
            title, text = (part.format_map(drawn) for part in dice.choice(known["frames"][of]))
            number, tokens = number + 1, tokens - size_of(text)
            if tokens < 0:
                return
            yield Document(f"{title} ({number})", f"{title}\n\n{text}")


@scenario(skills={"recall", "long read"}, topics={"documents"}, forget=FORGET)
def swim(
    dice: Dice,
    *,
    test: str = "position",
    data: str = "",
    tasks: str = "",
    depths: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0),
    shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0),
    runs: int = 5,
    filled: bool = False,
    delivery: str = "one_shot",
    span: int = 4000,
    chunk: int = CHUNK,
    digest: str = "",
    unvalidated: int = 0,
) -> Script:
    """Ask one question. Examples take the questions in turn, each with all `depths`, `shares` or `runs` of its test.

    `position` puts the answer's document at every depth; `size` varies the share of the span around it; `absent` leaves
    it out; `voting` reshuffles everything in each run; `control` always puts it at the first depth. `filled` adds
    documents that nobody asks about, as many as fit into the span.
    """
    if test not in TESTS:
        raise ValueError(f"test = {test!r}: it is one of {', '.join(TESTS)}")
    parts = (*depths, *shares)
    if not depths or not shares or runs < 1 or not all(0.0 <= part <= 1.0 for part in parts):
        raise ValueError(f"depths = {depths}, shares = {shares}: from 0 to 1; runs = {runs}: 1 or more")
    documents = read_documents(data) if data else _shipped()
    if filled:
        held = sum(size_of(each.text) for each in documents)
        documents = (*documents, *_more(Dice(f"{dice.name.rpartition('/')[0]}/more"), room(span) - held))
    questions = read_tasks(Path(tasks) if tasks else Path(__file__).with_suffix(".json"))
    kept = keep(documents, questions, room(span))
    if not kept.tasks:
        why = "; ".join(f"{name}: {reason}" for name, reason in list(kept.dropped.items())[:3])
        raise ValueError(f"span = {span}: no task can be asked ({why})")
    variants = {"position": len(depths), "size": len(shares), "absent": 1}.get(test, runs)
    names = list(kept.tasks)
    run = dice.name.rpartition("/")[0]
    place, variant = divmod(dice.index, variants)
    name = names[place % len(names)]
    task = kept.tasks[name]
    arranged = arrange(
        kept.documents,
        task.answer_docs,
        # The control never differs: if its answers do, that is the agent's own randomness.
        Dice(f"{run}/{name}") if test == "control" else dice,
        depth={"position": depths[variant % len(depths)], "control": depths[0]}.get(test),
        tokens=int(room(span) * shares[variant % len(shares)]) if test == "size" else None,
        absent=test == "absent",
    )
    expect = (declines if test == "absent" else answers)(task.answer)
    yield from deliver(
        [Piece(each.text, "needle" if each.name in task.answer_docs else "matter") for each in arranged],
        [Ask(QUESTION.format(question=task.question), expect=expect)],
        delivery=delivery,
        begin=BEGIN,
        joint=JOINT,
        chunk=chunk,
    )
