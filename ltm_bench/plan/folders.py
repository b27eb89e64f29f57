"""Where runs land: one folder each, in a folder of reports."""

from __future__ import annotations

import re
from pathlib import Path

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.log.manifest import Manifest
from ltm_bench.plan.scenarios import GOODAI
from ltm_bench.plan.values import spell_span

REPORTS = Path("reports")
"""Where runs land unless another folder is named."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def run_folder(manifest: Manifest, name: str | None, *, fresh: bool, reports: Path = REPORTS) -> Path:
    """Return the folder of a run: by its name, or named after what it is; `fresh` takes the first that is free."""
    chosen = default_name(manifest) if name is None else name
    if not _NAME.fullmatch(chosen):
        raise ConfigError(f"--name {chosen}: use letters, digits, '.', '_' and '-', at most 100 of them")
    folder = reports / chosen
    beside = 2
    while fresh and folder.exists():
        folder = reports / f"{chosen}-{beside}"
        beside += 1
    return folder


def default_name(manifest: Manifest) -> str:
    """Return the name of a run that was given none."""
    suite = manifest.suite.name
    if suite.startswith(GOODAI):
        suite = _plain(f"goodai-{Path(suite.removeprefix(GOODAI)).resolve().name}")
    parts = [
        suite,
        spell_span(manifest.span),
        _plain(manifest.agent.name).strip("-."),
        f"seed{manifest.seed}",
    ]
    if manifest.suite.isolated and manifest.suite.name != "isolated":
        parts.append("isolated")
    parts += ["forked"] * (manifest.questions == "forked") + ["scripted"] * (
        manifest.acknowledge == "scripted"
    )
    return "-".join(parts)


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)


def find_run(name: str | None, reports: Path = REPORTS) -> Path:
    """Return an existing run by name or path; without a name the newest one. Raises ConfigError."""
    if name is not None:
        for folder in (Path(name), reports / name):
            if (folder / "events.jsonl").is_file():
                return folder
        known = [each.name for each in all_runs(reports)]
        raise ConfigError(
            f"no run is called {name!r}{nearest(name, known)} (runs in {reports}/: {', '.join(known) or 'none'})"
        )
    runs = sorted(all_runs(reports), key=lambda run: (run / "events.jsonl").stat().st_mtime_ns)
    if not runs:
        raise ConfigError(f"there is no run in {reports.resolve()}; start one with `ltm-bench run`")
    return runs[-1]


def all_runs(reports: Path = REPORTS) -> list[Path]:
    """Return all runs in a folder, by name."""
    return sorted(path.parent for path in reports.glob("*/events.jsonl"))
