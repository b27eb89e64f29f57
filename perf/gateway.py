"""The gateway's overhead: calls to a server that takes 200 ms, straight and through it, in turns.

python -m perf.gateway                 # 100 pairs, some 45 seconds
python -m perf.gateway --pairs 300 --milliseconds 50
"""

import statistics
import tempfile
import time
from decimal import Decimal
from pathlib import Path

import openai

from ltm_bench.adapters.gateway.server import Gateway, drawn
from ltm_bench.adapters.gateway.upstreams import Upstream
from ltm_bench.adapters.routing import Route
from ltm_bench.adapters.testing import provider
from ltm_bench.core.budget import Budget
from ltm_bench.log.calls import CALLS
from ltm_bench.log.journal import Journal
from perf.harness import Arguments, measurement

ASKED = "My boat is called Undine. What is my boat called? " * 40


def _seconds(client: openai.OpenAI) -> float:
    begun = time.perf_counter()
    client.chat.completions.create(
        model="gpt-6-luna", messages=[{"role": "user", "content": ASKED}], max_tokens=200
    )
    return time.perf_counter() - begun


def _shares(count: int) -> tuple[float, float]:
    """Return the ranks, as shares, between which the median of so many lies with 95 % confidence."""
    half = 0.98 / count**0.5
    return max(0.0, 0.5 - half), min(1.0, 0.5 + half)


@measurement(__doc__, pairs=100, milliseconds=200)
def main(options: Arguments) -> None:
    """Print the medians and the median of the pairs' differences, with a 95 % interval."""

    def answer(_: object) -> str:
        time.sleep(options.milliseconds / 1000)
        return "It is called Undine. " * 20

    with tempfile.TemporaryDirectory() as folder, provider(answer) as server:
        upstream = Upstream(server.openai_url, "openai", "no-key-at-all")
        budget, journal = Budget(Decimal(100)), Journal(Path(folder) / CALLS, time.perf_counter)
        gateway = Gateway(
            {"openai": upstream, "anthropic": upstream},
            budget,
            adopt=lambda name: Route(gateway.url, name, gateway.key, journal, budget),
            key=drawn(),
        )
        with journal, gateway.listening():
            straight = openai.OpenAI(base_url=server.openai_url, api_key="x")
            through = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=gateway.key)
            times = [(_seconds(straight), _seconds(through)) for _ in range(options.pairs + 3)][3:]
            straight.close()
            through.close()
    added = sorted(after - before for before, after in times)
    low, high = (added[round((len(added) - 1) * share)] for share in _shares(len(added)))
    direct = statistics.median(before for before, _ in times)
    print(f"straight {direct * 1000:.1f} ms, through {statistics.median(b for _, b in times) * 1000:.1f} ms")
    middle = statistics.median(added)
    print(
        f"overhead {middle * 1000:.1f} ms ({low * 1000:.1f} to {high * 1000:.1f}, n = {len(added)}): "
        f"{middle / direct:.1%} of a call ({low / direct:.1%} to {high / direct:.1%})"
    )
