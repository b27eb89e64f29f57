"""Every shipped adapter passes the toolkit's conformance checks."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.testing import conformance
from ltm_bench.plugins.files import bundled

if TYPE_CHECKING:
    from tests.stages import Place, staged
else:
    from stages import Place, staged

ADAPTERS = sorted(path.stem for path in bundled("agents").glob("[!_.]*.py"))

TRIED = {"restore": "restore", "forget": "forget", "two users": "users", "fork": "fork"}
"""What the table of adapters says of each, and the rule that tries it."""


@pytest.mark.parametrize("name", [*ADAPTERS, "mcp_memory"])
@pytest.mark.filterwarnings("default::DeprecationWarning")  # in the packages of products
def test_a_shipped_adapter_keeps_the_rules(
    name: str,
    tmp_path: Path,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    with staged(name, Place(tmp_path, monkeypatch)) as stage:
        found = conformance(stage.make, server=stage.server, within=stage.within)
    assert len(found.kept) >= 5
    # For the table of adapters at the end of continuous integration (scripts/groups.py).
    record_property(name, f"conformance: {len(found.kept)} rules")
    for column, rule in TRIED.items():
        record_property(name, f"{column}: {'yes' if rule in found.kept else 'no'}")
