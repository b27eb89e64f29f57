"""Jokes: the user tells several, hours apart; which one was it so long ago? The jokes are in `jokes.json`."""

import json
from datetime import datetime, timedelta
from pathlib import Path

from ltm_bench import Ask, Dice, Script, Tell, retells, scenario, spoken_duration

JOKES = tuple(json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")))

TELL = (
    "Here is a joke for you: {joke}",
    "Do you know this one? {joke}",
    "I heard a joke on the radio: {joke}",
    "Time for a joke. {joke}",
    "My colleague told me this joke: {joke}",
    "A joke to cheer you up: {joke}",
    "This one made me laugh on the bus. {joke}",
    "You will groan at this joke: {joke}",
    "Stop me if you know it: {joke}",
    "From the back of a cereal box: {joke}",
    "My father tells this joke every Christmas: {joke}",
    "I have to share this joke with you. {joke}",
    "Ready for a joke? {joke}",
    "Somebody told this one at lunch: {joke}",
)

QUESTIONS = (
    "Which joke did I tell you about {ago} ago? Tell me that one, word for word if you can, and nothing else.",
    "I told you a joke, about {ago} ago. Please repeat that joke alone, in the same words.",
    "Can you give me back the joke that I told you about {ago} ago? Just the joke itself, please.",
    "What was the joke that you heard from me about {ago} ago? Answer with the text of that joke and nothing else.",
)


@scenario(skills={"episodic", "temporal"}, topics={"jokes"}, version=2)
def jokes(
    dice: Dice,
    *,
    told: int = 4,
    pool: tuple[str, ...] = JOKES,
    least_minutes: int = 30,
    most_minutes: int = 240,
    tell: tuple[str, ...] = TELL,
) -> Script:
    """Tell `told` jokes, hours apart; then ask for one of them by how long ago it was."""
    chosen = dice.hand("jokes", pool, told)
    times: list[datetime] = []
    for i, joke in enumerate(chosen):
        pause = timedelta(minutes=dice.integer(least_minutes, most_minutes)) if i else None
        reply = yield Tell(dice.choice(tell).format(joke=joke), at=i / told, after=pause)
        assert reply.at is not None
        times.append(reply.at)
    wanted = dice.integer(0, told - 1)
    pause = timedelta(minutes=dice.integer(least_minutes, most_minutes))
    question = dice.choice(QUESTIONS)
    yield Ask(
        lambda now: question.format(ago=spoken_duration(now - times[wanted])),
        expect=retells(chosen[wanted], among=chosen),
        at=1.0,
        after=pause,
    )
