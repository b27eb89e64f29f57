"""The third poem: the user shows short poems on one subject, with others in between, and asks for one by its number.

After MRCR (Vodrahalli et al. 2024): the poems are alike, so only their order identifies the one in question.
"""

from ltm_bench import Ask, Dice, Script, Tell, says, scenario

SUBJECTS = ("rain", "snow", "frost", "fog", "thunder", "wind", "moonlight", "dust")

POEMS = (
    "The {subject} came early, and nobody spoke; the kettle was singing, the morning awoke.",
    "I asked of the {subject} what summer was for; it left me no answer and knocked at the door.",
    "Between the two chimneys the {subject} lay thin; my grandmother grumbled and let the cat in.",
    "Old Barnaby cursed at the {subject} all day; it heard him politely and went on its way.",
    "A ferry went over with {subject} for freight; the captain was sleepy, the harbour could wait.",
    "They say that the {subject} once wanted to sing; it practised on rooftops from autumn to spring.",
    "Who painted the meadow with {subject} last night? The hens are in mourning, the geese are in white.",
    "My letter is late, for the {subject} has read each word that I wrote you, and each that you said.",
    "The miller sold {subject} by bushel and pound; the bread that it made was the best to be found.",
    "Give {subject} a lantern, give {subject} a coat, and teach it to travel by barrow and boat.",
    "The {subject} on the steeple forgot how to fall; it waited for Sunday and said nothing at all.",
    "Two brothers divided the {subject} between them; nobody since then has properly seen them.",
    "Beneath the piano some {subject} had lain; we found it in April and lost it again.",
    "The tailor was measuring {subject} for a gown; the needle was silver, the thimble was brown.",
    "When {subject} is a judge, every sparrow must plead; the court has adjourned for a handful of seed.",
    "Our uncle took {subject} along to the fair; it won him a melon, a mug and a mare.",
    "I folded the {subject} and put it away; it creased at the corners and smelled of the bay.",
    "The baker's third daughter kept {subject} in a jar; she lent it to sailors who had to go far.",
    "No map has a valley where {subject} is at home; it lodges with tinkers and dines upon foam.",
    "Then {subject} told the river a secret or two; the river told no one, the river just grew.",
    "The clock in the attic had {subject} in its chest; it struck for the people who needed a rest.",
    "They crowned the old {subject} with a circlet of tin; it bowed to the beggars and asked them all in.",
    "A goat and some {subject} played chess on the green; a stranger result there has never been seen.",
    "At supper the {subject} took the stool by the fire; it spoke about harvests and played on the lyre.",
)  # fmt: skip

SHOWN = (
    "A poem of mine about {subject}: {poem}",
    "I have written about {subject}. It goes like this: {poem}",
    "Here is what I wrote about {subject}: {poem}",
)
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
QUESTIONS = (
    "I have shown you {many} poems about {subject}. Give me the {place} of them again, word for word, and nothing "
    "else.",
    "Of the {many} poems about {subject} that I have shown you, recite the {place}. Its exact words and no others, "
    "please.",
)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
FORGET = "I have burnt those poems. When I show you others, count them afresh."


@scenario(skills={"order", "verbatim", "recall"}, topics={"my poems"}, forget=FORGET)
def the_third_poem(
    dice: Dice, *, many: int = 4, poems: tuple[str, ...] = POEMS, subjects: tuple[str, ...] = SUBJECTS
) -> Script:
    """Show `many` poems on one subject and others in between; ask for one that is neither the first nor the last."""
    if not 3 <= many <= len(PLACES):
        raise ValueError(f"many = {many}: from 3 to {len(PLACES)}")
    subject, other = dice.hand("subjects", subjects, 2)
    dealt = dice.hand("poems", poems, 2 * many - 1)
    own = [poem.format(subject=subject) for poem in dealt[:many]]
    between = [poem.format(subject=other) for poem in dealt[many:]]
    shown = [(subject, poem) for poem in own]
    for poem in between:  # a poem on the subject in question comes last
        shown.insert(dice.integer(0, len(shown) - 1), (other, poem))
    for i, (about, poem) in enumerate(shown):
        yield Tell(dice.choice(SHOWN).format(subject=about, poem=poem), at=i / len(shown))
    place = dice.integer(1, many - 2)
    yield Ask(
        dice.choice(QUESTIONS).format(many=NUMBERS[many], subject=subject, place=PLACES[place]),
        expect=says(own[place], among=own + between),
        at=1.0,
    )
