"""Who said it: several people each want one thing and reject another; who said what?

Everything is named twice, by the person who wants it and by one who does not, so the thing alone is no clue.
The texts are in `who_said_it.json`.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, names_only, scenario

SPEAKERS = (
    "Adelheid", "Ansgar", "Bettina", "Burkhard", "Cordula", "Cyprian", "Doreen", "Eberhard", "Ettore", "Fridolin",
    "Giselher", "Hortense", "Ilona", "Jolyon", "Kunigunde", "Leander", "Marlies", "Norbert", "Ottilie", "Pascoe",
    "Reinhild", "Sighard", "Tabea", "Urban", "Veit", "Wiltrud", "Ximena", "Yannick", "Zacharias", "Zenobia",
)  # fmt: skip

CIRCLES = (
    "our reading circle", "the garden club", "the evening class", "the lecture club", "the history society",
    "our radio group", "the film society", "the supper club",
)  # fmt: skip

SUBJECTS = (
    "whales", "lighthouses", "bell-ringing", "beekeeping", "volcanoes", "Byzantium", "puppetry", "glaciers", "coffins",
    "tea smuggling", "fireworks", "shipwrecks", "mushrooms", "tightrope walkers", "the plague", "typewriters",
    "caravans", "clockmaking", "salt mines", "migrating birds", "circus horses", "submarines", "perfume", "silk",
    "ghost towns", "meteorites",
)  # fmt: skip

MESSAGES: Mapping[str, tuple[str, ...]] = content(__file__)["messages"]


@scenario(skills={"recall", "attribution"}, topics={"what people said"}, forget=MESSAGES["forget"], version=2)
def who_said_it(
    dice: Dice,
    *,
    speakers: tuple[str, ...] = SPEAKERS,
    subjects: tuple[str, ...] = SUBJECTS,
    circles: tuple[str, ...] = CIRCLES,
    people: int = 4,
) -> Script:
    """Let each of `people` want one thing and reject the next person's; ask who is for one, who is against it, etc."""
    if not 3 <= people <= min(len(speakers), len(subjects)):
        raise ValueError(f"people = {people}: from 3 to {min(len(speakers), len(subjects))}")
    circle = dice.card("circle", circles)
    who, what = dice.hand("speakers", speakers, people), dice.hand("subjects", subjects, people)
    said = dice.shuffled(
        [("for", i, i) for i in range(people)] + [("against", i, (i + 1) % people) for i in range(people)]
    )
    texts = {side: cycle(dice.shuffled(MESSAGES[side])) for side in ("for", "against")}
    for at, (side, i, j) in enumerate(said):
        text = next(texts[side]).format(circle=circle, who=who[i], subject=what[j])
        yield Tell(text, at=at / len(said))
    first, second, third = dice.sample(range(people), 3)
    asked = [
        ("for_it", first, names_only(who[first], among=who)),
        ("against_it", second, names_only(who[second - 1], among=who)),
        ("wanted", third, names_only(what[third], among=what)),
    ]
    for i, (which, j, expect) in enumerate(dice.shuffled(asked)):
        question = dice.choice(MESSAGES[which]).format(circle=circle, who=who[j], subject=what[j])
        yield Ask(question, expect=expect, at=None if i else 1.0)
