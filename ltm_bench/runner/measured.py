"""An agent's speed, as measured in earlier runs."""

import math
from pathlib import Path

from ltm_bench.core.errors import LtmBenchError
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.log.manifest import AgentEntry
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.folders import REPORTS, all_runs


def seconds_per_reply(agent: AgentEntry, span: int, reports: Path = REPORTS) -> float | None:
    """Return the mean seconds that an agent's replies took in the run whose span is nearest; None without such a run.

    Args:
        agent: The agent's entry; runs with other settings do not count.
        span: The planned run's span in tokens.
        reports: The folder of earlier runs.
    """
    alike: list[tuple[float, str, Path]] = []
    for run in all_runs(reports):
        try:
            manifest = read_manifest(run)
        except LtmBenchError:
            continue
        entry = manifest.agent
        if (entry.adapter, entry.settings) == (agent.adapter, agent.settings):
            far = abs(math.log(max(1, manifest.span) / max(1, span)))
            alike.append((far, run.name, run))
    for _, _, run in sorted(alike):
        if (found := _of(run)) is not None:
            return found
    return None


def _of(run: Path) -> float | None:
    try:
        content = json_of(content_of(run / "results.json"))
        calls, latency = content["costs"]["calls"], content["latency"]
        return None if not calls or latency is None else float(latency["total"]) / int(calls)
    except (OSError, ValueError, LookupError, TypeError):
        return None
