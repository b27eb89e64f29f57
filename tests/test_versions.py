"""A scenario's messages and a matcher's verdicts change only with its version.

`versions.json` keeps hashes of both beside the versions. After raising a version, renew it with

    python -m tests.test_versions

A matcher's code may change under the same version if no verdict can change; renewing is then enough, and a reviewer
sees it. Renewing is refused if messages or verdicts differ under the same version. Anything not yet released may change
freely, and is not in the file; `--release` adds it.
"""

import ast
import hashlib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ltm_bench.core.messages import Ask, Matcher, Message, Reply, Turn
from ltm_bench.log.manifest import BENCH_VERSION
from ltm_bench.matchers.forms import dump
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plugins.files import bundled, catalogue
from ltm_bench.plugins.matchers import built_in, examples
from ltm_bench.script.rehearsal import rehearse

HERE = Path(__file__).parent
RECORD = HERE / "versions.json"
RELEASES = {"0.1.0": 1, "0.2.0": 2, "0.3.0": 2, "0.4.0": 4}
"""The `bench_version` of every release; its golden runs tell its other versions."""

FRAMES = (
    "{}",
    "It is {}.",
    "**{}**",
    "First I thought of something else, but the answer is: {}",
    "Not {}.",
    "It used to be {}, but no longer.",
    "Perhaps {}, or something else; I am not sure.",
)
ANYWAY = (
    "",
    "I don't know.",
    "You never told me.",
    "Red, blue, green, yellow, amber and teal.",
    "1, 2, 3, 4, 5, 6, 7, 8",
    '[{"item": "apples", "quantity": 2}, {"item": "rope", "quantity": 1}]',
    "First go north for 2 km to the station, then go east for 3 km to the harbour.",
    "The second one.",
    "B",
)


def digest(values: Iterator[Any]) -> str:
    found = hashlib.sha256()
    for value in values:
        found.update(json.dumps(value, ensure_ascii=True, sort_keys=True, default=str).encode())
    return found.hexdigest()[:16]


def messages(name: str) -> Iterator[Any]:
    """Yield everything a scenario says to an agent that answers correctly, over a few examples of two seeds."""
    for seed in (0, 1):
        plan = make_plan(
            Request(agent="perfect", span="16k", scenarios=[name], examples=3, seed=seed, pace=True)
        )
        for example in plan.examples:
            # What stands around needles is the run's, and follows from its manifest.
            for step in rehearse(replace(example, around=None), plan.counter):
                expect = dump(step.line.expect) if isinstance(step.line, Ask) else {}
                expect.pop("version", None)
                yield [
                    type(step.line).__name__,
                    step.text,
                    step.line.at,
                    step.line.after,
                    step.line.ideal,
                    expect,
                ]


def verdicts(name: str) -> Iterator[Any]:
    """Yield a matcher's verdicts on its own right and wrong replies in several wordings, and on those of others."""
    at = datetime(2026, 1, 5, tzinfo=UTC)
    # Only for recorded matchers, so that a new one does not seem to change the old ones.
    foreign = [
        each.right()[0]
        for kind, found in examples().items()
        for each in found[:1]
        if kind in KNOWN["matchers"] and each.right()
    ]
    for matcher in examples()[name]:
        own = [frame.format(said) for said in (*matcher.right(), *matcher.wrong()) for frame in FRAMES]
        for said in (*own, *foreign, *ANYWAY):
            verdict = matcher.verdict(said, [Turn(Message("Well, what was it?", at, 0), Reply(said))])
            yield [verdict.outcome.value, None if verdict.score is None else round(verdict.score, 6)]


def code(kind: type[Matcher]) -> str:
    """Return the hash of the module of a matcher, without docstrings, comments and empty lines."""
    module = sys.modules[kind.__module__]
    text = inspect.getsource(module)
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", ())
        for inner in body if isinstance(body, list) else ():
            if isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant) and inner.end_lineno:
                lines[inner.lineno - 1 : inner.end_lineno] = [""] * (inner.end_lineno - inner.lineno + 1)
    return digest(line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))


def scenario(name: str) -> dict[str, Any]:
    plan = make_plan(Request(agent="perfect", span="16k", scenarios=[name], examples=1, pace=True))
    return {"version": plan.manifest.suite.scenarios[0].version, "messages": digest(messages(name))}


def matcher(name: str) -> dict[str, Any]:
    kind = built_in()[name]
    return {"version": kind.version, "verdicts": digest(verdicts(name)), "code": code(kind)}


def shipped() -> list[str]:
    return [
        name
        for name, path in catalogue("scenarios").items()
        if path.is_relative_to(bundled("scenarios").resolve())
    ]


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORD.read_text("utf-8"))
    return found


def changed_silently(now: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Return whether messages or verdicts differ from the record under the same version."""
    return now["version"] == before["version"] and any(
        now[key] != before[key] for key in ("messages", "verdicts") if key in now
    )


KNOWN = recorded() if RECORD.exists() else {"scenarios": {}, "matchers": {}}


@pytest.mark.slow
@pytest.mark.proof(scenarios="name", files=("tests/versions.json", "scenarios/formerly.json", "configs/*.*"))
@pytest.mark.parametrize("name", KNOWN["scenarios"])
def test_a_scenarios_messages_change_only_with_its_version(name: str) -> None:
    now, before = scenario(name), KNOWN["scenarios"][name]
    assert not changed_silently(now, before), (
        f"{name} has other messages: raise its version ({before['version']})"
    )
    assert now == before, "its version changed: record it with python -m tests.test_versions"


@pytest.mark.slow
@pytest.mark.proof(scenarios=(), files=("tests/versions.json",), together=True)
@pytest.mark.parametrize("name", KNOWN["matchers"])
def test_a_matchers_verdicts_change_only_with_its_version(name: str) -> None:
    now, before = matcher(name), KNOWN["matchers"][name]
    assert not changed_silently(now, before), (
        f"{name} gives other verdicts: raise its version ({before['version']})"
    )
    assert now == before, (
        f"the code of {name} has changed: raise its version if a verdict can change, "
        "and record it with python -m tests.test_versions"
    )


def test_changes_since_the_last_release_raise_the_version_of_the_benchmark() -> None:
    release, bench_version = list(RELEASES.items())[-1]
    heads = [
        json.loads(log.read_text("utf-8").partition("\n")[0])
        for log in HERE.glob(f"golden/{release}/*/events.jsonl")
    ]
    scenarios = {
        entry.get("scenario") or entry["name"]: entry["version"]
        for head in heads
        if head["agent"]["adapter"] != "imported"
        for entry in head["suite"]["scenarios"]
        if entry["name"] != "plate"  # which no release ships: tests/golden/make.py writes it
    }
    scorers = {name: version for head in heads for name, version in head["scorers"].items()}
    assert scenarios
    assert scorers
    moved = [name for name, version in scenarios.items() if KNOWN["scenarios"][name]["version"] != version]
    moved += [name for name, version in scorers.items() if KNOWN["matchers"][name]["version"] != version]
    assert KNOWN["bench_version"] == BENCH_VERSION
    # It may rise more than once between releases: people also run what is not released yet.
    assert (bench_version < BENCH_VERSION) == bool(moved), f"changed since {release}: {moved}"


def renew(*, release: bool) -> None:
    """Rewrite the file. Fails for anything that changed without its version."""
    now = _now(KNOWN)
    silent = [
        name
        for kind in ("scenarios", "matchers")
        for name, each in now[kind].items()
        if changed_silently(each, KNOWN[kind][name])
    ]
    if silent:
        raise SystemExit(f"raise the version first: {', '.join(silent)}")
    if release:
        # A matcher's verdicts on the replies of others are part of its hash, so the new ones come first.
        KNOWN.update({"scenarios": dict.fromkeys(shipped()), "matchers": dict.fromkeys(built_in())})
        now = _now(KNOWN)
    RECORD.write_text(json.dumps(now, indent=1) + "\n", "utf-8")


def _now(names: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "bench_version": BENCH_VERSION,
        "scenarios": {name: scenario(name) for name in sorted(names["scenarios"])},
        "matchers": {name: matcher(name) for name in sorted(names["matchers"])},
    }


if __name__ == "__main__":
    renew(release="--release" in sys.argv)
