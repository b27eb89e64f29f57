"""Hinted: the user says what a friend does, and asks in other words; common knowledge links the two.

After NoLiMa (Modarressi et al. 2025): needle and question share no content word, so a search for similar words finds
nothing. The pairs are in `hinted.json`.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

PAIRS: tuple[Mapping[str, str], ...] = tuple(
    json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
)
"""What the user says about a friend, and what follows from it."""

FRIENDS = (
    "Abel", "Adina", "Alvar", "Anouk", "Arvid", "Aurelia", "Bastian", "Blanca", "Bogdan", "Branwen", "Carsten",
    "Celeste", "Ciaran", "Clemens", "Dagmar", "Damaris", "Darko", "Eitan", "Elodie", "Emeka", "Esra", "Faye",
    "Fergus", "Fiorella", "Freya", "Gaspard", "Giulia", "Gonzalo", "Greta", "Hakan", "Hedda", "Hilario", "Ignacy",
    "Imogen", "Ivo", "Jadwiga", "Jarno", "Joaquin", "Juno", "Kamila", "Katja", "Kieran", "Klara", "Lachezar",
    "Leocadia",
    "Levin", "Linnea", "Lorcan", "Ludmila", "Maite", "Malachi", "Marisol", "Mattis", "Minerva", "Morag", "Nadezhda",
    "Neville", "Nicanor", "Nuria", "Odalys", "Olivier", "Orsolya", "Osvaldo", "Padma", "Perpetua", "Petronella",
    "Piotr", "Quirin", "Radka", "Rafferty", "Rhiannon", "Rodrigo", "Ronja", "Sabela", "Samir", "Severin", "Shirin",
    "Solveig", "Stanka", "Svetlana", "Taavi", "Tamsin", "Teodora", "Thibault", "Tova", "Umberto", "Urszula", "Vasco",
    "Verena", "Violeta", "Waltraud", "Wenzel", "Xenia", "Ylva", "Yusuf", "Zdenka", "Zephyr", "Zofia", "Zuleika",
)  # fmt: skip

BEGIN = (
    "Let me tell you what my friends are up to. {needle}",
    "I should tell you a little about my friends. {needle}",
    "I was with my friends last night. {needle}",
)
NEXT = (
    "{needle}",
    "By the way: {needle}",
    "Speaking of friends: {needle}",
    "And then: {needle}",
    "Oh, and {needle}",
)

QUESTIONS = (
    "Which of my friends {question}? Go by what I have told you, and name that one alone.",
    "One of the friends whom I have told you about {question}. Which one? Just the name, please.",
    "From what I have told you, which friend of mine {question}? Answer with the name and nothing else.",
)
FORGET = "So much for those friends. The next ones that I tell you about are others."


@scenario(skills={"inference", "common knowledge"}, topics={"my friends"}, forget=FORGET)
def hinted(
    dice: Dice,
    *,
    friends: int = 4,
    questions: int = 2,
    pairs: tuple[Mapping[str, str], ...] = PAIRS,
    names: tuple[str, ...] = FRIENDS,
) -> Script:
    """Say something about `friends` friends over the span; then ask `questions` times which friend it must be."""
    if not 1 <= questions <= friends:
        raise ValueError(f"questions = {questions}: from 1 to the number of friends, {friends}")
    told = list(zip(dice.hand("names", names, friends), dice.hand("pairs", pairs, friends), strict=True))
    for i, (name, pair) in enumerate(told):
        text = dice.choice(NEXT if i else BEGIN).format(needle=pair["needle"].format(name=name))
        yield Tell(text, at=i / friends)
    for i, (name, pair) in enumerate(dice.sample(told, questions)):
        question = dice.choice(QUESTIONS).format(question=pair["question"])
        yield Ask(
            question, expect=names_only(name, among=[other for other, _ in told]), at=None if i else 1.0
        )
