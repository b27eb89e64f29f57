"""Who said it: several people each want one thing and reject another; who said what?

Everything is named twice, by the person who wants it and by one who does not, so the thing alone is no clue.
"""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

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

FOR = (
    "News from {circle}. {who} would like the next evening to be about {subject}.",
    "In {circle}, {who} has proposed {subject} as the next subject.",
    "{who}, from {circle}, told us all why it should be {subject} next.",
)
AGAINST = (
    "News from {circle}. {who} would rather hear about anything but {subject}.",
    "In {circle}, {who} has spoken against {subject} as the next subject.",
    "{who}, from {circle}, told us all why it should not be {subject}.",
)
FOR_IT = (
    "Who in {circle} was for {subject}? Just the name, please.",
    "Whose idea was it in {circle} to take {subject} as the next subject? Just name that person.",
)
AGAINST_IT = (
    "Who in {circle} was against {subject}? Just the name, please.",
    "Somebody in {circle} objected to {subject}. Who was it? Just name that person.",
)
WANTED = (
    "What was {who} for, in {circle}? Just the subject, please.",
    "Which subject did {who} want for {circle}? Name it and nothing else.",
)
FORGET = (
    "They have settled on something else entirely. When I tell you of such talk again, it is other people's."
)


@scenario(skills={"recall", "attribution"}, topics={"what people said"}, forget=FORGET)
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
        [(FOR, i, i) for i in range(people)] + [(AGAINST, i, (i + 1) % people) for i in range(people)]
    )
    for at, (manner, i, j) in enumerate(said):
        text = dice.choice(manner).format(circle=circle, who=who[i], subject=what[j])
        yield Tell(text, at=at / len(said))
    first, second, third = dice.sample(range(people), 3)
    asked = [
        (dice.choice(FOR_IT).format(circle=circle, subject=what[first]), names_only(who[first], among=who)),
        (
            dice.choice(AGAINST_IT).format(circle=circle, subject=what[second]),
            names_only(who[second - 1], among=who),
        ),
        (dice.choice(WANTED).format(circle=circle, who=who[third]), names_only(what[third], among=what)),
    ]
    for i, (question, expect) in enumerate(dice.shuffled(asked)):
        yield Ask(question, expect=expect, at=None if i else 1.0)
