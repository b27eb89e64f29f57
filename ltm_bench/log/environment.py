"""environment.json: what differs between machines and moments; kept out of the log, so equal runs have equal logs."""

import json
import platform
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ltm_bench.core.clock import moment, wall
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.log.lines import check_ordinary, write_whole

PACKAGES = (
    "ltm-bench",
    "openai",
    "anthropic",
    "chromadb",
    "tiktoken",
    "rapidfuzz",
    "json-repair",
    "genai-prices",
)
"""Packages whose versions are recorded."""


Tags = Mapping[str, str] | None

FACTS = ("tags", "window", "outlook")
"""What is recorded once: tags, the window that the agent's server said it has, and what was printed of it."""


def record_environment(run: Path) -> None:
    """Record where a run runs, and that it starts now; a resumed run gets another start."""
    packages = {}
    for package in PACKAGES:
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            continue
    known = environment_of(run)
    earlier = known.get("started")
    content = {
        "started": [*(earlier if isinstance(earlier, list) else []), wall().isoformat(timespec="seconds")],
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
        "calls_kept": known.get("calls_kept", not earlier),
    }
    _write(run, content | {key: known[key] for key in FACTS if key in known})


def record_facts(run: Path, tags: Tags = None, *, window: int | None = None, outlook: str = "") -> None:
    """Record facts of a run, none of which is part of its identity; a resumed run keeps those that are recorded.

    Args:
        run: The run folder.
        tags: Added to its tags, or in place of them.
        window: The window that the agent's server said it has.
        outlook: What was printed of it.
    """
    known = environment_of(run)
    new = {key: fact for key, fact in (("window", window), ("outlook", outlook)) if fact and key not in known}
    if tags or new:
        tagged = {**(known["tags"] if isinstance(known.get("tags"), dict) else {}), **(tags or {})}
        _write(run, known | new | ({"tags": tagged} if tags else {}))


def window_of(run: Path) -> int | None:
    """Return the window that the agent's server said it has when the run began; None if not recorded."""
    found = environment_of(run).get("window")
    return found if type(found) is int and found > 0 else None


def calls_kept(environment: Mapping[str, Any]) -> bool:
    """Whether each call of a run was kept from its start on."""
    return environment.get("calls_kept") is True


def _write(run: Path, content: Mapping[str, Any]) -> None:
    check_ordinary(run / "environment.json")
    write_whole(run / "environment.json", json.dumps(content, indent=2).encode() + b"\n")


def environment_of(run: Path) -> dict[str, Any]:
    """Return where and when a run ran; empty if unknown or unreadable."""
    try:
        content = json_of(content_of(run / "environment.json"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def ended_by(environment: Mapping[str, Any]) -> str | None:
    """Return the version of ltm-bench that worked on a run last; None if not recorded."""
    packages = environment.get("packages")
    found = packages.get("ltm-bench") if isinstance(packages, dict) else None
    return found[:20] if isinstance(found, str) else None


def begun_in(environment: Mapping[str, Any]) -> datetime | None:
    """Return the wall-clock time of a run's first start; None if not recorded."""
    started = environment.get("started")
    first = started[0] if isinstance(started, list) and started else None
    return moment(first)
