"""Standing order: the user says once how to choose for them; the agent must do so later on, but not for somebody else.

Somebody else's taste is told, too. Each option has one thing going for it, so that only the order, or the taste, says
which is right. The texts, the people, and what can be chosen by what are in `standing_order.json`.
"""

from collections.abc import Mapping
from typing import Any

from ltm_bench import Ask, Dice, Script, Tell, content, names_only, scenario

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
PEOPLE: tuple[str, ...] = CONTENT["pools"]["people"]
"""Each with how the user knows them; the name comes last."""
DOMAINS: tuple[Mapping[str, Any], ...] = CONTENT["pools"]["domains"]
"""What is chosen, names of options, and criteria: an order, what somebody wants, and what an option has."""


@scenario(
    skills={"instruction", "preference"}, topics={"a standing order"}, forget=MESSAGES["forget"], version=4
)
def standing_order(
    dice: Dice, *, domains: tuple[Mapping[str, Any], ...] = DOMAINS, people: tuple[str, ...] = PEOPLE
) -> Script:
    """Give an order and tell what another person always wants; much later, let the agent choose for both."""
    things = {each["things"]: each for each in domains}
    domain, who = things[dice.card("things", tuple(things))], dice.card("person", people)
    known = {"thing": domain["thing"], "things": domain["things"], "who": who, "name": who.split()[-1]}
    known["Who"] = _capital(who)
    mine, theirs, *others = [
        {**each, "has": dice.shuffled(each["has"])} for each in dice.shuffled(domain["criteria"])
    ]
    needs, names = dice.sample(domain["need"], 2), dice.sample(domain["names"], 8)
    order, preference = dice.choice(MESSAGES["order"]), dice.choice(MESSAGES["preference"])
    yield Tell(order.format(order=dice.choice(mine["order"]), **known), at=0.0)
    yield Tell(preference.format(wants=dice.choice(theirs["wants"]), **known), at=0.15)
    for i, (kind, wanted, at) in enumerate((("mine", mine, 0.7), ("theirs", theirs, 1.0))):
        offered = dice.shuffled([mine, theirs, *dice.sample(others, 2)])
        options = names[4 * i : 4 * i + 4]
        has = [each["has"][i].format(option=name) for each, name in zip(offered, options, strict=True)]
        listed = _capital(f"{', '.join(has[:-1])} and {has[-1]}")
        question = dice.choice(MESSAGES[kind]).format(need=needs[i], options=listed, **known)
        yield Ask(question, expect=names_only(options[offered.index(wanted)], among=options), at=at)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
