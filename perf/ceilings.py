"""The scores of `perfect` and `goldfish` on the real files of public sets, with all questions, in all three modes.

    python -m perf.ceilings factconsolidation-sh-6k=Conflict_Resolution.json locomo=locomo10.json beam-100k=chats/100K

If a set needs a judge, a scripted one knows the gold answers and says no to all others. `of gold` is the published
overall figure of `perfect`, which must be 1; `of nothing` is that of `goldfish`: the score for saying "I do not know".
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.datasets.public import public_set
from perf.harness import Arguments, measurement, spent_on, table

JUDGE = '''"""Knows: a judge that knows the gold answers."""

import json
import re
from pathlib import Path

from ltm_bench import Agent, Message, Reply


class Knows(Agent):
    free = True

    def __init__(self) -> None:
        self.golds = set(json.loads(Path("golds.json").read_text("utf-8")))

    async def reply(self, message: Message) -> Reply:
        text = message.text
        if "same event" in text:
            first, second = re.findall(r"\\n\\n[12]\\. (.*)", text)
            return Reply("YES" if first.strip() == second.strip() else "NO")
        said = text.partition("\\n\\nReply: ")[2]
        said = re.split(r"\\n\\n(?:Answer with|Is the reply|Does the reply)", said)[0].strip()
        right = said in self.golds
        if "yes or no" in text:
            return Reply("Yes." if right else "No.")
        return Reply(json.dumps({"score": float(right), "reason": "because"}))
'''

MODES = {
    "official": ("", "--questions", "forked"),
    "in-line": ("", "--questions", "in-line"),
    "woven": ("-woven", "--span", "400k"),
}


class Found(NamedTuple):
    """An agent's scores."""

    questions: int
    figures: dict[str, float]
    """The set's overall figures, by scorer."""
    seconds: float
    mb: float


def trial(suite: str, data: Path, mode: str, agent: str) -> Found:
    """Ask an agent all questions of a set, in a separate process."""
    ending, *words = MODES[mode]
    which = public_set(suite)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "agents").mkdir()
        (place / "agents" / "knows.py").write_text(JUDGE, "utf-8")
        golds = [
            right.strip()
            for history in which.read(data, lambda _: None)
            for question in history.questions
            for right in which.expect(question, "official").right()
        ]
        (place / "golds.json").write_text(json.dumps(golds), "utf-8")
        judge = ("--judge", "knows") if suite.startswith(("beam", "longmemeval")) else ()
        whole = ("run", "--suite", suite + ending, "--data", str(data), "--agent", agent, "--name", "r")
        spent = spent_on([*whole, *words, *judge], place)
        results: dict[str, Any] = json.loads((place / "reports/r/results.json").read_text("utf-8"))
    (of,) = results["sets"]
    overall = next(line for line in of["lines"] if line["name"] == "overall")
    figures = {column: each["mean"] for column, each in overall["figures"].items()}
    return Found(sum(results["outcomes"].values()), figures, spent.wall, spent.mb)


@measurement(__doc__, sets={"nargs": "+", "metavar": "SUITE=PATH"})
def main(args: Arguments) -> None:
    """Measure and print a table."""
    row = table("suite", "mode", "questions", "of gold", "of nothing", "seconds", "MB", names=2)
    short = False
    for each in args.sets:
        suite, _, path = each.partition("=")
        for mode in MODES:
            top, low = (trial(suite, Path(path).resolve(), mode, agent) for agent in ("perfect", "goldfish"))
            first = next(iter(top.figures))
            short |= top.figures[first] < 1
            figures = (f"{each.figures[first]:.4f}" for each in (top, low))
            row(suite, mode, top.questions, *figures, f"{top.seconds:.0f}", f"{top.mb:.0f}")
    sys.exit(int(short))
