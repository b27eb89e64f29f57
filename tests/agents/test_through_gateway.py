"""What a memory product's own calls cost is known behind the gateway, whatever the product reports of them."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars

if TYPE_CHECKING:
    from tests.hindsight_server import OWN_KEY, free_port, hindsight_server
    from tests.memories import model
    from tests.stages import Place, staged
else:
    from hindsight_server import OWN_KEY, free_port, hindsight_server
    from memories import model
    from stages import Place, staged

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

PRODUCTS = ("cognee", "graphiti", "langmem", "letta_code", "mem0")
"""Those that run here and call a model themselves."""

MODEL = "gpt-6-luna"
WORDS = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r", "--max-cost", "5")


def costs(
    name: str, settings: Mapping[str, Any], server: Provider, folder: Path, *more: str
) -> dict[str, Any]:
    """Run a product behind a gateway before a provider, and return the run's costs."""
    given = [word for key, value in settings.items() for word in ("-A", f"{key}={value}")]
    through = ("--gateway", "--upstream", f"openai={server.openai_url}", *more)
    done = subprocess.run(
        [sys.executable, "-m", "ltm_bench", *WORDS, "--agent", name, *given, *through],
        cwd=folder,
        env={
            **os.environ,
            "LTM_BENCH_GATEWAY_KEY": OWN_KEY,
            "NO_PROXY": "127.0.0.1",
            "OPENAI_API_KEY": "sk-planted-0123456789abcdefgh",
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads((folder / "reports/r/results.json").read_text("utf-8"))["costs"]
    return found


def check(found: Mapping[str, Any], server: Provider) -> None:
    """Check that costs are what a provider bills for its chats, and embeddings beside them."""
    bill = 0.0
    for each in server.spent:
        new = each.prompt - each.cached
        usage = Usage(
            uncached=new, cache_read=each.cached, output=each.output, model=MODEL, provider="openai"
        )
        bill += float(dollars(usage) or 0)
    [chats] = [each for each in found["accounts"] if each["model"] == MODEL]
    assert chats["calls"] == len(server.spent) > 5
    assert chats["dollars"] == pytest.approx(bill, abs=1e-6)
    assert found["dollars"] > chats["dollars"] - 1e-6 > 0  # rounded
    assert found["gateway"]["lost"] == 0


@pytest.mark.parametrize("name", PRODUCTS)
def test_all_that_a_products_calls_cost_is_counted_for_its_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with staged(name, Place(tmp_path, monkeypatch)) as stage:
        assert isinstance(stage.server, Provider)
        stage.server.models = [MODEL]  # Letta Code asks which there are
        settings = {**stage.settings, "model": MODEL, "timeout": 100.0}
        check(costs(name, settings, stage.server, tmp_path), stage.server)


def test_what_hindsights_server_calls_is_counted_for_the_only_run_there_is(tmp_path: Path) -> None:
    pytest.importorskip("hindsight_client", reason="needs the extra: pip install ltm-bench[hindsight]")
    program, port = os.environ.get("LTM_BENCH_HINDSIGHT"), free_port()
    if not program:
        pytest.skip("needs LTM_BENCH_HINDSIGHT: the program hindsight-api 1.1.0, with its embedded database")
    product = hindsight_server(program, model, f"http://127.0.0.1:{port}/v1")
    settings = {"core": f"openai:{MODEL}", "core_url": product.model.openai_url, "base_url": product.url}
    found = costs(
        "hindsight", {**settings, "recent": 0}, product.model, tmp_path, "--gateway-port", str(port)
    )
    check(found, product.model)
