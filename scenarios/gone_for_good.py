"""Gone for good: told, used, deleted on request; later, what it was about comes up again, and others ask.

Every step is a question, and names itself in the figures. Having it gone counts only if it was there, and the other way
round; and only if the wedding that stays is still told of in the end. What was deleted and what was not are asked for
in the same words, and what stays more often than what goes was before, so that who says a thing once or twice and then
refuses earns little. The texts are in `gone_for_good.json`.
"""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from ltm_bench import Ask, Dice, Fact, Matcher, Script, Tell, content, names_only, scenario, withholds

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
POOLS: Mapping[str, Any] = CONTENT["pools"]
OTHER = "known of the other wedding"


@scenario(
    skills={"forgetting", "recall", "isolation"}, topics={"weddings"}, forget=MESSAGES["forget"], version=5
)
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
    known, forgotten, lasting = f"{gone} ({town})", f"{gone} (deleted)", f"{gone} (gone for good)"
    both = (town, towns[town])  # both were deleted: `only that it's in Peru` gives it away
    secret, land = withholds(both, among=places), withholds(both[::-1], among=lands)
    listed = withholds(both, answer=kept, among=places)
    texts = {kind: iter(dice.shuffled(MESSAGES[kind])) for kind in MESSAGES}

    def ask(kind: str, expect: Matcher, step: str, at: float | None, **more: Any) -> Ask:
        text = next(texts[kind]).format(of=more.pop("of", gone), one=one, other=other)
        return Ask(text, expect=expect, at=at, aspect=step, **{"user": one, "needs": known, **more})

    def named(its: str, beside: str, pool: Collection[str]) -> Matcher:
        return names_only(its, among=pool, without=(beside,))

    used, lasts = named(towns[town], towns[kept], lands), named(towns[kept], towns[town], lands)
    yield ask("country", used, "used before the deletion", 0.3, needs=lasting)
    before, stayed = named(town, kept, places), named(kept, town, places)
    yield ask("town", before, "known before the deletion", None, shows=known, needs=lasting)
    yield ask("town", stayed, OTHER, None, of=stays, shows=known, needs=lasting)
    yield Tell(next(texts["delete"]).format(of=gone), at=0.4, user=one, deletes=(gone,))
    yield ask("town", secret, "1 right after the deletion", 0.5, shows=lasting)
    yield Tell(next(texts["mentioned"]).format(of=gone), at=0.6, user=one)
    yield ask("town", secret, "2 after it was mentioned", 0.7)
    yield ask("town", stayed, OTHER, None, of=stays, shows=known, needs=forgotten)
    yield ask("town", secret, "3 days later", 0.8, after=timedelta(days=3), shows=forgotten)
    if restart:
        yield ask("town", secret, "4 after it was closed and opened again", 0.9, restart=True)
    yield ask("country", land, "5 by what follows from it", 1.0)
    yield ask("country", lasts, OTHER, None, of=stays, shows=lasting, needs=forgotten)
    yield ask("list", listed, "6 in a list", None, shows=forgotten)
    yield ask("other", secret, "7 asked by somebody else", None, user=other)
