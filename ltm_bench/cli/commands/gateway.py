"""Show what an agent's own calls to its providers cost."""

import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from time import perf_counter
from typing import Annotated

from ltm_bench.adapters.gateway.server import KEY_VARIABLE, PORT, drawn
from ltm_bench.adapters.gateway.server import Gateway as Endpoint
from ltm_bench.adapters.gateway.upstreams import upstreams
from ltm_bench.adapters.routing import Route
from ltm_bench.cli.console import out, print_table, safe, table_of
from ltm_bench.cli.declared import command, group
from ltm_bench.core.budget import Budget
from ltm_bench.core.grouping import grouped
from ltm_bench.core.keys import read_key
from ltm_bench.core.pricing import total
from ltm_bench.log.calls import CALLS, KeptCalls, read_calls
from ltm_bench.log.journal import Journal
from ltm_bench.log.recorder import locked
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.request import MaxCost, Upstream

app = group()


@command(app, "gateway --max-cost 5", "gateway --upstream http://localhost:8000/v1 --port 7751")
def gateway(
    upstream: Upstream = (),
    port: Annotated[int, Option("The port.", "N", least=1, most=65535)] = PORT,
    max_cost: MaxCost = None,
    folder: Annotated[
        Path, Option("Where the calls are recorded; what was spent there before counts.", "FOLDER")
    ] = REPORTS / "gateway",
) -> None:
    """Serve an endpoint for an agent that ltm-bench does not run: it forwards the agent's calls to its providers.

    It sees what they cost, keeps to --max-cost, and keeps the providers' keys from the agent.
    """
    budget, routes = Budget(max_cost), dict[str, Route]()
    given = read_key(KEY_VARIABLE)
    key = given or drawn()

    def adopt(name: str) -> Route:
        named = name or None
        return routes.setdefault(name, Route(endpoint.url, name, key, journal, budget, conversation=named))

    endpoint = Endpoint(upstreams(upstream), budget, adopt=adopt)
    with ExitStack() as files, endpoint.listening(port):
        folder.mkdir(parents=True, exist_ok=True)
        # Two gateways on one folder would each spend the whole limit.
        files.enter_context(locked(folder, "a gateway or a run records there already; name another --folder"))
        journal = files.enter_context(Journal(folder / CALLS, perf_counter))
        budget.count(read_calls(folder).spent)
        endpoint.key = key  # from here on, it lets calls pass
        shown = f"${KEY_VARIABLE}" if given else key
        out().print(
            f"OPENAI_BASE_URL={endpoint.url}/v1 OPENAI_API_KEY={shown}\n"
            f"ANTHROPIC_BASE_URL={endpoint.url} ANTHROPIC_API_KEY={shown}\n"
            f"with {endpoint.url}/c/NAME in place of {endpoint.url}, a conversation is counted apart; "
            "stop with Ctrl-C",
            soft_wrap=True,
        )
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    _print(read_calls(folder))


def _print(seen: KeptCalls) -> None:
    """Print what the calls cost, by conversation and model."""
    heads = ("conversation", "model", "calls", "cost")
    table = table_of(*heads, words=heads[:2], pad_edge=False)
    prices_of = grouped(((call.conversation or "", call.model or ""), call.price) for call in seen.calls)
    for (conversation, model), prices in sorted(prices_of.items()):
        spent = total(prices)
        cost = "unknown" if spent is None else f"${spent:.4f}"
        table.add_row(safe(conversation), safe(model), f"{len(prices):,}", cost)
    print_table(table)
