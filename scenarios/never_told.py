"""Never told: the user says something about one of two people, and asks about both.

After the abstention questions of LongMemEval (Wu et al. 2025). Saying that nothing was told counts only if the agent
remembers what it was told about the other person, and that counts only if what was said of nobody is not said either:
nothing is gained by saying so always, or never.
The texts are in `never_told.json`.
"""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from ltm_bench import Ask, Dice, Fact, Script, Tell, content, names_only, never_said, scenario

PEOPLE = (
    "Alma", "Anselm", "Birgit", "Casimir", "Corinna", "Dietmar", "Dunja", "Egon", "Estelle", "Flavio", "Friedel",
    "Gilda", "Gunnar", "Hermine", "Hristo", "Irma", "Isidor", "Jolanda", "Kaspar", "Lavinia", "Leopold", "Liselotte",
    "Mechthild", "Milan", "Nanette", "Odile", "Ottokar", "Paloma", "Rigoberto", "Rosina", "Rufus", "Selma", "Sixtus",
    "Swantje", "Thekla", "Ulf", "Valerie", "Wolfram", "Zita", "Zoran",
)  # fmt: skip

RELATIONS = (
    "my cousin", "my former neighbour", "my old school friend", "my old flatmate", "my pen friend",
    "my fencing partner",
)  # fmt: skip

VALUES: dict[str, tuple[str, ...]] = {
    "lives": (
        "Bologna", "Cork", "Delft", "Gdynia", "Graz", "Izmir", "Kaunas", "Leuven", "Malmö", "Nantes", "Odense",
        "Plovdiv", "Quito", "Rijeka", "Salamanca", "Tampere", "Utrecht", "Valparaíso", "Windhoek", "Zadar",
    ),
    "plays": (
        "accordion", "bagpipes", "banjo", "bassoon", "clarinet", "cello", "double bass", "harmonica", "harp",
        "mandolin", "marimba", "oboe", "piccolo", "saxophone", "sitar", "trombone", "tuba", "ukulele", "viola",
        "zither",
    ),
    "works": (
        "baker", "barber", "bookbinder", "bricklayer", "chimney sweep", "cobbler", "glazier", "locksmith", "miller",
        "notary", "plasterer", "potter", "roofer", "saddler", "sailmaker", "stonemason", "surveyor", "tailor",
        "farrier", "welder",
    ),
    "keeps": (
        "canary", "chameleon", "chinchilla", "dachshund", "donkey", "ferret", "gecko", "goat", "goose", "hamster",
        "hedgehog", "turtle dove", "llama", "magpie", "newt", "parakeet", "peacock", "python", "tarantula",
        "tortoise",
    ),
    "collects": (
        "teaspoons", "barometers", "beer mats", "bookmarks", "bottle openers", "buttons", "cowbells",
        "doorknobs", "fans", "fossils", "gloves", "keyrings", "marbles", "masks", "music boxes", "paperweights",
        "postcards", "puppets", "snow globes", "thimbles",
    ),
}  # fmt: skip

MESSAGES: Mapping[str, Any] = content(__file__)["messages"]
ABOUT: dict[str, dict[str, tuple[str, ...]]] = {
    kind: {**MESSAGES["about"][kind], "values": values} for kind, values in VALUES.items()
}


@scenario(
    skills={"abstention", "recall"},
    topics={"two acquaintances"},
    forget=MESSAGES["forget"],
    version=4,
    decoys={},
)
def never_told(
    dice: Dice,
    *,
    people: tuple[str, ...] = PEOPLE,
    about: Mapping[str, Mapping[str, tuple[str, ...]]] = ABOUT,
) -> Script:
    """Tell one thing about each of two people, and another about both; then ask about all of it."""
    one, other = (f"{relation} {name}" for relation, name in _two(dice, people))
    kinds = dice.sample(tuple(about), 3)
    decks = {kind: dice.hand(kind, about[kind]["values"], 2) for kind in kinds}
    known = {(one, kinds[0]): decks[kinds[0]][0], (other, kinds[1]): decks[kinds[1]][0]}
    shared = [(whom, kinds[2], value) for whom, value in zip((one, other), decks[kinds[2]], strict=True)]
    told = dice.shuffled([(whom, kind, value) for (whom, kind), value in known.items()])
    needles = [*told, *dice.shuffled(shared)] if dice.chance(0.5) else [*dice.shuffled(shared), *told]
    tells, asks = (
        {kind: cycle(dice.shuffled(about[kind][part])) for kind in kinds} for part in ("told", "asked")
    )
    forms = cycle(dice.shuffled(MESSAGES["forms"]))
    for i, (whom, kind, value) in enumerate(needles):
        text = next(tells[kind]).format(whom=whom, value=value)
        fact = Fact(f"{whom} {kind}", value, words=(whom.split()[-1],), among=about[kind]["values"])
        yield Tell(text, at=i / len(needles), facts=(fact,))
    asked = dice.shuffled([(whom, kind) for whom in (one, other) for kind in kinds[:2]])
    for i, (whom, kind) in enumerate(asked):
        question = f"{next(asks[kind]).format(whom=whom)} {next(forms)}"
        at, answer, values = None if i else 1.0, known.get((whom, kind)), about[kind]["values"]
        shown, kept = (f"{what} {_named(kind, known)}" for what in ("what", "what only"))
        if answer is None:
            near = next(value for (_, its), value in known.items() if its == kind)
            yield Ask(question, expect=never_said(values, near=[near]), at=at, shows=kept, needs=shown)
        else:  # the other kind, so that who says each value once must be lucky twice
            other = f"what only {_named(kinds[kind == kinds[0]], known)}"
            yield Ask(question, expect=names_only(answer, among=values), at=at, shows=shown, needs=other)


def _two(dice: Dice, people: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return two people, each with their relationship to the user."""
    return list(zip(dice.sample(RELATIONS, 2), dice.hand("people", people, 2), strict=True))


def _named(kind: str, known: Mapping[tuple[str, str], str]) -> str:
    """Describe what was told, for readers of the results: `my cousin Ines plays`."""
    return next(f"{whom} {kind}" for whom, its in known if its == kind)
