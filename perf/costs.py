"""The cost of a long run with and without a prompt cache, per preset; and the accuracy of the estimate.

    python -m perf.costs [--span 120k] [--presets gpt-4o,claude-haiku-5-5] [--real-span 32k]

First the estimator simulates a whole run, with replies of the length that it considers likely; no call is made.
`naive` is the same requests without a prompt cache. `whole`: the conversation fits into the window. `steps`: turns had
to be dropped, and every step invalidates the cache from the system message on. The goals: 95 % of the prompt tokens
from the cache if the conversation is whole, 80 % if it steps.

The second table compares the estimate with real runs of three agents, against a local provider that has its own cache
and counts tokens itself. The estimate is given the mean length of the replies, which it cannot know, and must come
within 5 % of the prompt tokens. `likely` is its error without that.
"""

import os
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from ltm_bench import run
from ltm_bench.adapters.testing import Provider, provider
from ltm_bench.core.agent import UsageModel
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.presets import presets
from ltm_bench.plan.request import Request
from ltm_bench.plan.tables import config_folders
from ltm_bench.plan.values import parse_settings
from ltm_bench.runner.estimate import REPLIES, Estimate, estimate
from perf.arguments import Arguments, measurement
from perf.tables import table

WHOLE, STEPS = 0.95, 0.80
WITHIN = 0.05

NARROW = (
    ("gpt-4o", ("window=32000",)),
    ("gpt-4o", ("window=32000", "keep=0.5")),
    ("gpt-6-luna", ("window=32000",)),
    ("gpt-6-luna", ("window=32000", "keep=0.5")),
    ("claude-sonnet-5-5", ("window=32000",)),
    ("claude-sonnet-5-5", ("window=32000", "keep=0.5")),
    ("claude-sonnet-5-5", ("window=32000", "keep=0.3")),
    ("claude-sonnet-5-5", ("window=100000",)),
)
"""Presets with windows that a long conversation outgrows."""

REAL = (("gpt-4o", ()), ("openai_responses", ("model=some-model", "window=32000")), ("claude-sonnet-5-5", ()))


class Simulated(NamedTuple):
    """A simulated run."""

    model: UsageModel
    estimate: Estimate


def simulated(
    span: str, agent: str, settings: tuple[str, ...] = (), *, reply: int, base_url: str | None = None
) -> Simulated:
    """Simulate a run.

    Args:
        span: The run's span.
        agent: A preset or an adapter.
        settings: The agent's settings, `KEY=VALUE` each.
        reply: Tokens of every reply.
        base_url: A compatible server for the adapter.
    """
    plan = make_plan(Request(span=span, agent=agent, settings=parse_settings(settings), base_url=base_url))
    model = plan.agents.sample.usage_model()
    if model is None:
        raise SystemExit(f"{agent} cannot be estimated")
    return Simulated(model, estimate(plan, reply))


def chosen_presets(chosen: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give the presets whose adapters can be estimated, then those with narrow windows."""
    names = chosen.split(",") if chosen else list(presets(config_folders()))
    for name in names:
        yield name, ()
    for name, settings in NARROW:
        if name in names:
            yield name, settings


def print_costs(span: str, chosen: str) -> None:
    """Simulate every preset, and print what it costs."""
    reply = REPLIES["likely"]
    print(f"span {span}, standard, replies of {reply} tokens\n")
    row = table(*"agent|calls|prompt tokens|window|cached|goal|naive|cached|saved".split("|"))
    unbounded = simulated(span, "openai_chat", ("model=any", "window=1000000000"), reply=reply).estimate
    for name, settings in chosen_presets(chosen):
        model, found = simulated(span, name, settings, reply=reply)
        share = found.cached / found.prompt
        whole = found.prompt == unbounded.prompt
        goal = WHOLE if whole else STEPS
        met = f"{'whole' if whole else 'steps'}: {'met' if share >= goal else f'below {goal:.0%}'}"
        naive, cached = found.dollars_uncached, found.dollars
        money = ["unknown", "unknown", "–"]
        if naive is not None and cached is not None:
            money = [f"${naive:.2f}", f"${cached:.2f}", f"{1 - cached / naive:.0%}"]
        title, window = " ".join((name, *settings)), f"{model.window - model.max_output:,}"
        row(title, found.calls, f"{found.prompt:,}", window, f"{share:.1%}", met, *money)


class Used(NamedTuple):
    """The figures of a real run."""

    calls: int
    prompt: int
    cached: int
    output: int


def real(span: str, agent: str, settings: tuple[str, ...], url: str) -> Used:
    """Run an agent against the local provider."""
    with tempfile.TemporaryDirectory() as folder:
        costs = run(
            agent, span, settings=parse_settings(settings), base_url=url, reports=folder
        ).results.costs
    usage = {"cache_read": 0, "cache_write": 0, "uncached": 0, **costs.usage}
    prompt = usage["uncached"] + usage["cache_read"] + usage["cache_write"]
    return Used(costs.calls, prompt, usage["cache_read"], usage["output"])


def print_reality(span: str) -> None:
    """Run three agents, estimate them, and print how far apart the two are."""
    print(f"\nspan {span}, standard, against the local provider\n")
    heads = "agent|calls|reply|prompt tokens, really|estimated|off|within 5 %|likely|cached, really|estimated"
    row = table(*heads.split("|"))
    for agent, settings in REAL:
        with provider() as server:
            url = address(server, agent)
            used = real(span, agent, settings, url)
        reply = round(used.output / used.calls)
        told = simulated(span, agent, settings, reply=reply, base_url=url).estimate
        likely = simulated(span, agent, settings, reply=REPLIES["likely"], base_url=url).estimate
        off = told.prompt / used.prompt - 1
        met = "yes" if abs(off) <= WITHIN and told.calls == used.calls else "no"
        cached = (f"{each.cached / each.prompt:.1%}" for each in (used, told))
        row(
            " ".join((agent, *settings)), used.calls, reply, f"{used.prompt:,}", f"{told.prompt:,}",
            f"{off:+.1%}", met, f"{likely.prompt / used.prompt - 1:+.1%}", *cached,
        )  # fmt: skip


def address(server: Provider, agent: str) -> str:
    """Return the server's address for an agent."""
    return server.url if agent.startswith("claude") else server.openai_url


@measurement(
    __doc__,
    span="120k",
    presets=("", "only these presets; all by default"),
    real_span=("32k", "the span of the runs against the local provider; empty to leave them out"),
)
def main(args: Arguments) -> None:
    """Measure and print."""
    os.environ["NO_PROXY"] = "127.0.0.1"
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):  # adapters require a key; no provider is called
        os.environ[name] = "sk-not-a-key-0123456789"
    print_costs(args.span, args.presets)
    if args.real_span:
        print_reality(args.real_span)
