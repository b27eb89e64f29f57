"""Tells which runs belong to one entrant, names every entrant, and says what an example is known by."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ltm_bench.core.grouping import grouped
from ltm_bench.log.manifest import IMPORTED, IN_LINE, Manifest
from ltm_bench.score.results.examples import ExampleResult
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
        "data": ", ".join(str(e.parameters["digest"]) for e in suite.scenarios if "digest" in e.parameters),
    }


_MAY_GO_WITH_SPAN = ("suite", "scenarios", "data")
"""Keys that may change with the span: they set runs apart only if they differ at the same span."""


Asked = tuple[str, str, tuple[str, ...]]
"""An example's name, its scenario's content and, if it was imported, its questions."""


def asked_by(run: Scored) -> Iterator[tuple[Asked, ExampleResult]]:
    """Yield a run's examples, each with what it is known by: only the same question can be compared.

    Imported examples are numbered as they come, so that their words say which they are. Those of played ones may
    differ with the time at which they are asked.
    """
    content = {
        entry.name: json.dumps([entry.version, entry.hash, entry.parameters], sort_keys=True, default=str)
        for entry in run.manifest.suite.scenarios
    }
    imported = run.manifest.agent.adapter == IMPORTED
    for each in run.results.examples:
        words = tuple(question.text for question in each.questions) if imported else ()
        yield (each.id, content.get(each.scenario, ""), words), each


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, None]:
    return dict.fromkeys(key for key in (*one, *other) if one.get(key) != other.get(key))


def _apart(runs: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, None]:
    """Return the keys that set runs of one agent apart, from their spans and identities.

    Whatever differs between any two of them differs between one of these and the first.
    """
    span, first = runs[0]
    apart: dict[str, None] = {}
    for its_span, identity in runs:
        found = _differing(first, identity)
        apart |= {key: None for key in found if its_span == span or key not in _MAY_GO_WITH_SPAN}
    for same in grouped(runs).values():
        for identity in same:
            apart |= _differing(same[0], identity)
    if "suite" in apart:  # which says whether its examples are isolated
        apart.pop("isolated", None)
    return apart


def entrants(runs: Sequence[Scored], *, say_mode: bool = True) -> list[str]:
    """Name the entrant of every run: its agent, with whatever sets it apart from others of the same name.

    Unless all runs are in-line, every name includes the run's mode if `say_mode` is true.
    """
    identities = [_identity(run.manifest) for run in runs]
    both = zip(runs, identities, strict=True)
    by_agent = grouped((run.results.agent, (run.results.span, mine)) for run, mine in both)
    apart = {agent: _apart(of) for agent, of in by_agent.items()}
    names = []
    say_mode = say_mode and any(run.manifest.mode != IN_LINE for run in runs)
    for run, mine in zip(runs, identities, strict=True):
        spelt = "; ".join(f"{key}={mine.get(key)}" for key in apart[run.results.agent])
        name = f"{run.results.agent} ({spelt})" if spelt else run.results.agent
        names.append(f"{name} · {run.manifest.mode}" if say_mode else name)
    return names
