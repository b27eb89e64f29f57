"""Default names of runs: short, readable, and unique.

A name says what is asked, how often, the span, the agent and its model, and the seed. Any further option follows, spelt
out if short, else its beginning with a few digits of a hash. Content hashes of files are left out, so that a run whose
scenario was edited is found, and refused, under its name.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from ltm_bench.core.seeds import spell_seed
from ltm_bench.log.manifest import Manifest
from ltm_bench.plan.request import Request
from ltm_bench.plan.suites import Suite
from ltm_bench.plan.values import spell_span

_SPELT = 24
"""Characters that options may take in a name; longer ones are cut, and hashed."""

_AGENT = 40
"""Characters that an agent may take."""

_WORDS = ("questions", "acknowledge", "mode")
"""Differences that one word describes: `forked`, `scripted` needles, `live` filler."""

_BY_FILES = ("digest", "unvalidated")
"""Parameters that follow from the content of files."""

_OPTIONS = ("tokenizer", "suite.isolated", "filler.source", "filler.mode", "questions", "acknowledge")
"""What options change in a manifest besides examples, parameters and settings."""


def run_name(manifest: Manifest, suite: Suite, usual: Sequence[object], settings: Mapping[str, Any]) -> str:
    """Return the name of a run.

    Args:
        manifest: The run's manifest.
        suite: Its suite.
        usual: What its manifest says in the places of `_OPTIONS` if no option is given.
        settings: The settings implied by the agent's name alone.
    """
    names = [entry.name for entry in manifest.suite.scenarios]
    apart = dict(_apart(manifest, suite, usual, settings))
    part = names != [
        row for row in suite.fitting(manifest.span) if row not in (manifest.suite.left_out or ())
    ]
    asked = _suite(manifest.suite.name)
    if part:
        joined = "-".join(names)
        if len(joined) <= _SPELT:
            asked = joined if manifest.suite.name == Request.suite else f"{asked}-{joined}"
        else:
            asked = f"{asked}-{len(names)}-scenarios"
            apart["scenarios"] = names
    counts = {entry.examples for entry in manifest.suite.scenarios}
    several = ""
    if (apart_counts := apart.pop("examples", None)) is not None:
        if len(counts) == 1:
            several = f"x{min(counts)}"
        else:
            apart["examples"] = apart_counts
    agent, span = _agent(manifest, apart), spell_span(manifest.span)
    parts = [
        asked,
        several,
        "" if asked.endswith(f"-{span}") and not several else span,
        agent,
        f"seed{spell_seed(manifest.seed)}",
        "isolated" if apart.pop("isolated", False) else "",
        _rest(apart),
    ]
    return "-".join(filter(None, parts))


def _apart(
    manifest: Manifest, suite: Suite, usual: Sequence[object], settings: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield how a manifest differs from that of a run with the same agent, suite, scenarios, span and seed alone."""
    entries = [(entry, *suite.usual(entry.name)) for entry in manifest.suite.scenarios]
    if any(entry.examples != count for entry, count, _ in entries):
        yield "examples", [entry.examples for entry, *_ in entries]
    for entry, _, parameters in entries:
        # a scenario that has a span has the run's, unless it is given one
        for key, value in _changed(entry.parameters, {"span": manifest.span} | parameters):
            if key in entry.parameters and key not in _BY_FILES:
                yield f"{entry.name}.{key}", value
    yield from _changed(manifest.agent.settings, settings)
    names, given = [each.rpartition(".")[2] for each in _OPTIONS], attrgetter(*_OPTIONS)(manifest)
    yield from _changed(dict(zip(names, given, strict=True)), dict(zip(names, usual, strict=True)))


def _changed(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in dict.fromkeys((*ours, *theirs)):
        if ours.get(key) != theirs.get(key):
            yield key, ours.get(key)


def _suite(name: str) -> str:
    kind, colon, place = name.partition(":")
    if not colon:
        return name
    folder = Path(place).resolve()
    called = folder.parent.name if folder.name == "definitions" else folder.name.removeprefix("definitions-")
    return as_name(f"{kind}-{called}")


def _agent(manifest: Manifest, apart: dict[str, Any]) -> str:
    name = as_name(manifest.agent.name)
    model = apart.get("model")
    if isinstance(model, str) and model:
        name = f"{name}-{as_name(apart.pop('model'))}"
    return name if len(name) <= _AGENT else f"{name[: _AGENT - 7].rstrip('-.')}-{_digest(name)}"


def _rest(apart: Mapping[str, Any]) -> str:
    words = [str(apart[key]) for key in _WORDS if key in apart]
    others = {key: value for key, value in apart.items() if key not in _WORDS}
    spelt = "-".join(f"{key}-{value}" for key, value in others.items())
    if len(spelt) > _SPELT or as_name(spelt) != spelt:
        begun = as_name(re.sub(r"\w+://", "", spelt))[:_SPELT].rstrip("-.")
        spelt = f"{begun}-{_digest(json.dumps(others, sort_keys=True, default=str))}"
    return "-".join(filter(None, [*words, spelt]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:6]


def as_name(text: str) -> str:
    """Return a text as part of a folder's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")
