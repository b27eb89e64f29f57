"""Loads existing runs: from results.json if it is still what their logs would give, otherwise from their logs."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from ltm_bench.api.runs import Run, stored_references
from ltm_bench.core.errors import ConfigError
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import manifest_in, read_manifest
from ltm_bench.log.remote import Remote, copied, is_url
from ltm_bench.plan.folders import find_runs
from ltm_bench.plan.scenarios import abouts
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.scoring import score_run
from ltm_bench.score.results.stored import FILE, is_newest, is_source, results_in, stored_results


def load(folder: Path) -> Run:
    """Load a run. Raises LogError if its log is damaged."""
    manifest = read_manifest(folder)
    return Run(folder, manifest, stored_results(folder, manifest) or _scored(folder, manifest))


def _scored(folder: Path, manifest: Manifest) -> Results:
    results = score_run(folder, manifest, about=abouts(manifest), explain=True)
    return results.model_copy(update={"references": stored_references(folder, results)})


def load_each(runs: Sequence[Run | str | os.PathLike[str]], reports: Path) -> Iterator[Run]:
    """Load runs one after the other; a folder or URL of runs stands for all of them.

    Raises:
        ConfigError: There is no such run.
        LogError: A log is damaged.
        RunIncomplete: A URL cannot be reached.
    """
    for each in runs:
        if isinstance(each, Run):
            yield each
        elif is_url(name := os.fspath(each)):
            yield from _behind(name)
        else:
            yield from map(load, find_runs(name, reports))


def _behind(url: str) -> Iterator[Run]:
    """Load the run at a URL, or all runs below it: from their headers and results alone, if these are still right."""
    runs = Remote(url).runs(FILE)
    if (first := next(runs, None)) is None:
        raise ConfigError(f"{url}: there is no run; name the URL of a run, or of a folder of runs")
    for each in chain([first], runs):
        manifest = manifest_in(each.head, each.url)
        stored = each.contents[FILE] if is_newest(each.changed) else b""
        results = results_in(stored, each.name, manifest)
        if results is None:
            with copied(each.url, is_source) as folder:
                results = _scored(folder, manifest)
        yield Run(Path(each.name), manifest, results, url=each.url)


@contextmanager
def at_hand(run: Run) -> Iterator[Path]:
    """Give a run's folder for the time of the block; that of a run behind a URL is a copy."""
    if run.url is None:
        yield run.folder
    else:
        with copied(run.url, is_source) as folder:
            yield folder
