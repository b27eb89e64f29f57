"""Differences in how runs were made and scored, beyond agent, span and seed: they may explain differences in score."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ltm_bench.core.grouping import grouped
from ltm_bench.log.manifest import Manifest
from ltm_bench.score.results.run import Results

_WATCHED: Mapping[str, Callable[[Manifest], Any]] = {
    "token counter": lambda m: m.tokenizer,
    "ltm-bench version": lambda m: m.version,
    "benchmark version": lambda m: m.bench_version,
    "mode": lambda m: m.mode,
    "isolation": lambda m: m.suite.isolated,
    "stagger": lambda m: m.suite.stagger,
    "opening message": lambda m: m.suite.opening,
    "filler": lambda m: f"{m.filler.source} ({m.filler.digest[:8]})",
    "longest filler message": lambda m: m.filler.max_tokens,
}


_Shown = dict[str, dict[str, list[str]]]
"""What runs were made or scored with: the runs by value, by its name."""


def made_otherwise(runs: Mapping[str, Manifest]) -> Iterator[str]:
    """Yield a line for each difference in how runs were made, from their manifests by name."""
    yield from _other_questions(runs)
    shown: _Shown = defaultdict(lambda: defaultdict(list))
    having: dict[str, set[str]] = defaultdict(set)
    for run, manifest in runs.items():
        for what, get in _WATCHED.items():
            shown[what][str(get(manifest))].append(run)
        for name, version in manifest.scorers.items():
            shown[f"version of scorer {name}"][str(version)].append(run)
        for entry in manifest.suite.scenarios:
            what = f"scenario {entry.name}"
            shown[f"number of examples of {what}"][str(entry.examples)].append(run)
            shown[f"content of {what}"][entry.hash[:8]].append(run)
            own = {key: v for key, v in entry.parameters.items() if key != "span"}  # that is the run's
            shown[f"parameters of {what}"][json.dumps(own, default=str)].append(run)
            having[what].add(run)
    yield from _lines(shown)
    for what, names in having.items():
        if len(names) < len(runs):
            yield f"{what} is not in {_some([run for run in runs if run not in names])}"


def _other_questions(runs: Mapping[str, Manifest]) -> Iterator[str]:
    """Yield the scenarios with several versions, whose questions and scores differ."""
    having: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for run, manifest in runs.items():
        for entry in manifest.suite.scenarios:
            having[entry.name][entry.version].append(run)
    told: dict[str, list[str]] = defaultdict(list)
    for name, by_version in having.items():
        if len(by_version) > 1:
            which = (f"{version} in {_some(of)}" for version, of in sorted(by_version.items()))
            told["; ".join(which)].append(name)
    for versions, names in told.items():
        listed = ", ".join(names)
        yield f"scores are not comparable, since other versions ask other questions: {listed} (version {versions})"


def scored_otherwise(runs: Sequence[Results]) -> Iterator[str]:
    """Yield the remarks on each run, and a line for each difference in what reached the agent or who judged."""
    remarked = grouped((remark, each.run) for each in runs for remark in dict.fromkeys(each.remarks))
    for remark, of in remarked.items():
        yield f"{', '.join(of[:4])}{', …' if len(of) > 4 else ''}: {remark}"
    shown: _Shown = defaultdict(lambda: defaultdict(list))
    for each in runs:
        shown["way in which filler reached the agent"][each.filler_heard].append(each.run)
        judged = sorted(f"{judge.name} ({judge.key[:8]})" for judge in each.judges)
        shown["judges"][", ".join(judged) or "no judge"].append(each.run)
        if read := each.readers:  # without a reply that is for a reader, any reader is as good as none
            shown["blind readers"][", ".join(read)].append(each.run)
        shown["number of manual verdicts"][str(each.overridden)].append(each.run)
    yield from _lines(shown)


def _lines(shown: _Shown) -> Iterator[str]:
    """Yield a line for each difference between runs."""
    for what, by_value in shown.items():
        if len(by_value) > 1:
            listed = (f"{value} in {_some(names)}" for value, names in by_value.items())
            yield f"different {what}: " + "; ".join(listed)


def _some(names: Sequence[str], most: int = 3) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
