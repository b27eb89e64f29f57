"""Revised plan: a plan changes several times; the user asks what it is now, and what it was before.

Old values still matter: an agent that overwrites them cannot say where the first letters went.
"""

from collections.abc import Mapping

from ltm_bench import Ask, Dice, Fact, Script, Tell, formerly, names_only, scenario

PLANS: dict[str, dict[str, tuple[str, ...]]] = {
    "place": {
        "of": (
            "the chamber concert", "the class reunion", "the flower show", "the chess tournament", "the jumble sale",
            "the poetry reading",
        ),
        "first": (
            "I am helping to organise {of}. It is going to be held in the {value}.",
            "We have found a place for {of}: the {value}. The letters with that address have gone out.",
        ),
        "next": (
            "A change to {of}: it has been moved to the {value}.",
            "{of} cannot stay where it was. It is going to be in the {value} now.",
            "We had to think again about {of}. The new place is the {value}.",
        ),
        "now": (
            "Where is {of} going to be, as things stand? Just the place, please.",
            "Somebody asks me where to go for {of}. Where? Just name the place.",
        ),
        "then": (
            "The first letters about {of} named a place that we have since given up. Where was it originally to be, "
            "before any change? Just name the place.",
            "I must cancel the booking that we made first of all for {of}. Where was it to be originally, before any "
            "change? Just the place, please.",
        ),
        "before": (
            "And where was {of} to be just before the present place was chosen? Name that place and nothing else.",
            "I have to apologise to the place that we gave up last for {of}. Which one is that? Just name it.",
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
        "first": (
            "I am arranging {of}. {value} is going to do it.",
            "We have somebody for {of}: {value}. The posters with that name are up.",
        ),
        "next": (
            "A change to {of}: {value} is taking it over.",
            "{of} has passed to somebody else. {value} is going to do it now.",
            "We had to think again about {of}. {value} has agreed to step in.",
        ),
        "now": (
            "Who is going to do {of}, as things stand? Just the name, please.",
            "Somebody asks me who is down for {of}. Who is it? Just name that person.",
        ),
        "then": (
            "The first posters for {of} had a name on them that no longer holds. Who was originally to do it, before "
            "any change? Just the name, please.",
            "I must thank the person whom we asked first of all for {of}. Who was it to be originally, before any "
            "change? Just the name, please.",
        ),
        "before": (
            "And who was down for {of} just before the present one? The name and nothing else.",
            "I have to apologise to the person who dropped out last from {of}. Who is that? Just the name, please.",
        ),
        "values": (
            "Abelone", "Balthasar", "Clementine", "Dorian", "Evander", "Felicitas", "Gottlieb", "Henrike", "Isaura",
            "Jeremiah", "Kreszentia", "Lysander", "Mirabel", "Nathanael", "Olympia", "Prosper", "Rosalind", "Simeon",
            "Theresia", "Valentin",
        ),
    },
}  # fmt: skip

FORGET = "That event is over. Plans that I tell you of from now on are about something else."


@scenario(skills={"conflict", "recall", "temporal"}, topics={"the plan"}, forget=FORGET)
def revised_plan(
    dice: Dice, *, changes: int = 3, plans: Mapping[str, Mapping[str, tuple[str, ...]]] = PLANS
) -> Script:
    """Tell a plan and change it `changes` times; ask for the current value, the first, and the last but one."""
    if not 2 <= changes <= 8:
        raise ValueError(f"changes = {changes}: from 2 to 8")
    name = dice.card("plan", tuple(plans))
    plan = plans[name]
    of, values = dice.card(f"of {name}", plan["of"]), dice.hand(name, plan["values"], changes + 1)
    for i, value in enumerate(values):
        text = dice.choice(plan["next"] if i else plan["first"]).format(of=of, value=value)
        fact = Fact(of, value, words=(of.split()[-1],), among=plan["values"])
        yield Tell(text[0].upper() + text[1:], at=i / len(values), facts=(fact,))
    *earlier, last = values
    asked = [
        ("now", names_only(last, among=plan["values"], stale=earlier)),
        ("then", formerly(values[0], among=plan["values"])),
        ("before", formerly(values[-2], among=plan["values"])),
    ]
    for i, (which, expect) in enumerate(asked):
        yield Ask(dice.choice(plan[which]).format(of=of), expect=expect, at=None if i else 1.0)
