"""GoodAI's LTM Benchmark, the predecessor: its published definitions and results, read, imported and run.

Published by GoodAI under the MIT licence: https://github.com/GoodAI/goodai-ltm-benchmark
"""

from ltm_bench.datasets.goodai.expectations import expectations
from ltm_bench.datasets.goodai.files import (
    Definition,
    Exchange,
    Published,
    definitions,
    find_definition,
    results,
)
from ltm_bench.datasets.goodai.importing import ADAPTER, log_of, run_name, runs
from ltm_bench.datasets.goodai.suite import Recipe, plays, recipes

__all__ = [
    "ADAPTER",
    "Definition",
    "Exchange",
    "Published",
    "Recipe",
    "definitions",
    "expectations",
    "find_definition",
    "log_of",
    "plays",
    "recipes",
    "results",
    "run_name",
    "runs",
]
