"""Implied: something that is never mentioned has moved, since what it lies in was taken elsewhere.

Two things are stowed away, and told of in ordinary talk: in what they lie, what that lies in, in which town it is. Then
what holds one of them is taken to another town; of the other, only what stood beside it is. Each counts only if the
other was right, so that neither holding on to the old nor updating everything earns anything. The texts are in
`implied.json`.
"""

from collections.abc import Mapping

from ltm_bench import Dice, Matcher, Script, content, follows, scenario
from ltm_bench.script.consequences import Stowed, stowed

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
POOLS: Mapping[str, tuple[str, ...]] = CONTENT["pools"]


@scenario(
    skills={"inference", "recall", "conflict"},
    topics={"where my things are"},
    forget=MESSAGES["forget"],
    decoys={},
)
def implied(dice: Dice, *, pools: Mapping[str, tuple[str, ...]] = POOLS) -> Script:
    """Stow two things away, have what one of them lies in taken elsewhere, and ask where both are."""

    def ask(each: Stowed) -> tuple[Matcher, str]:
        found, among = each.solved, pools["towns"]
        if found.follows:
            return follows(found.right, among=among, stale=(found.old,)), "to update"
        return follows(found.right, among=among, over=(found.over,)), "to keep"

    yield from stowed(dice, MESSAGES, pools, ask)
