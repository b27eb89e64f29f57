"""What products behind a server have in common."""

from typing import Any

import pytest

from ltm_bench.adapters import MemoryProduct
from ltm_bench.adapters.memories.product import ServedProduct


class Own(ServedProduct):
    vendor_url = "http://own.example"


class Alike(Own):
    core_waits_alike = True


@pytest.mark.parametrize(("kind", "passed_on"), [(Own, {}), (Alike, {"timeout": 9.0, "max_retries": 1})])
def test_only_a_core_that_waits_alike_gets_what_the_product_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, kind: type[Own], passed_on: dict[str, Any]
) -> None:
    given: list[Any] = []
    monkeypatch.setattr(MemoryProduct, "__init__", lambda self, *both: given.extend(both))
    kind(timeout=9.0, max_retries=1, base_url="http://ours.example", core_url="http://core.example")
    endpoint, core = given
    assert (endpoint.timeout, endpoint.max_retries) == (9.0, 1)
    assert core == {"base_url": "http://core.example", **passed_on}
