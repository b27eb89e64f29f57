"""The variants of `vector_memory`, offline, as the span grows: score, time, memory, disk.

    python -m perf.memory [--variants semantic,scratchpad] [--spans 2k,32k,120k,500k]

Every run is a separate process. `MB` is its peak memory; `engine` is the peak memory of a run of `goldfish` at the same
span, and `store` is the growth of a process that only puts the same passages into a store. The remainder, `rest`, must
not grow with the span. `disk` is the agent's folder. The goal: 500k in less than two minutes on two cores.

`semantic` answers with the extractive core. The others have a scripted core behind openai_chat, in this process: it
writes queries and notes from the words of a message, and answers from what it is shown by the same rules. So the
columns show what a variant costs, and whether it finds more, but not how well it does with a real model.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ltm_bench.adapters import ChromaStore, Passage, extractive, hashing, split_turn
from ltm_bench.adapters.passages import sentences
from ltm_bench.adapters.testing import provider
from ltm_bench.core.messages import Message
from ltm_bench.log.reader import read_turns
from perf.arguments import Arguments, measurement
from perf.processes import apart, peak, spent_on
from perf.tables import table

LOCAL = {"NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "sk-not-a-key-0123456789"}
"""The settings with which a run asks the scripted core."""

VARIANTS = {
    "semantic": (),
    "semantic, core": ("variant=semantic",),
    "query_rewriting": ("variant=query_rewriting",),
    "scratchpad": ("variant=scratchpad",),
    "query_rewriting+scratchpad": ("variant=query_rewriting+scratchpad",),
}
"""The settings of each variant; all but the first use the scripted core."""

_LINE = re.compile(r"\[(\w+, \d+ \w+ \d+, \d\d:\d\d), .*? ago\] (User|You): (.*)")
_NOTES_KEPT = 40


def when(text: str) -> datetime:
    """Read the time that precedes messages and passages."""
    return datetime.strptime(text, "%A, %d %B %Y, %H:%M").replace(tzinfo=UTC)


def scripted(messages: Sequence[dict[str, str]]) -> str:
    """Stand in for a core model: queries, notes and answers from the words alone."""
    prompt = messages[-1]["content"].partition("\n")[2]  # without the date that openai_chat puts first
    if prompt.startswith("You look things up"):
        message = prompt.partition("\n\n")[2]
        asked = extractive.question_in(message)
        return json.dumps([" ".join(extractive.focus_of(asked)), asked][: 2 * bool(asked)])
    if prompt.startswith("You keep notes"):
        return noted(prompt.partition("\n\n")[2])
    return answered(prompt)


def noted(text: str) -> str:
    """Add what a turn says about its speaker to the notes, and drop the oldest."""
    pad, _, turn = text.partition("\n\nUser: ")
    message = turn.rpartition("\nYou: ")[0]
    try:
        notes: list[str] = list(json.loads(pad).values())
    except ValueError:
        notes = []
    said = [sentence for line in message.splitlines() for sentence in sentences(line)]
    notes += [each for each in said if extractive.is_personal(each) and not extractive.asks(each)]
    kept = [each[:120] for each in notes[-_NOTES_KEPT:]]
    return json.dumps({str(number): each for number, each in enumerate(kept)})


def answered(prompt: str) -> str:
    """Answer the new message from the passages, notes and turns shown."""
    shown, _, new = prompt.rpartition("# The new message, ")
    at, _, text = new.partition("\n")
    if not extractive.question_in(text):
        return "Noted."
    return extractive.answer(Message(text, when(at), 0), list(passages(shown, when(at))))


def passages(shown: str, now: datetime) -> Iterator[Passage]:
    """Read back what the prompt shows."""
    for number, line in enumerate(shown.splitlines()):
        if found := _LINE.fullmatch(line):
            yield Passage(number, 0, "user" if found[2] == "User" else "agent", when(found[1]), found[3])
        elif line.startswith("User: "):
            yield Passage(number, 0, "user", now, line.removeprefix("User: "))
        elif line.startswith('{"0": '):
            for part, note in enumerate(json.loads(line).values()):
                yield Passage(number, part, "user", now, note)


class Stored(NamedTuple):
    """The cost of putting passages into a store."""

    passages: int
    mb: float


def store(log: Path, home: Path) -> Stored:
    """Put the passages of a log into a store, and do nothing else."""
    into = ChromaStore(hashing.NAME)
    into.open(home)
    into.adopt([], {}, {})
    passages, begun = 0, None
    for turn in read_turns(log):
        found = split_turn(turn)
        into.add(found, hashing.embed([each.text for each in found]))
        passages += len(found)
        if begun is None:  # the overhead of the first write is not growth
            into.write()
            begun = peak()
    into.close()
    return Stored(passages, peak() - (begun or 0.0))


def disk(folder: Path) -> float:
    """Return the MB of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


@measurement(__doc__, variants=(";".join(VARIANTS), "separated by semicolons"), spans="2k,32k,120k,500k")
def main(args: Arguments) -> None:
    """Measure and print."""
    row = table(*"variant|span|turns|passages|score|s|CPU s|MB|engine|store|rest|disk MB".split("|"))
    with tempfile.TemporaryDirectory() as temporary, provider(scripted) as server:
        place = Path(temporary)
        core = ("core=openai_chat:some-model", f"base_url={server.openai_url}")
        for span in args.spans.split(","):
            engine = spent_on(["run", "--span", span, "--agent", "goldfish", "--name", f"g-{span}"], place)
            for number, variant in enumerate(args.variants.split(";")):
                settings = VARIANTS[variant]
                name = f"{number}-{span}"
                given = [word for each in (*settings, *core) for word in ("-A", each)] if settings else []
                cost = spent_on(["run", "--span", span, "--name", name, *given], place, environment=LOCAL)
                server.requests.clear()
                run = place / "reports" / name
                results = json.loads((run / "results.json").read_text("utf-8"))
                stored = apart(store, run / "events.jsonl", place / f"store-{name}")
                rest, score = cost.mb - engine.mb - stored.mb, f"{results['score']:.2f} / {results['out_of']}"
                figures = (*cost, engine.mb, stored.mb, rest, disk(run / "agent"))
                counts = (f"{results['turns']:,}", f"{stored.passages:,}")
                row(variant, span, *counts, score, *(f"{each:.0f}" for each in figures))
