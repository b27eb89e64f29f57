"""The third poem: the user shows short poems on one subject, with others in between, and asks for one by its number.

After MRCR (Vodrahalli et al. 2024): the poems are alike, so only their order identifies the one in question. Poems and
texts are in `the_third_poem.json`.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, says, scenario

CONTENT: Mapping[str, Mapping[str, tuple[str, ...]]] = content(__file__)
MESSAGES = CONTENT["messages"]
POEMS = CONTENT["pools"]["poems"]
SUBJECTS = ("rain", "snow", "frost", "fog", "thunder", "smoke", "moonlight", "sunshine")
"""Every poem makes sense with each of them."""

PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


@scenario(skills={"order", "verbatim", "recall"}, topics={"my poems"}, forget=MESSAGES["forget"], version=2)
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
    frames = cycle(dice.shuffled(MESSAGES["shown"]))
    for i, (about, poem) in enumerate(shown):
        yield Tell(next(frames).format(subject=about, poem=poem), at=i / len(shown))
    place = dice.integer(1, many - 2)
    yield Ask(
        dice.choice(MESSAGES["question"]).format(many=NUMBERS[many], subject=subject, place=PLACES[place]),
        expect=says(own[place], among=own + between),
        at=1.0,
    )
