"""The twelve tasks of InfiniteBench (Zhang et al. 2024): made from a seed, or read from the public files."""

from ltm_bench.datasets.infinitebench.files import read_tasks
from ltm_bench.datasets.infinitebench.generating import GENERATORS, running_values
from ltm_bench.datasets.infinitebench.prompts import begin, question, running
from ltm_bench.datasets.infinitebench.records import Record

__all__ = ["GENERATORS", "Record", "begin", "question", "read_tasks", "running", "running_values"]
