"""What providers say when a prompt is too long for the model, and what sounds like it but is not.

A prompt that is too long is the agent's overflow, and is scored. A rate limit or a setting that the model does not
take is not: the run stops, and can be resumed.
"""

import re

from ltm_bench.core.servers import rows_here, says

_REJECTED = (400, 413, 422, 500)
"""Statuses of a prompt that is too long: Together sends 422, and llama.cpp sometimes 500."""


def is_too_long(status: object, text: str, *codes: object) -> bool:
    """Whether an error says that the prompt is too long.

    Args:
        status: The HTTP status, or None.
        text: The provider's message.
        codes: Its code and type, as far as known.
    """
    codes_known = [row["code"] for row in rows_here("too_long_codes")]
    if status not in _REJECTED or "rate_limit_exceeded" in codes or says("not_too_long", text):
        return False
    return status == 413 or any(code in codes_known for code in codes) or says("too_long", text)


def is_rate_limit(status: object, text: str) -> bool:
    """Whether an error is a rate limit, whatever its status."""
    return status == 429 or re.search(_RATE, text, re.IGNORECASE) is not None


_RATE = r"tokens per (min|hour|day)|rate.?limit"
