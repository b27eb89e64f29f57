"""Published files that stand beside the checkout and may not be shipped; tests that read them skip without."""

from pathlib import Path

import pytest


def shared(*parts: str) -> Path:
    """Return a path under `shared/data` beside the checkout, or skip the test if it is not there."""
    for above in Path(__file__).resolve().parents:
        found = above.joinpath("shared", "data", *parts)
        if found.exists():
            return found
    pytest.skip(f"{'/'.join(parts)} is not at hand")
