"""Which folder a run gets that decides about an agent: a finished run counts only if its agent is the same."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from ltm_bench.core.errors import LtmBenchError
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.planning import Plan
from ltm_bench.plugins.targets import UNKNOWN
from ltm_bench.runner.spent import finished


def folder_to_decide(plan: Plan, folder: Path, notify: Callable[[str], None]) -> Path:
    """Return the folder in which a run decides: its own, or a new one beside it, with a number.

    The last run of this agent counts: it is resumed if it is not finished, and shown again if its code is known to be
    the same. Otherwise the agent is asked again.

    Args:
        plan: The plan.
        folder: The run's own folder.
        notify: Called with one line that says why a folder was chosen that is not new.
    """
    target, last, other = plan.manifest.agent.target, None, False
    for last in _taken(folder):
        try:
            there = read_manifest(last)
        except LtmBenchError:
            return folder  # damaged: what opens it says so
        if there.identity() != plan.manifest.identity():
            if _without_code(there) != _without_code(plan.manifest):
                return folder  # another run: what opens it says so
            other = True
        else:
            other = False
    if last is None:
        return folder
    free = next(each for each in _numbered(folder) if not each.exists())
    if other:
        notify(f"{last} was run with other code of this agent: it is asked again, in {free}")
        return free
    if not finished(plan, last):
        if target == UNKNOWN:
            notify(f"{last} is resumed; whether what answers has changed since cannot be known")
        return last
    if target == UNKNOWN:
        notify(f"{last} is finished, but what answers may have changed since: it is asked again, in {free}")
        return free
    return last


def _numbered(folder: Path) -> Iterator[Path]:
    """Yield a folder, and those beside it with a number: `run`, `run-2`, and so on."""
    yield folder
    yield from (folder.with_name(f"{folder.name}-{number}") for number in count(2))


def _taken(folder: Path) -> Iterator[Path]:
    """Yield the runs that are in these folders already."""
    for each in _numbered(folder):
        if not each.exists():
            return
        if (each / "events.jsonl").exists():
            yield each


def _without_code(manifest: Manifest) -> object:
    agent = manifest.agent.model_copy(update={"hash": "", "target": None})
    return manifest.model_copy(update={"agent": agent}).identity()
