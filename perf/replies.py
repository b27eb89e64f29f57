"""How our verdicts on labelled replies compare with those of a fair examiner, scenario by scenario.

    python -m perf.replies FOLDER [--json] [--show] [--reasons]

FOLDER holds `questions.jsonl.gz` (or `questions.jsonl`) and `replies.jsonl`. A question has `question_id`, `scenario`,
`question`, `at`, `expect` (a matcher as a log holds it, of any release) and `before` (the example's turns so far:
`at`, `message`, `reply`). A reply has `question` (an id), `reply`, `fair` (the outcomes that a fair examiner would
accept, most fitting first), `soft` (a human might dispute it), and perhaps `style`, which then has a row of its own.

Three figures, each with n and a 95 % interval (Wilson):

- *right*: of the replies whose `fair` is only `correct`, how many are accepted, undecided, refused (everything else,
  partial credit included);
- *wrong*: of the replies whose `fair` contains neither `correct` nor `partial`, how many score above 0;
- *labels*: of all that are neither `soft` nor undecided by us, how many get one of the outcomes in `fair`.

`--show` prints the replies on which the verdicts differ; `--reasons` up to five replies for each kind of reason
without what it names, so that somebody may read whether it is true of all of them.
"""

import gzip
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import LogError
from ltm_bench.core.messages import Message, Outcome, Reply, Turn, Verdict
from ltm_bench.plugins.matchers import load
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.score.statistics.intervals import wilson
from perf.harness import Arguments, measurement, table

ALL = "all"


@dataclass
class Tally:
    """The verdicts on the replies of one scenario."""

    right: int = 0
    accepted: int = 0
    undecided: int = 0
    wrong: int = 0
    credited: int = 0
    labelled: int = 0
    fitting: int = 0

    def count(self, fair: list[str], soft: bool, verdict: Verdict) -> str | None:
        """Count one verdict; return its fault, if any."""
        outcome, fault = verdict.outcome, None
        if fair == [Outcome.CORRECT]:
            self.right += 1
            self.accepted += outcome is Outcome.CORRECT
            self.undecided += outcome is Outcome.UNDECIDED
            if outcome is not Outcome.CORRECT:
                fault = "undecided" if outcome is Outcome.UNDECIDED else "refused"
        elif not {Outcome.CORRECT, Outcome.PARTIAL}.intersection(fair):
            self.wrong += 1
            if (verdict.score or 0.0) > 0:
                self.credited += 1
                fault = "accepted"
        if not soft and outcome is not Outcome.UNDECIDED:
            self.labelled += 1
            self.fitting += outcome in fair
            if outcome not in fair:
                fault = fault or "label"
        return fault

    @property
    def refused(self) -> int:
        """How many right replies are neither accepted nor undecided."""
        return self.right - self.accepted - self.undecided

    def figures(self) -> dict[str, dict[str, int]]:
        """Return the counts as JSON."""
        right = ("accepted", "undecided", "refused")
        return {
            "right": {"n": self.right} | {name: getattr(self, name) for name in right},
            "wrong": {"n": self.wrong, "accepted": self.credited},
            "labels": {"n": self.labelled, "right": self.fitting},
        }


def questions(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the questions of a folder by their ids."""
    packed, plain = folder / "questions.jsonl.gz", folder / "questions.jsonl"
    text = gzip.decompress(packed.read_bytes()) if packed.is_file() else plain.read_bytes()
    return {each["question_id"]: each for each in map(json.loads, text.decode("utf-8").splitlines())}


def replies(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the labelled replies of a folder."""
    with (folder / "replies.jsonl").open("r", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def ours(question: Mapping[str, Any], reply: str) -> Verdict:
    """Return the current verdict on a reply to a question."""
    expect = load(question["expect"])
    said = [(each["message"], each["reply"], each["at"]) for each in question["before"]]
    said.append((question["question"], reply, question["at"]))
    turns = [
        Turn(Message(message, datetime.fromisoformat(at), number), Reply(answer))
        for number, (message, answer, at) in enumerate(said)
    ]
    return verdict_on(expect, turns[-1].reply, turns)


def kind(verdict: Verdict) -> str:
    """Return an outcome and its reason without names, numbers and quotations."""
    said = re.sub(
        r"“[^”]*”|\d[\d.]*|(?<= says )[^,;]+|(?<=expected )[^,;]+|(?<=: ).*|\b[A-Z][\w-]+",
        "…",
        verdict.reason,
    )
    return f"{verdict.outcome}: {said}"


def share(part: int, n: int) -> str:
    """Print a share with its interval: `97.3 % (95.7-98.4)`."""
    if not n:
        return "-"
    interval = wilson(part / n, n)
    return f"{100 * part / n:.1f} % ({100 * interval.low:.1f}-{100 * interval.high:.1f})"


@measurement(
    __doc__,
    folder=Path,
    json=(False, "print the counts as JSON"),
    show=(False, "print the replies on which we differ"),
    reasons=(False, "print each kind of reason with five replies that got it"),
)
def main(args: Arguments) -> None:
    """Compare and print."""
    try:
        known, judged = questions(args.folder), list(replies(args.folder))
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(
            f"{args.folder}: {error}. Give a folder with questions.jsonl.gz and replies.jsonl"
        ) from None
    tallies: dict[str, Tally] = defaultdict(Tally)
    styles: dict[str, Tally] = defaultdict(Tally)  # those without one under an empty name
    differing, reasons = [], defaultdict[str, list[str]](list)
    for each in judged:
        question = known.get(each["question"])
        if question is None:
            print(f"{each['question']}: no such question, left out", file=sys.stderr)
            continue
        try:
            verdict = ours(question, each["reply"])
        except LogError as error:
            print(f"{each['question']}: {error}, left out", file=sys.stderr)
            continue
        reasons[kind(verdict)].append(
            f"{question['question'][-160:]!r}\n    {each['reply']!r}: {verdict.reason}"
        )
        fault = None
        for tally in (tallies[ALL], tallies[question["scenario"]], styles[each.get("style", "")]):
            fault = tally.count(each["fair"], each["soft"], verdict)
        if fault:
            differing.append((fault, each, verdict))
    names, ways = [ALL, *sorted(set(tallies) - {ALL})], sorted(set(styles) - {""})
    if args.json:
        by_style = {"styles": {way: styles[way].figures() for way in ways}} if ways else {}
        print(json.dumps({name: tallies[name].figures() for name in names} | by_style, indent=1))
        return
    if args.reasons:
        for name, got in sorted(reasons.items()):
            print(name, *got[:: max(1, len(got) // 5)][:5], sep="\n  ")
        return
    if args.show:
        for fault, each, verdict in differing:
            print(f"{fault:9} {each['question']} fair {'/'.join(each['fair'])}{' (soft)' * each['soft']}")
            print(f"    {each['reply']!r}\n    {verdict.outcome} {verdict.score}: {verdict.reason}")
    row = table("replies", "right", "accepted", "undecided", "refused", "wrong > 0", "labels right")
    rows = [(name, tallies[name]) for name in names] + [(f"as {way}", styles[way]) for way in ways]
    for name, tally in rows:
        row(
            name, tally.right, share(tally.accepted, tally.right), tally.undecided, tally.refused,
            f"{tally.credited} of {tally.wrong}", share(tally.fitting, tally.labelled),
        )  # fmt: skip
