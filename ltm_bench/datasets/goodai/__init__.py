"""GoodAI's LTM Benchmark, the predecessor: its published definitions and results, read, imported and run.

Published by GoodAI under the MIT licence: https://github.com/GoodAI/goodai-ltm-benchmark
"""

from ltm_bench.datasets.goodai.suite import Recipe, plays, recipes, spans

__all__ = ["Recipe", "plays", "recipes", "spans"]
