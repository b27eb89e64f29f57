"""Differences in how runs were made and scored, beyond agent, span and seed: they may explain differences in score."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ltm_bench.log.manifest import Manifest
from ltm_bench.score.results.run import Results

_WATCHED: Mapping[str, Callable[[Manifest], Any]] = {
    "token counter": lambda m: m.tokenizer,
    "ltm-bench version": lambda m: m.version,
    "benchmark version": lambda m: m.bench_version,
    "mode": lambda m: m.mode,
    "isolation": lambda m: m.suite.isolated,
    "stagger": lambda m: m.suite.stagger,
    "filler": lambda m: f"{m.filler.source} ({m.filler.digest[:8]})",
    "longest filler message": lambda m: m.filler.max_tokens,
}


def made_otherwise(runs: Mapping[str, Manifest]) -> Iterator[str]:
    """Yield a line for each difference in how runs were made, from their manifests by name."""
    yield from _other_questions(runs)
    shown: dict[str, dict[str, str]] = defaultdict(dict)
    having: dict[str, list[str]] = defaultdict(list)
    for run, manifest in runs.items():
        for what, get in _WATCHED.items():
            shown[what][run] = str(get(manifest))
        for name, version in manifest.scorers.items():
            shown[f"version of scorer {name}"][run] = str(version)
        for entry in manifest.suite.scenarios:
            what = f"scenario {entry.name}"
            shown[f"number of examples of {what}"][run] = str(entry.examples)
            shown[f"content of {what}"][run] = entry.hash[:8]
            own = {key: v for key, v in entry.parameters.items() if key != "span"}  # that is the run's
            shown[f"parameters of {what}"][run] = json.dumps(own, default=str)
            having[what].append(run)
    yield from _lines(shown)
    for what, names in having.items():
        if lacking := [run for run in runs if run not in names]:
            yield f"{what} is not in {_some(lacking)}"


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
    for remark in dict.fromkeys(remark for each in runs for remark in each.remarks):
        of = [each.run for each in runs if remark in each.remarks]
        yield f"{', '.join(of[:4])}{', …' if len(of) > 4 else ''}: {remark}"
    shown: dict[str, dict[str, str]] = defaultdict(dict)
    for each in runs:
        shown["way in which filler reached the agent"][each.run] = each.filler_heard
        judged = sorted(f"{judge.name} ({judge.key[:8]})" for judge in each.judges)
        shown["judges"][each.run] = ", ".join(judged) or "no judge"
        if each.readers:  # without a reply that is for a reader, any reader is as good as none
            shown["blind readers"][each.run] = ", ".join(each.readers)
        shown["number of manual verdicts"][each.run] = str(each.overridden)
    yield from _lines(shown)


def _lines(shown: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield a line for each difference between runs."""
    for what, values in shown.items():
        by_value: dict[str, list[str]] = defaultdict(list)
        for run, value in values.items():
            by_value[value].append(run)
        if len(by_value) > 1:
            yield f"different {what}: " + "; ".join(
                f"{value} in {_some(names)}" for value, names in by_value.items()
            )


def _some(names: Sequence[str], most: int = 3) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
