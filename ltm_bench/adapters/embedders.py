"""Text to vectors by name: the local embedding, a model behind an OpenAI-compatible URL, or a user's own callable."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from ltm_bench.adapters import embedding
from ltm_bench.core.errors import AgentError, ConfigError, bare

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Embedder = Callable[[Sequence[str]], "ArrayLike"]
"""Texts in, one row of numbers for each out."""

LOCAL = "local"
_PYTHON = "python:"
_VENDOR = "https://api.openai.com/v1"
_BATCH = 256
_ATTEMPTS = 4


def embedder(name: str = LOCAL, base_url: str | None = None) -> Embedder:
    """Return an embedder. Raises ConfigError where it cannot be had.

    Args:
        name: `local`; `python:module:callable`; else the name of a model at `base_url`.
        base_url: An OpenAI-compatible server, OpenAI's own if left out. The key is OPENAI_API_KEY.
    """
    if name == LOCAL:
        return embedding.embed
    if name.startswith(_PYTHON):
        module, colon, attribute = name.removeprefix(_PYTHON).partition(":")
        try:
            found = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigError(f"embedder {name}: {error}; write it as python:module:callable") from error
        if not colon or not callable(found):
            raise ConfigError(f"embedder {name}: write it as python:module:callable")
        return cast(Embedder, found)
    url = (base_url or os.environ.get("OPENAI_BASE_URL") or _VENDOR).rstrip("/")
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key and url == _VENDOR:
        raise ConfigError(
            f"embedder {name}: OPENAI_API_KEY is not set; export it, or set a base URL, or use local"
        )
    return _Remote(name, url, key or "no-key")


class _Remote:
    """Asks `POST /embeddings`; the key shows up nowhere."""

    def __init__(self, model: str, url: str, key: str) -> None:
        self._model, self._url, self._key = model, url, key
        self.tokens: int | None = 0
        """What the server says that it has embedded; None once it did not say."""

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        rows: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            rows += self._batch([text or " " for text in texts[start : start + _BATCH]])
        return rows

    def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        import httpx2

        problem = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                time.sleep(0.5 * 2**attempt)
            try:
                answer = httpx2.post(
                    f"{self._url}/embeddings",
                    json={"model": self._model, "input": list(texts), "encoding_format": "float"},
                    headers={"Authorization": f"Bearer {self._key}"},
                    timeout=60.0,
                )
                if answer.status_code in (429, 500, 502, 503, 504):
                    problem = f"HTTP {answer.status_code}"
                    continue
                answer.raise_for_status()
                content = answer.json()
                data: list[Any] = sorted(content["data"], key=lambda row: row["index"])
                spent = (content.get("usage") or {}).get("prompt_tokens")
                self.tokens = self.tokens + spent if self.tokens is not None and spent is not None else None
                if len(data) != len(texts):
                    raise ValueError(f"{len(data)} vectors for {len(texts)} texts")
                return [list(map(float, row["embedding"])) for row in data]
            except httpx2.HTTPStatusError as error:
                raise AgentError(
                    f"embedder {self._model} at {bare(self._url)}: HTTP {error.response.status_code}"
                ) from None
            except httpx2.HTTPError as error:
                problem = type(error).__name__
            except (ValueError, LookupError, TypeError) as error:
                raise AgentError(
                    f"embedder {self._model} at {bare(self._url)}: {type(error).__name__}: {error}"
                ) from None
        raise AgentError(f"embedder {self._model} at {bare(self._url)}: {problem}, {_ATTEMPTS} times")
