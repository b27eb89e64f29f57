"""Run folders: one per run, in a reports folder."""

import re
from pathlib import Path

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.log.controls import KINDS, RUNGS, again_of

REPORTS = Path("reports")
"""The default reports folder."""

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")

_DEVICE = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
"""Names that Windows reserves for devices, with any suffix."""


def run_folder(name: str, *, fresh: bool, reports: Path = REPORTS) -> Path:
    """Return the folder of a run by its name; `fresh` takes the first that is free. Raises ConfigError."""
    chosen = checked_name(name)
    folder = reports / chosen
    beside = 2
    while fresh and folder.exists():
        folder = reports / f"{chosen}-{beside}"
        beside += 1
    return folder


def checked_name(name: str) -> str:
    """Return a valid run name. Raises ConfigError if no folder can have it."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"--name {name:.100}: use letters, digits, '.', '_' and '-', at most 100 of them; begin with a letter or "
            "digit, and do not end with '.'"
        )
    if _DEVICE.fullmatch(name):
        raise ConfigError(f"--name {name}: on Windows this is the name of a device; choose another name")
    return name


def find_run(name: str | None, reports: Path = REPORTS) -> Path:
    """Return an existing run by name or path; without a name the newest one. Raises ConfigError."""
    if name is not None:
        run, dot, kind = name.rpartition(".")
        inside = [again_of(Path(run), kind)] if dot and kind in (*KINDS, *RUNGS) else []
        for folder in (Path(name), reports / name, *inside, *(reports / each for each in inside)):
            if (folder / "events.jsonl").exists():
                return folder
        known = [each.name for each in all_runs(reports)]
        raise ConfigError(
            f"no run is called {name!r}{nearest(name, known)} (runs in {reports}/: {', '.join(known) or 'none'})"
        )
    runs = sorted(all_runs(reports), key=lambda run: (run / "events.jsonl").stat().st_mtime_ns)
    if not runs:
        raise ConfigError(f"there is no run in {reports.resolve()}; start one with `ltm-bench run`")
    return runs[-1]


def find_runs(name: str, reports: Path = REPORTS) -> list[Path]:
    """Return an existing run by name or path, or all runs of a folder. Raises ConfigError."""
    is_run = any((folder / "events.jsonl").exists() for folder in (Path(name), reports / name))
    return ([] if is_run else all_runs(Path(name))) or [find_run(name, reports)]


def all_runs(reports: Path = REPORTS) -> list[Path]:
    """Return all runs in a folder, by name."""
    return sorted(path.parent for path in reports.glob("*/events.jsonl"))
