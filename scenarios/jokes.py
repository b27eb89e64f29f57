"""Jokes: several are told, hours apart; which one was told that long ago?"""

from datetime import datetime, timedelta

from ltm_bench import Ask, Dice, Script, Tell, retells, scenario, spoken_duration

JOKES = (
    "I asked the librarian for a book about paranoia. She whispered that it was standing right behind me.",
    "My dentist plays the trombone in a brass band. He says it is all about the right extraction of sound.",
    "A snail was mugged by two tortoises. Asked by the police, it could only say that everything went so fast.",
    "My grandfather's clock stopped at noon in 1962. Since then it is always time for lunch at our house.",
    "The bakery hired a mathematician for one week. Every cake was round, and he insisted on calling it pi.",
    "Two antennas got married on the roof. The ceremony was dull, but the reception was excellent.",
    "A penguin walks into a tailor's shop. The tailor says: I see that you are dressed for your fitting already.",
    "I bought a boomerang and cannot get rid of the old one. It keeps applying for its former job.",
    "The gardener and the electrician divorced. She wanted roots, he could only offer wires.",
    "My umbrella and I have an understanding. I forget it on trains, and it stays dry at the lost property office.",
    "The orchestra fired its triangle player. He left without a word, just one ting after another.",
    "Our village blacksmith has a fierce dog. Whenever someone knocks, it makes a bolt for the door.",
)

TELL = (
    "Here is a joke for you: {joke}",
    "Do you know this joke? {joke}",
    "I heard a joke on the radio: {joke}",
    "Time for a joke. {joke}",
)

QUESTION = "Which joke did I tell you about {ago} ago? Tell me that one, and no other."


@scenario(skills={"episodic", "temporal"}, topics={"jokes"})
def jokes(
    dice: Dice,
    *,
    told: int = 4,
    pool: tuple[str, ...] = JOKES,
    least_minutes: int = 30,
    most_minutes: int = 240,
    tell: tuple[str, ...] = TELL,
) -> Script:
    """Tell `told` jokes, hours apart; then ask for one of them by the time that has passed."""
    chosen = dice.sample(pool, told)
    times: list[datetime] = []
    for i, joke in enumerate(chosen):
        pause = timedelta(minutes=dice.integer(least_minutes, most_minutes)) if i else None
        reply = yield Tell(dice.choice(tell).format(joke=joke), at=i / told, after=pause)
        assert reply.at is not None
        times.append(reply.at)
    wanted = dice.integer(0, told - 1)
    pause = timedelta(minutes=dice.integer(least_minutes, most_minutes))
    yield Ask(
        lambda now: QUESTION.format(ago=spoken_duration(now - times[wanted])),
        expect=retells(chosen[wanted], among=chosen),
        at=1.0,
        after=pause,
    )
