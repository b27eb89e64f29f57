"""What providers say when a prompt is too long for the model, and what sounds like it but is not.

A prompt that is too long is the agent's overflow, and is scored. A rate limit or a setting that the model does not
take is not: the run stops, and can be resumed.
"""

import re
from typing import NamedTuple


class Wording(NamedTuple):
    """What some providers say."""

    providers: str
    pattern: str
    source: str
    """Where it was seen: an issue or a file on GitHub, or an address."""


TOO_LONG = (
    Wording("OpenAI, Azure, vLLM, OpenRouter", r"maximum context length is", "vllm-project/vllm#20409"),
    Wording("OpenAI", r"exceeds the context window", "dyad-sh/dyad#1672"),
    Wording("Azure", r"tokens exceed the configured limit", "BerriAI/litellm#15968"),
    Wording("Anthropic", r"prompt is too long", "earendil-works/pi#102"),
    Wording("Anthropic", r"exceed context limit", "BrokkAi/brokk-app#540"),
    Wording("Gemini", r"exceeds the maximum number of tokens", "BerriAI/litellm#18282"),
    Wording(
        "Mistral",
        r"too large for model with \d+ maximum context",
        "https://portkey.ai/error-library/context-length-exceeded-error-13710000",
    ),
    Wording("Groq", r"reduce the length of the messages", "thepersonalaicompany/amurex-backend#51"),
    Wording("xAI", r"maximum prompt length is", "cline/cline#3120"),
    Wording("Together", r"`inputs` tokens \+ `max_new_tokens` must be", "BerriAI/litellm#4934"),
    Wording("vLLM", r"longer than the maximum model length", "vllm-project/vllm: v1/engine/processor.py"),
    Wording("vLLM", r"too long to fit into the model", "vllm-project/vllm#12165"),
    Wording("llama.cpp", r"exceeds? the available context size", "ggml-org/llama.cpp#15780"),
    Wording("llama.cpp", r"context size has been exceeded", "ggml-org/llama.cpp#19774"),
    Wording(
        "Bedrock",
        r"input is too long",
        "https://repost.aws/knowledge-center/bedrock-validation-exception-errors",
    ),
    Wording("LiteLLM", r"ContextWindowExceededError", "BerriAI/litellm#7259"),
    Wording(
        "others",
        r"exceed.{0,45}context.?(length|size|window)|context.?(length|size|window).{0,20}exceed",
        "abetlen/llama-cpp-python#416",
    ),
)
"""Errors that say that a prompt is too long, by the part that does not vary. LiteLLM and OpenRouter pass on others'."""

CODES = ("context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded")
"""Codes or types of such errors: of OpenAI, Azure and Groq; of llama.cpp; of z.ai."""

NOT_TOO_LONG = (
    Wording("OpenAI, Groq", r"tokens per (min|hour|day)|rate.?limit", "HunorLaczko/ha-groq-cloud-api#27"),
    Wording("Groq", r"max_(completion_)?tokens\W+must be less than", "Alishahryar1/free-claude-code#955"),
)
"""Errors that speak of tokens, too: rate limits, with status 413 at Groq, and unsuitable settings."""

_TOO_LONG, _NOT = (
    re.compile("|".join(each.pattern for each in those), re.IGNORECASE) for those in (TOO_LONG, NOT_TOO_LONG)
)

_REJECTED = (400, 413, 422, 500)
"""Statuses of a prompt that is too long: Together sends 422, and llama.cpp sometimes 500."""


def is_too_long(status: object, text: str, *codes: object) -> bool:
    """Whether an error says that the prompt is too long.

    Args:
        status: The HTTP status, or None.
        text: The provider's message.
        codes: Its code and type, as far as known.
    """
    if status not in _REJECTED or "rate_limit_exceeded" in codes or _NOT.search(text):
        return False
    return status == 413 or any(code in CODES for code in codes) or _TOO_LONG.search(text) is not None


def is_rate_limit(status: object, text: str) -> bool:
    """Whether an error is a rate limit, whatever its status."""
    return status == 429 or re.search(NOT_TOO_LONG[0].pattern, text, re.IGNORECASE) is not None
