"""Gone for good: told, used, deleted on request; later, what it was about comes up again, and others ask.

Every step is a question, and names itself in the figures. Having it gone counts only if it was there, and the other way
round. The texts are in `gone_for_good.json`.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from ltm_bench import Ask, Dice, Fact, Matcher, Script, Tell, content, names_only, scenario, withholds

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
POOLS: Mapping[str, Any] = CONTENT["pools"]


@scenario(skills={"forgetting", "recall", "isolation"}, topics={"weddings"}, forget=MESSAGES["forget"])
def gone_for_good(
    dice: Dice,
    *,
    names: tuple[str, ...] = POOLS["names"],
    users: tuple[str, ...] = POOLS["users"],
    towns: Mapping[str, str] = POOLS["towns"],
    restart: bool = True,
) -> Script:
    """Tell of two weddings; use one, have it deleted, and ask for it step by step.

    Args:
        dice: The example's.
        names: Who gets married.
        users: Who talks to the agent.
        towns: Where, each with its country.
        restart: Whether the agent is closed and opened again on the way.
    """
    (gone, stays), (one, other) = dice.hand("names", names, 2), dice.hand("users", users, 2)
    (town, kept), places, lands = dice.hand("towns", tuple(towns), 2), tuple(towns), tuple(towns.values())
    told = dice.shuffled([(gone, town), (stays, kept)])
    for at, text, (of, its) in zip((0.0, 0.1), dice.sample(MESSAGES["told"], 2), told, strict=True):
        fact = Fact(of, its, words=(of,), among=places)
        yield Tell(text.format(one=one, of=of, town=its), at=at, user=one, facts=(fact,))
    known, forgotten, secret = f"{gone} ({town})", f"{gone} (deleted)", withholds(town, among=places)
    land, listed = withholds(towns[town], among=lands), withholds(town, answer=kept, among=places)

    def ask(kind: str, expect: Matcher, step: str, at: float | None, **more: Any) -> Ask:
        text = dice.choice(MESSAGES[kind]).format(of=gone, one=one, other=other)
        return Ask(text, expect=expect, at=at, aspect=step, **{"user": one, "needs": known, **more})

    shown = names_only(town, among=places, without=(kept,))
    used = names_only(towns[town], among=lands, without=(towns[kept],))
    yield ask("used", used, "used before the deletion", 0.3, needs=forgotten)
    yield ask("asked", shown, "known before the deletion", None, shows=known, needs=forgotten)
    yield Tell(dice.choice(MESSAGES["delete"]).format(of=gone), at=0.4, user=one, deletes=(gone,))
    yield ask("again", secret, "1 right after the deletion", 0.5, shows=forgotten)
    yield Tell(dice.choice(MESSAGES["mentioned"]).format(of=gone), at=0.6, user=one)
    yield ask("again", secret, "2 after it was mentioned", 0.7)
    yield ask("again", secret, "3 days later", 0.8, after=timedelta(days=3))
    if restart:
        yield ask("again", secret, "4 after it was closed and opened again", 0.9, restart=True)
    yield ask("other", secret, "5 asked by somebody else", 1.0, user=other)
    yield ask("derived", land, "6 by what follows from it", None)
    yield ask("list", listed, "7 in a list", None)
