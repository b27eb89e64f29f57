"""From entries to boards: which runs are comparable, and which groups the data separates. Pure.

A board holds runs with comparable scores: one `bench_version`, one suite with one content, one mode. Runs that differ
in any of these are on another board, under its own name.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ltm_bench.export.leaderboard.entries import BoardEntry
from ltm_bench.log.manifest import Manifest
from ltm_bench.report.words import plural, short_tokens
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.pairs import Pair
from ltm_bench.score.comparison.runs import Comparison, compare
from ltm_bench.score.results.run import NOBODY

REFERENCES = {
    "perfect": "oracle: is told the answers",
    "goldfish": "baseline: remembers nothing",
    "reciter": "baseline: recites its last messages",
    "parrot": "baseline: repeats each message",
}
"""Adapters that measure the benchmark, not themselves."""


class BoardRow(NamedTuple):
    """An entrant at one span."""

    cell: Cell
    entries: Sequence[BoardEntry]

    @property
    def place(self) -> str:
        """The range of places that the data allows: `1`, `2–4`."""
        return "–" if self.cell.rank is None else "–".join(map(str, dict.fromkeys(self.cell.rank)))

    @property
    def reference(self) -> str:
        """Its role, if it measures the benchmark rather than itself; else empty."""
        return REFERENCES.get(self.entries[0].manifest.agent.adapter, "")

    @property
    def judged_by(self) -> list[str]:
        """Who judged its doubtful replies, and whether that judge passed calibration; a sentence each."""
        found = []
        for note in (note for entry in self.entries for note in entry.results.judges):
            if note.published:
                known = "used the set's own prompts"
                if note.false_accepts is not None:
                    known += f", passes {note.false_accepts:.2f} of {note.vague} vague wrong answers"
            elif note.sensitivity is None or note.specificity is None:
                known = "never calibrated"
            else:
                known = f"sensitivity {note.sensitivity:.2f}, specificity {note.specificity:.2f}"
                known += "" if note.believed else ", failed calibration"
            found.append(f"{note.name}: {plural(note.replies, 'reply', 'replies')}, {known}")
        readers = [each for entry in self.entries for each in entry.results.readers if each != NOBODY]
        found += [f"read blind by {each}" for each in readers]
        by_hand = sum(entry.results.overridden for entry in self.entries)
        if by_hand:
            found.append(f"{plural(by_hand, 'verdict')} by hand")
        undecided = sum(entry.results.undecided for entry in self.entries)
        if undecided:
            found.append(f"{undecided} undecided, which count 0")
        return list(dict.fromkeys(found))

    @property
    def audited(self) -> list[str]:
        """The error of its scorers, from audits."""
        return [audit.headline for entry in self.entries for audit in entry.results.audits]

    @property
    def run_on(self) -> str:
        """The days of its runs."""
        days = sorted({day for entry in self.entries if (day := entry.run_on) is not None})
        return "" if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


class SpanTable(NamedTuple):
    """The entrants of one span."""

    span: int
    groups: Sequence[Sequence[BoardRow]]
    """Best first, cut wherever the data separates all rows above from all rows below."""
    skills: Sequence[str]
    """All that any row has."""
    pairs: Sequence[Pair]

    @property
    def rows(self) -> list[BoardRow]:
        """All of them, the best first."""
        return [row for group in self.groups for row in group]

    @property
    def finding(self) -> str:
        """The finding about agents other than `REFERENCES`, in a sentence."""
        real = [row.cell.entrant for row in self.rows if not row.reference]
        real = real or [row.cell.entrant for row in self.rows]
        beats = better(self.pairs)
        first = [name for name in real if not any((other, name) in beats for other in real)]
        where = f"At a span of {short_tokens(self.span)}"
        if len(real) == 1:
            beside = ", beside baseline or oracle" if len(self.rows) > 1 else ""
            return f"{where} there is one agent, {real[0]}{beside}."
        if len(first) == 1:
            [best] = first
            beaten = sum((best, name) in beats for name in real)
            whom = {2: "the other one", 3: "both others"}.get(len(real), f"all {beaten} others")
            if beaten < len(real) - 1:
                whom = f"{beaten} of {len(real) - 1} others, and nobody is shown to be better"
            return f"{where}, {best} is ahead of {whom}."
        names = ", ".join(first[:3]) + (f" and {len(first) - 3} more" if len(first) > 3 else "")
        if len(real) == 2:
            return f"{where} the data does not tell which of two agents is better: {names}."
        return f"{where} any of {len(first)} agents may be the best, of {len(real)} in all: {names}."


class Board(NamedTuple):
    """Comparable runs."""

    name: str
    """Unique among boards; a valid file name on any system."""
    suite: str
    mode: str
    version: int
    """The `bench_version`, which covers everything that a score depends on."""
    apart: str
    """Other differences from a board of the same suite, mode and version; empty if there is no such board."""
    historical: bool
    entries: Sequence[BoardEntry]
    comparison: Comparison
    spans: Sequence[SpanTable]

    @property
    def title(self) -> str:
        """Suite, mode and version, in words."""
        return " · ".join(filter(None, (self.suite, self.mode, f"bench_version {self.version}", self.apart)))

    @property
    def newest(self) -> str | None:
        """The day of its latest run."""
        return max((day for entry in self.entries if (day := entry.run_on) is not None), default=None)


def mode_of(manifest: Manifest) -> str:
    """Describe the mode of a conversation."""
    words = [manifest.mode]
    how = (manifest.questions, manifest.acknowledge, manifest.filler.mode)
    if how == ("forked", "scripted", "scripted") and not manifest.suite.isolated:
        words.append("quick")
    if manifest.filler.mode == "live":
        words.append("live filler")
    if manifest.suite.isolated:
        words.append("isolated examples")
    return ", ".join(words)


def _content(manifest: Manifest) -> str:
    """Return what was asked and how it was measured: everything that comparable scores must share."""
    suite = manifest.suite
    asked = [
        (
            row.name,
            row.scenario,
            row.version,
            row.hash,
            {k: v for k, v in row.parameters.items() if k != "span"},
        )
        for row in suite.scenarios
    ]
    filler = (manifest.filler.source, manifest.filler.digest, manifest.filler.max_tokens)
    return json.dumps(
        [asked, filler, manifest.tokenizer, suite.stagger, suite.opening], sort_keys=True, default=str
    )


class _Kind(NamedTuple):
    """What a board is named after."""

    historical: bool
    suite: str
    mode: str
    version: int


def boards(entries: Sequence[BoardEntry]) -> list[Board]:
    """Return the boards of entries: those with most entries first, historical ones last."""
    grouped: dict[_Kind, dict[str, list[BoardEntry]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        manifest = entry.manifest
        kind = _Kind(entry.historical, manifest.suite.name, mode_of(manifest), manifest.bench_version)
        grouped[kind][_content(manifest)].append(entry)
    found = []
    for kind, contents in grouped.items():
        usual = max(contents, key=lambda content: len(contents[content]))
        for content, those in contents.items():
            apart = "" if content == usual else _apart(those[0].manifest, contents[usual][0].manifest)
            found.append(_board(kind, content, apart, those))
    return sorted(found, key=lambda board: (board.historical, -len(board.entries), board.title, board.name))


def _apart(manifest: Manifest, usual: Manifest) -> str:
    """Describe how a board differs from the one with the most entries of its name."""
    ours, theirs = ({row.name: row for row in each.suite.scenarios} for each in (manifest, usual))
    lacking = [name for name in theirs if name not in ours]
    more = [name for name in ours if name not in theirs]
    other = [
        name
        for name in ours
        if name in theirs
        and (ours[name].version, ours[name].hash, ours[name].parameters)
        != (theirs[name].version, theirs[name].hash, theirs[name].parameters)
    ]
    parts = [
        f"{word} {_some(names)}"
        for word, names in (("without", lacking), ("with", more), ("another content of", other))
        if names
    ]
    for word, mine, their in (
        ("tokens of", manifest.tokenizer, usual.tokenizer),
        ("filler", manifest.filler.source, usual.filler.source),
        ("stagger", manifest.suite.stagger, usual.suite.stagger),
        ("opening", manifest.suite.opening, usual.suite.opening),
    ):
        if mine != their:
            parts.append(f"{word} {mine}")
    return "; ".join(parts) or "another filler"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _board(kind: _Kind, content: str, apart: str, entries: Sequence[BoardEntry]) -> Board:
    """Compare the entries of one board; there is at least one."""
    comparison = compare(
        [Scored(entry.manifest, entry.results.model_copy(update={"run": entry.name})) for entry in entries],
        say_mode=False,
    )
    by_name = {entry.name: entry for entry in entries}
    return Board(
        name=f"board-{hashlib.sha256(json.dumps([kind, content]).encode()).hexdigest()[:10]}",
        **kind._asdict(),
        apart=apart,
        entries=entries,
        comparison=comparison,
        spans=[_table(comparison, span, by_name) for span in comparison.spans],
    )


def _table(comparison: Comparison, span: int, entries: Mapping[str, BoardEntry]) -> SpanTable:
    rows = [BoardRow(cell, [entries[run] for run in cell.runs]) for cell in comparison.at(span)]
    pairs = [pair for pair in comparison.pairs if pair.span == span]
    names = dict.fromkeys(each.name for row in rows for each in row.cell.skills)
    return SpanTable(span, groups(rows, pairs), list(names), pairs)


def better(pairs: Sequence[Pair]) -> frozenset[tuple[str, str]]:
    """Return who is shown to be better than whom, after correcting for all pairs."""
    return frozenset((pair.first, pair.second) for pair in pairs if pair.separated)


def groups(rows: Sequence[BoardRow], pairs: Sequence[Pair]) -> list[list[BoardRow]]:
    """Cut a ranking where the data separates all above from all below, and nowhere else.

    Args:
        rows: The best first.
        pairs: The differences between these entrants.
    """
    beats = better(pairs)
    found: list[list[BoardRow]] = []
    for i, row in enumerate(rows):
        cut = all((a.cell.entrant, b.cell.entrant) in beats for a in rows[:i] for b in rows[i:])
        if cut:
            found.append([])
        found[-1].append(row)
    return found
