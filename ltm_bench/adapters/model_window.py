"""The window of a model on a server that is not the vendor's own, as the server itself says it.

vLLM and most gateways put it into their list of models, llama.cpp into its properties, and Ollama into its list of
models that are loaded.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from ltm_bench.adapters.endpoint import EXAMINING, Endpoint
from ltm_bench.adapters.http.answers import keep, kept
from ltm_bench.adapters.http.shared import bounded
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import json_of

_PLACES = ("/v1/models", "/props", "/api/ps")
"""Where servers say it, below their root."""

_FIELDS = ("max_model_len", "context_length", "context_window", "max_input_tokens")
"""What they call it."""


async def model_window(endpoint: Endpoint) -> int | None:
    """Ask a server for its model's window, in the model's tokens; None if it cannot be asked or does not say.

    What it says is kept where providers' answers are.
    """
    import httpx2

    answers, about = kept(), hashlib.sha256(f"window {endpoint.url} {endpoint.model}".encode()).hexdigest()
    if answers is not None and (known := answers.get(about)) is not None:
        found = json.loads(known)
        return found if type(found) is int else None
    try:
        found = await _ask(endpoint)
    except (httpx2.HTTPError, httpx2.InvalidURL, ConfigError, ValueError, ExceptionGroup):
        return None
    keep({about: json.dumps(found).encode()})
    return found


async def _ask(endpoint: Endpoint) -> int | None:
    import httpx2

    root = endpoint.url.rstrip("/").removesuffix("/v1")
    async with bounded(
        httpx2.AsyncClient,
        timeout=min(EXAMINING, endpoint.timeout),
        headers={"authorization": f"Bearer {endpoint.key}"},
    ) as client:
        for place in _PLACES:
            answer = await client.get(root + place)
            if answer.status_code == 200:
                for found in _windows(json_of(answer.content), endpoint.model):
                    if type(found) is int and found > 0:
                        return found
    return None


def _windows(content: Any, model: str) -> Iterator[object]:
    """Yield whatever an answer has at the places of a window."""
    if not isinstance(content, dict):
        return
    if isinstance(settings := content.get("default_generation_settings"), dict):
        yield settings.get("n_ctx")  # of each slot; `n_ctx_train` elsewhere is what the model could have
    for models in (content.get("data"), content.get("models")):
        for each in models if isinstance(models, list) else ():
            names = [each.get(key) for key in ("id", "name", "model")] if isinstance(each, dict) else []
            if model in names or f"{model}:latest" in names:
                yield from map(each.get, _FIELDS)
