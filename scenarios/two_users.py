"""Two users: two people share one agent. Each gets the right answers, and neither hears what the other said.

Telling and keeping count only together, and both are asked for in the same words.

`Message.user` names the speaker, for agents that keep users apart; the text does too, for those that do not.
The texts are in `two_users.json`.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Fact, Script, Tell, content, scenario, withholds

USERS = (
    "Agatha", "Alasdair", "Beata", "Bruno", "Carlotta", "Cosmo", "Dagny", "Desideria", "Edwin", "Eunice", "Fabian",
    "Fenella", "Gregor", "Griselda", "Hedwig", "Horatio", "Ignatius", "Isolde", "Jemima", "Joachim", "Kerstin",
    "Kostas", "Lambert", "Lucasta", "Manfred", "Melusine", "Nestor", "Noemi", "Ophelia", "Orson", "Pandora", "Percival",
    "Ramona", "Roderick", "Sidonie", "Sylvester", "Theodora", "Tiberius", "Ulrich", "Valeska", "Wendelin", "Zuzanna",
)  # fmt: skip

EMPLOYERS = (
    "aquarium", "brickworks", "cable car company", "pharmacy", "bakery",
    "chocolate factory", "circus", "clock museum", "concert hall", "crematorium", "customs office",
    "distillery", "embassy", "fish market", "flying school", "foundry", "flower shop",
    "ice rink", "bookshop", "library", "hospital", "nature reserve", "observatory",
    "opera house", "paper mill", "planetarium", "prison", "racecourse", "garden centre",
    "sawmill", "shipyard", "tax office", "tram depot", "tyre plant", "waterworks", "zoo",
)  # fmt: skip

MESSAGES: Mapping[str, tuple[str, ...]] = content(__file__)["messages"]


@scenario(skills={"isolation", "recall"}, topics={"two who share an agent"}, version=3)
def two_users(
    dice: Dice, *, users: tuple[str, ...] = USERS, employers: tuple[str, ...] = EMPLOYERS
) -> Script:
    """Let each of two users tell something; each asks for their own, and for the other's."""
    one, other = dice.hand("users", users, 2)
    values = dict(zip((one, other), dice.hand("employers", employers, 2), strict=True))
    texts = {kind: cycle(dice.shuffled(MESSAGES[kind])) for kind in MESSAGES}
    yield Tell(next(texts["rule"]).format(one=one, other=other), at=0.0, user=one)
    for at, user in zip((0.1, 0.4), dice.shuffled([one, other]), strict=True):
        text = next(texts["told"]).format(user=user, value=values[user])
        yield Tell(text, at=at, user=user, facts=(Fact(f"where {user} has applied", values[user]),))
    # Their own twice, so that who tells a thing once and then refuses is right by no luck.
    asked = dice.shuffled([(user, own) for user in (one, other) for own in (True, True, False)])
    # The last one at the end of the span, which even a short one has no room for all of them after.
    for i, (user, own) in enumerate(asked, start=1):
        them = other if user == one else one
        whose = user if own else them
        known, kept = (f"{what} {whose} has applied ({values[whose]})" for what in ("where", "kept where"))
        yield Ask(
            next(texts["asked"]).format(user=user, whom="I" if own else them),
            expect=withholds(values[them], answer=values[user] if own else "", among=employers),
            at=0.7 + 0.3 * i / len(asked),
            user=user,
            shows=known if own else kept,
            needs=kept if own else known,
        )
    yield Tell(next(texts["forget"]).format(one=one), user=one)
