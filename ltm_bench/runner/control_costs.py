"""What the controls of a run would use, without any call."""

from collections.abc import Sequence

from ltm_bench.core.messages import Ask, Turn
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.controls import rehearsed, talks, unfit
from ltm_bench.runner.estimate import LIKELY, Counting, Estimate, Sight, forecast, most, simulate
from ltm_bench.runner.ladder import rungs_in
from ltm_bench.script.rehearsal import needs_no_agent


def price(plan: Plan, found: Estimate) -> str:
    """Return a run's cost, in words."""
    if plan.manifest.agent.free:
        return "free"
    if found.dollars is None:
        return "price unknown"
    return f"{'at most ' if found.bounded else ''}${found.dollars:.2f}"


async def simulate_controls(
    plan: Plan, kinds: Sequence[str], reply_tokens: int = LIKELY
) -> dict[str, Estimate]:
    """Count what a run's controls would use, by kind, with the messages of the rehearsals."""
    sample = plan.agents.sample
    model, scripted = sample.usage_model(), plan.manifest.acknowledge == "scripted"
    found = {kind: Estimate() for kind in kinds}
    longest = ""
    for example in plan.examples:
        said = rehearsed(example, plan)
        for kind, total in found.items():
            for talk in [] if unfit(kind, said) else talks(kind, example, said):
                alone = None if model is None else Counting(model, reply_tokens, plan.counter, total, Sight())
                for each in talk.said:
                    if scripted and needs_no_agent(each.line):
                        if alone is not None:
                            await alone.observe(Turn(each.sent.said, each.reply))
                    elif alone is not None:
                        await alone.reply(each.sent.said)
                    else:
                        total.calls += 1
                        longest = max(longest, each.sent.said.text, key=len)
    for total in found.values() if model is None else ():
        total.dollars, total.bounded = most(sample, total.calls, longest), not sample.free
    return found


async def ladder_line(plan: Plan) -> str:
    """Return a line for what the ladder would take if every question were missed."""
    sample, whole, found, longest = plan.agents.sample, await forecast(plan), Estimate(), ""
    for example in plan.examples:
        said, heard = rehearsed(example, plan), list[Turn]()
        for each in said:
            if isinstance(each.line, Ask):
                rungs, _ = rungs_in(said, example, each.line, each.sent.said, heard)
                found.calls += len(rungs)
                longest = max([longest, *(rung.message.text for rung in rungs)], key=len)
            heard.append(Turn(each.sent.said, each.reply, each.sent.kind, example.id))
    if sample.usage_model() is None or whole is None:
        found.dollars, found.bounded = most(sample, found.calls, longest), True
    else:
        asked = await simulate(plan, ladder=True)
        found.calls = asked.calls - whole.calls
        found.dollars = (
            None if asked.dollars is None or whole.dollars is None else asked.dollars - whole.dollars
        )
    return f"ladder, if every question is missed: {found.calls:,} calls, {price(plan, found)}"


async def control_lines(plan: Plan, kinds: Sequence[str]) -> list[str]:
    """Return a line for what each control would take."""
    found = await simulate_controls(plan, kinds)
    return [f"control {kind}: {each.calls:,} calls, {price(plan, each)}" for kind, each in found.items()]
