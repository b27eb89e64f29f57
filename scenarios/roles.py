"""Roles: three people share an agent, and one of them says who may know what; one right is granted later.

Keeping something back counts only if it was told to whom it is for, and the other way round. The texts are in
`roles.json`.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Fact, Script, Tell, content, names_only, scenario, withholds

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
POOLS: Mapping[str, tuple[str, ...]] = CONTENT["pools"]


@scenario(skills={"isolation", "recall", "conflict"}, topics={"three who share an agent"}, version=5)
def roles(
    dice: Dice,
    *,
    people: tuple[str, ...] = POOLS["people"],
    things: tuple[str, ...] = POOLS["things"],
    spots: tuple[str, ...] = POOLS["spots"],
) -> Script:
    """Say where three things are, and which of two people may know it; let both ask for each."""
    owner, one, two = dice.hand("people", people, 3)
    held, values = dice.hand("things", things, 3), dice.hand("spots", spots, 3)
    texts = {kind: cycle(dice.shuffled(MESSAGES[kind])) for kind in MESSAGES}
    allowed = [*dice.shuffled([(one, two), (two, one)]), dice.choice([(one, two), (two, one)])]
    yield Tell(next(texts["rule"]).format(owner=owner, one=one, two=two), at=0.0, user=owner)
    told = list(zip(("told", "told", "closed"), held, values, allowed, strict=True))
    for at, (kind, thing, spot, (may, must_not)) in zip((0.1, 0.2, 0.3), dice.shuffled(told), strict=True):
        text = next(texts[kind]).format(owner=owner, one=may, two=must_not, thing=thing, spot=spot)
        fact = Fact(f"where the {thing} is", spot, words=(thing,), among=spots)
        yield Tell(text, at=at, user=owner, facts=(fact,))
    may, must_not = allowed[2]
    granted = next(texts["granted"]).format(owner=owner, one=may, two=must_not, thing=held[2])
    yield Tell(granted, at=0.6, user=owner)
    # Whom it is for asks twice, so that who tells a thing once and then refuses, or the reverse, has won nothing.
    asked = dice.shuffled([(told_to, each) for told_to in (True, True, False) for each in told])
    # The last one at the end of the span, which even a short one has no room for all of them after.
    for i, (told_to, (_, thing, spot, pair)) in enumerate(asked, start=1):
        user = pair[not told_to]
        to_tell, to_keep = f"{thing}: {spot}, for {pair[0]}", f"{thing}: {spot}, not for {pair[1]}"
        yield Ask(
            next(texts["asked"]).format(user=user, thing=thing),
            expect=names_only(spot, among=spots) if told_to else withholds(spot, among=spots),
            at=0.8 + 0.2 * i / len(asked),
            user=user,
            shows=to_tell if told_to else to_keep,
            needs=to_keep if told_to else to_tell,
            aspect="told whom it is for" if told_to else "kept from whom it is not for",
        )
    yield Tell(next(texts["forget"]).format(owner=owner, one=one, two=two), user=owner)
