"""Hands the runs of a sweep to a Ray cluster that is there already: one task a run, from its log on wherever it goes.

What is exact and what is not is written in docs/design/sweeps.md. Ray and fsspec are imported when they are needed.
"""

from ltm_bench.runner.ray.driver import Terms, connected, sweep_on, too_large
from ltm_bench.runner.ray.resources import EVERYBODY, Resources, read_resources
from ltm_bench.runner.ray.sharing import Shared, is_url

__all__ = [
    "EVERYBODY",
    "Resources",
    "Shared",
    "Terms",
    "connected",
    "is_url",
    "read_resources",
    "sweep_on",
    "too_large",
]
