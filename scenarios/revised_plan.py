"""Revised plan: a plan changes several times; the user asks what it is now, and what it was before.

Old values still matter: an agent that overwrites them cannot say what was planned at first.
The texts are in `revised_plan.json`.
"""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from ltm_bench import Ask, Dice, Fact, Script, Tell, content, formerly, names_only, scenario

POOLS: dict[str, dict[str, tuple[str, ...]]] = {
    "place": {
        "of": (
            "the chamber concert", "the class reunion", "the flower show", "the chess tournament", "the jumble sale",
            "the poetry reading",
        ),
        "values": (
            "town hall", "boathouse", "brewery cellar", "grammar school", "observatory", "old dairy", "parish barn",
            "railway museum", "rowing club", "sculpture garden", "tram shed", "winter garden", "candle works",
            "fencing hall", "public library", "pumping station", "corn exchange", "bishop's stables", "lido",
            "seamen's mission",
        ),
    },
    "speaker": {
        "of": (
            "the opening speech", "the prize-giving", "the autumn lecture", "the guided walk",
            "the toast to the founders", "the Sunday reading",
        ),
        "values": (
            "Abelone", "Balthasar", "Clementine", "Dorian", "Evander", "Felicitas", "Gottlieb", "Henrike", "Isaura",
            "Jeremiah", "Kreszentia", "Lysander", "Mirabel", "Nathanael", "Olympia", "Prosper", "Rosalind", "Simeon",
            "Theresia", "Valentin",
        ),
    },
}  # fmt: skip

MESSAGES: Mapping[str, Any] = content(__file__)["messages"]
PLANS: dict[str, dict[str, tuple[str, ...]]] = {
    kind: {**MESSAGES["plans"][kind], **pools} for kind, pools in POOLS.items()
}


@scenario(
    skills={"conflict", "recall", "temporal"}, topics={"the plan"}, forget=MESSAGES["forget"], version=2
)
def revised_plan(
    dice: Dice, *, changes: int = 3, plans: Mapping[str, Mapping[str, tuple[str, ...]]] = PLANS
) -> Script:
    """Tell a plan and change it `changes` times; ask for the current value, the first, and the last but one."""
    if not 2 <= changes <= 8:
        raise ValueError(f"changes = {changes}: from 2 to 8")
    name = dice.card("plan", tuple(plans))
    plan = plans[name]
    of, values = dice.card(f"of {name}", plan["of"]), dice.hand(name, plan["values"], changes + 1)
    first, following = dice.choice(plan["first"]), cycle(dice.shuffled(plan["next"]))
    for i, value in enumerate(values):
        text = (next(following) if i else first).format(of=of, value=value)
        fact = Fact(of, value, words=(of.split()[-1],), among=plan["values"])
        yield Tell(text, at=i / len(values), facts=(fact,))
    *earlier, last = values
    asked = [
        ("now", names_only(last, among=plan["values"], stale=earlier)),
        ("then", formerly(values[0], among=plan["values"])),
        ("before", formerly(values[-2], among=plan["values"])),
    ]
    for i, (which, expect) in enumerate(asked):
        yield Ask(dice.choice(plan[which]).format(of=of), expect=expect, at=None if i else 1.0)
