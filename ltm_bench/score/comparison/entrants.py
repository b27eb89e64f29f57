"""Tells which runs belong to one entrant, and names every entrant."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from ltm_bench.log.manifest import IN_LINE, Manifest
from ltm_bench.score.results.run import Results


class Scored(NamedTuple):
    """A run to be compared."""

    manifest: Manifest
    results: Results


def _identity(manifest: Manifest) -> dict[str, Any]:
    """Return what identifies a run up to seed and span."""
    suite, agent = manifest.suite, manifest.agent
    return {
        **agent.settings,
        "adapter": agent.adapter,
        "adapter's content": agent.hash[:8],
        "code": (agent.target or "")[:8],
        "isolated": suite.isolated,
        "tokenizer": manifest.tokenizer,
        "suite": suite.name,
        "scenarios": ", ".join(entry.name for entry in suite.scenarios),
    }


_MAY_GO_WITH_SPAN = ("suite", "scenarios")
"""Keys that may change with the span: they set runs apart only if they differ at the same span."""


def entrants(runs: Sequence[Scored], *, say_mode: bool = True) -> list[str]:
    """Name the entrant of every run: its agent, with whatever sets it apart from others of the same name.

    Unless all runs are in-line, every name includes the run's mode if `say_mode` is true.
    """
    apart: dict[str, dict[str, None]] = defaultdict(dict)
    for one, other in combinations(runs, 2):
        if (agent := one.results.agent) != other.results.agent:
            continue
        ours, theirs = _identity(one.manifest), _identity(other.manifest)
        for key in (*ours, *theirs):
            alike = one.results.span == other.results.span or key not in _MAY_GO_WITH_SPAN
            if alike and ours.get(key) != theirs.get(key):
                apart[agent][key] = None
    for keys in apart.values():
        if "suite" in keys:  # which says whether its examples are isolated
            keys.pop("isolated", None)
    names = []
    say_mode = say_mode and any(run.manifest.mode != IN_LINE for run in runs)
    for run in runs:
        mine = _identity(run.manifest)
        spelt = "; ".join(f"{key}={mine.get(key)}" for key in apart[run.results.agent])
        name = f"{run.results.agent} ({spelt})" if spelt else run.results.agent
        names.append(f"{name} · {run.manifest.mode}" if say_mode else name)
    return names
