"""Premise: a question takes for granted where something is, which has changed; a good reply says so.

Two things lie in cars, perhaps inside of others. Then one of the cars is driven to another town; of the other one, only
the car that stood beside it is. The user wants to fetch both from where they were, and asks what they are in. Going
along is wrong for the one, taking the premise back for the other, and each counts only if the other was right. The
texts are in `premise.json`.
"""

from collections.abc import Mapping

from ltm_bench import Dice, Matcher, Script, content, corrects, follows, scenario
from ltm_bench.script.consequences import Stowed, stowed

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
POOLS: Mapping[str, tuple[str, ...]] = CONTENT["pools"]


@scenario(
    skills={"inference", "recall", "conflict"},
    topics={"what is in which car"},
    forget=MESSAGES["forget"],
    decoys={},
)
def premise(dice: Dice, *, pools: Mapping[str, tuple[str, ...]] = POOLS) -> Script:
    """Put two things into cars, have one driven elsewhere, and take for granted that both are where they were."""
    holders = (*pools["small"], *pools["bags"], *pools["carriers"])

    def ask(each: Stowed) -> tuple[Matcher, str]:
        home, away, _ = each.towns
        if each.solved.follows:
            return corrects(away, premise=home, among=pools["towns"]), "premise to correct"
        among = [name for name in holders if name not in each.held[1:]]  # it is in the outer ones, too
        over = dict.fromkeys(town for town in (away, *pools["towns"]) if town != home)
        return follows(each.held[0], among=among, over=tuple(over), premise=home), "premise that holds"

    yield from stowed(dice, MESSAGES, pools, ask)
