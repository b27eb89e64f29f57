"""WordLlama's static embeddings: one vector per token, averaged. The package contains the weights (extra `local`)."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ltm_bench.core.extras import extra

NAME = "wordllama-1"
"""Version of the weights: raise it when the same text gets a different vector."""

DIMENSIONS = 256


def embed(texts: Sequence[str]) -> Any:
    """Return one vector per text. Raises ConfigError if WordLlama is not installed."""
    return _model().embed(list(texts))


@lru_cache(maxsize=1)
def _model() -> Any:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    with extra("local", wanted_by="embedder wordllama"):
        import wordllama

    root.handlers[:], root.level = handlers, level  # importing it sets up logging for everybody
    logging.getLogger("wordllama").setLevel(logging.WARNING)
    # It looks for its tokenizer under a name that the package does not use, and would download it.
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
