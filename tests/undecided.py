"""A scenario whose replies text alone cannot decide, an agent that replies so, and a judge that decides them."""

SCENARIO = '''"""Joke: one joke is told and asked for."""

from ltm_bench import Ask, Dice, Script, Tell, retells, scenario

JOKE = "My dentist plays the trombone in a brass band. He says it is all about the right extraction of sound."
OTHER = "A snail was mugged by two tortoises. Everything went so fast."


@scenario(skills={"recall"})
def joke(dice: Dice) -> Script:
    yield Tell(f"{JOKE} No. {dice.integer(1, 999)}", at=0.0)
    yield Ask("Which joke did I tell you?", expect=retells(JOKE, among=(JOKE, OTHER)), at=1.0)
'''
VAGUE = '''"""Vague: tells it in other words, and tells the turns apart."""

from ltm_bench import Agent, Message, Reply, Turn


class Vague(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        if "Which" in message.text:
            return Reply(f"A dentist, a trombone, that sort of thing. I was told in message {message.turn}.")
        return Reply("Ha!")

    async def observe(self, turn: Turn) -> None:
        return
'''
JUDGE = '''"""Judges by the number of letters, and notes that it was asked."""

import json

from ltm_bench import Agent, Message, Reply


class Judge(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        with open("asked.txt", "a") as file:
            file.write("x\\n")
        right = len(message.text) % 2 == 0
        return Reply(json.dumps({"reason": "by letters", "verdict": "right" if right else "wrong"}))
'''
