"""Errors as providers send them: which say that a prompt is too long, and which only sound like it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ltm_bench.adapters.overflow import is_rate_limit, is_too_long
from ltm_bench.core.servers import rows, says

SAID: list[dict[str, Any]] = json.loads(Path(__file__).with_name("overflows.json").read_text("utf-8"))
"""Errors with their sources; some are cut, or without the names of accounts."""

PROVIDERS = {
    *("openai", "azure", "anthropic", "gemini", "mistral", "groq", "xai", "together", "vllm", "llama.cpp"),
    *("litellm", "openrouter", "sglang", "moonshot", "lm studio"),
}


@pytest.mark.parametrize("said", SAID, ids=lambda said: f"{said['provider']}-{said['is']}")
def test_an_error_is_what_its_provider_means(said: dict[str, Any]) -> None:
    found = {
        "overflow": is_too_long(said["status"], said["text"], said["code"]),
        "rate limit": is_rate_limit(said["status"], said["text"]),
        "money": says("money", f"{said['text']} {said['code']}"),
        "refused": says("refused", f"{said['text']} {said['code']}"),
    }
    if found["money"]:
        found["rate limit"] = False  # a limit that waiting does not lift
    assert [kind for kind, holds in found.items() if holds] == [said["is"]] * (said["is"] != "neither")


def test_every_provider_and_every_wording_has_an_example_and_a_source() -> None:
    assert {said["provider"] for said in SAID if said["is"] == "overflow"} >= PROVIDERS
    assert all(said["source"].startswith("https://") for said in SAID)
    kinds = {"too_long": {"overflow"}, "not_too_long": {"rate limit", "neither"}}
    for kind, means in (kinds | {"money": {"money"}, "refused": {"refused"}}).items():
        texts = [f"{said['text']} {said['code']}" for said in SAID if said["is"] in means]
        for row in rows(kind):
            assert any(re.search(row["pattern"], text, re.IGNORECASE) for text in texts), row
