"""Absence: who keeps something has left, and nobody says where to; where it is now is no longer known.

Two things are left with friends, perhaps inside of others, and it is told in which town the friends live. Then one of
these has moved away; of the other, only somebody in the same town has. Saying that nobody can know counts only if what
is still known was told, and the other way round. The texts are in `absence.json`.
"""

from collections.abc import Mapping

from ltm_bench import Dice, Matcher, Script, content, follows, no_longer, scenario
from ltm_bench.script.consequences import Stowed, stowed

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
POOLS: Mapping[str, tuple[str, ...]] = CONTENT["pools"]


@scenario(
    skills={"inference", "abstention", "recall"},
    topics={"what my friends keep"},
    forget=MESSAGES["forget"],
    decoys={},
)
def absence(dice: Dice, *, pools: Mapping[str, tuple[str, ...]] = POOLS) -> Script:
    """Leave two things with friends, let one of these move away to nobody knows where, and ask where both are."""

    def ask(each: Stowed) -> tuple[Matcher, str]:
        if each.solved.follows:
            return no_longer(each.solved.old, among=pools["towns"]), "no longer known"
        return follows(each.solved.right, among=pools["towns"]), "to keep"

    yield from stowed(dice, MESSAGES, pools, ask, article="", lost=True)
