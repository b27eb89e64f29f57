"""What the controls and the ladder of a run would use, without any call."""

from collections.abc import Mapping, Sequence

from ltm_bench.core.messages import Turn
from ltm_bench.core.pricing import total
from ltm_bench.log.controls import RUNGS
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.controls import asked_in, rehearsed
from ltm_bench.runner.estimate import LIKELY, Counting, Estimate, Sight, forecast, most, simulate
from ltm_bench.script.rehearsal import needs_no_agent


def price(plan: Plan, found: Estimate) -> str:
    """Return a run's cost, in words."""
    if plan.manifest.agent.free:
        return "free"
    if found.dollars is None:
        return "price unknown"
    return f"{'at most ' if found.bounded else ''}${found.dollars:.2f}"


async def simulate_asked(plan: Plan, kinds: Sequence[str], told: int = 0) -> Mapping[str, Estimate]:
    """Count what asking a run's questions again would use, by kind, with the messages of the rehearsals.

    Args:
        plan: The run's plan.
        kinds: Controls and rungs; of these, as if every question had been missed, and without what a window holds then.
        told: Calls that it takes to tell a fresh agent the run again.
    """
    sample, longest = plan.agents.sample, ""
    model, scripted = sample.usage_model(), plan.manifest.acknowledge == "scripted"
    found = {kind: Estimate() for kind in kinds}
    for example in plan.examples:
        said = rehearsed(example, plan)
        again = min(told, len(said)) if plan.manifest.suite.isolated else told
        for kind, asked in asked_in(kinds, example, said, every=True).items():
            total, counts = found[kind], None if kind in RUNGS else model
            for talk in (talk for each in asked for talk in each.talks):
                alone = None if counts is None else Counting(counts, LIKELY, plan.counter, total, Sight())
                total.calls += again if kind in RUNGS else 0
                for each in talk.said:
                    if scripted and needs_no_agent(each.line):
                        if alone is not None:
                            await alone.observe(Turn(each.sent.said, each.reply))
                    elif alone is not None:
                        await alone.reply(each.sent.said)
                    else:
                        total.calls += 1
                        longest = max(longest, each.sent.said.text, key=len)
    for kind, total in found.items():
        if model is None or kind in RUNGS:
            total.dollars, total.bounded = most(sample, total.calls, longest), not sample.free
    return found


async def ladder_line(plan: Plan) -> str:
    """Return a line for what the ladder would take if every question were missed."""
    sample, whole, found = plan.agents.sample, await forecast(plan), Estimate()
    if sample.usage_model() is None or whole is None:
        alone = sample.forks == "no"
        # A fresh agent that cannot be told is sent the run's messages again, at most all of them.
        asked_all = alone and (sample.writes_in_reply or not sample.observes)
        told = whole.calls if asked_all and whole is not None else 0
        rungs = [*(await simulate_asked(plan, [*RUNGS], told)).values()]
        found.calls, found.bounded = sum(each.calls for each in rungs), True
        found.dollars = total(each.dollars for each in rungs)
        again = ", each rung by a fresh agent that is told the run again" if alone else ""
    else:
        asked, again = await simulate(plan, ladder=True), ""
        found.calls = asked.calls - whole.calls
        found.dollars = total([asked.dollars, whole.dollars and -whole.dollars])
    return f"ladder, if every question is missed: {found.calls:,} calls, {price(plan, found)}{again}"


async def control_lines(plan: Plan, kinds: Sequence[str]) -> list[str]:
    """Return a line for what each control would take."""
    found = await simulate_asked(plan, kinds) if kinds else {}
    return [f"control {kind}: {each.calls:,} calls, {price(plan, each)}" for kind, each in found.items()]
