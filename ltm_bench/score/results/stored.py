"""results.json in place of the log: whether scoring a run again would say the same, and if so, what it says."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ltm_bench.core.limits import content_of
from ltm_bench.core.pricing import price_list
from ltm_bench.log.asked import ASKED
from ltm_bench.log.manifest import Manifest
from ltm_bench.plugins.matchers import versions
from ltm_bench.score.results.run import SCHEMA, Results

FILE = "results.json"

SUMS = "SHA256SUMS"
"""The file of hashes in a bundle, in the form that `sha256sum --check` reads."""

PAGES = ("report.html", "transcript.html")
"""A run's pages."""

DERIVED = ("verdicts.jsonl", FILE, *PAGES)
"""The files that are derived from a run's log."""


def pages_are_own(run: Path) -> bool:
    """Whether a run's pages, if any, are ours; those in an unpacked bundle are not, until they are written again."""
    return not (run / SUMS).exists()


def is_newest(changed: Mapping[str, float]) -> bool:
    """Whether results.json is ours, and no older than anything that it is derived from.

    Args:
        changed: When each file of the run was changed, by its path in the run's folder.
    """
    written = changed.get(FILE)
    if written is None or SUMS in changed:
        return False
    return all(at <= written for name, at in changed.items() if is_source(name))


def is_source(name: str) -> bool:
    """Whether results are derived from a file: of those in folders, only from the logs of isolated examples."""
    if "/" in name:
        return name.startswith("isolated/")
    # what was asked scores nothing: only the remark about it may be too old
    return not name.startswith(".") and name not in (*DERIVED, ASKED)


def results_in(content: bytes, name: str, manifest: Manifest) -> Results | None:
    """Return a run's stored results if today's matchers and prices would give them; else None.

    Args:
        content: Of its results.json.
        name: The run's name.
        manifest: The run's manifest.
    """
    try:
        results = Results.model_validate_json(content)
    except ValueError:
        return None
    ours = {"schema_version": SCHEMA, "run": name, "agent": manifest.agent.name, "suite": manifest.suite.name}
    ours |= {key: getattr(manifest, key) for key in ("span", "seed", "bench_version")}
    if any(getattr(results, key) != value for key, value in ours.items()):
        return None
    if "context" not in results.model_fields_set:
        return None  # from before questions had one
    questions = [question for example in results.examples for question in example.questions]
    if any(each.published is not None and not each.published.asked for each in questions):
        return None  # from before questions of public sets were known by more than their place
    used = {question.scorer for question in questions}
    priced = results.costs.price_list.partition(",")[0]  # the day is the run's
    return results if used <= _todays() and priced == price_list() else None


@cache
def _todays() -> frozenset[str]:
    """Return name and version of every built-in matcher: one of a user's own may change without a new version."""
    return frozenset(f"{name}@{version}" for name, version in versions().items())


def stored_results(run: Path, manifest: Manifest) -> Results | None:
    """Return the results in a run's folder if scoring its log would say the same; else None."""
    try:
        changed = {each.name: each.stat().st_mtime for each in run.iterdir() if each.is_file()}
        for each in (run / "isolated").glob("*.jsonl"):
            changed[f"isolated/{each.name}"] = each.stat().st_mtime
        return results_in(content_of(run / FILE), run.name, manifest) if is_newest(changed) else None
    except (OSError, ValueError):
        return None
