"""What each cue of stance is worth: on how many labelled replies the verdict changes without it.

    python -m perf.cues FOLDER

FOLDER as for `perf.replies`. A cue is one alternative of `ltm_bench/matchers/reading/cues.py`. Printed are, for each,
the verdicts that change, and of those the right ones lost and the wrong ones credited: one that changes nothing on
replies that nobody has seen is there only because English has it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from ltm_bench.core.messages import Outcome
from ltm_bench.matchers.reading import cues, stance, structure
from perf.harness import Arguments, measurement
from perf.replies import ours, questions, replies


def without(phrase: str) -> Iterator[str]:
    """Yield the table's rows without a phrase."""
    for row in cues.CUES.values():
        yield "|".join(each for each in row.split("|") if each != phrase)


def outcomes(folder: Path) -> Sequence[tuple[Outcome, float]]:
    """Return our verdicts on all replies of a folder."""
    for cached in (cues.cues, stance.mentions, structure.read):
        cached.cache_clear()
    known = questions(folder)
    found = [ours(known[each["question"]], each["reply"]) for each in replies(folder)]
    return [(verdict.outcome, verdict.score or 0.0) for verdict in found]


@measurement(__doc__, folder=Path)
def main(args: Arguments) -> None:
    """Leave out each cue in turn, and print what changes."""
    fair = [each["fair"] for each in replies(args.folder)]
    before = outcomes(args.folder)
    phrases = list(dict.fromkeys(each for row in cues.CUES.values() for each in row.split("|")))
    print(f"{len(phrases)} cues; verdicts that change, right ones lost, wrong ones credited")
    for phrase in phrases:
        table = {kind: row for kind, row in zip(cues.CUES, without(phrase), strict=True) if row}
        with patch.dict(cues.CUES, table, clear=True):
            compiled = cues._compiled()
        with patch.object(cues, "_CUES", compiled):
            after = outcomes(args.folder)
        changed = [i for i, each in enumerate(before) if after[i] != each]
        lost = sum(fair[i] == ["correct"] and before[i][1] == 1 for i in changed)
        credited = sum(not {"correct", "partial"} & set(fair[i]) and after[i][1] > 0 for i in changed)
        print(f"{phrase:20} {len(changed):4} {lost:4} {credited:4}")
