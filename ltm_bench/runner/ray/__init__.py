"""Hands the runs of a sweep to an existing Ray cluster: one task per run, which resumes from its log anywhere.

docs/design/sweeps.md says which figures are exact. Ray is imported when needed.
"""

from ltm_bench.runner.ray.driver import Terms, connected, sweep_on, too_large
from ltm_bench.runner.ray.resources import EVERYBODY, Resources, read_resources
from ltm_bench.runner.ray.sharing import Shared

__all__ = [
    "EVERYBODY",
    "Resources",
    "Shared",
    "Terms",
    "connected",
    "read_resources",
    "sweep_on",
    "too_large",
]
