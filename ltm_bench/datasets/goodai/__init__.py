"""GoodAI's LTM Benchmark, the predecessor: its published definitions and results, read, imported and run.

Published by GoodAI under the MIT licence: https://github.com/GoodAI/goodai-ltm-benchmark
"""
