"""`import goodai`: published results of the predecessor become runs, beside which one's own can be put."""

from __future__ import annotations

from pathlib import Path

from ltm_bench.cli.console import err, out
from ltm_bench.cli.showing import publish
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.tokens import counter
from ltm_bench.datasets import goodai
from ltm_bench.log.events import encode
from ltm_bench.log.manifest import Manifest
from ltm_bench.plan.folders import REPORTS


def import_goodai(folder: Path) -> None:
    """Write a run for every benchmark and agent below a folder. Raises ConfigError if there is none."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: there is no such folder")
    bad = 0

    def complain(line: str) -> None:
        nonlocal bad
        bad += 1
        err().print(f"skipped: {line}", markup=False)

    known = goodai.definitions(folder, complain)
    grouped = goodai.runs(list(goodai.results(folder, complain)))
    if not grouped:
        raise ConfigError(
            f"{folder}: there are no results in it (results-*.jsonl, or results/<agent>/<Scenario>/*.json)"
        )
    count = counter()
    written = 0
    for (benchmark, agent), published in grouped.items():
        run = REPORTS / goodai.run_name(benchmark, agent)
        if run.exists():
            err().print(
                f"{run} is there already, and left as it is; delete it to import it anew", markup=False
            )
            continue
        log = b"".join(
            entry.line() if isinstance(entry, Manifest) else encode(entry)
            for entry in goodai.log_of(published, known, count, complain)
        )
        if not log:
            continue
        run.mkdir(parents=True)
        (run / "events.jsonl").write_bytes(log)
        results = publish(run)
        written += 1
        theirs = f"published {results.published:.2f}" if results.published is not None else ""
        out().print(
            f"{run}: {theirs}, ours {results.score_so_far:.2f} of {results.out_of}, {len(published)} examples",
            markup=False,
        )
    out().print(f"{written} runs imported, {bad} files or examples skipped")
