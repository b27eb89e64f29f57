"""Hinted: the user says what a friend does, and asks in other words; common knowledge links the two.

After NoLiMa (Modarressi et al. 2025): needle and question share no content word, so a search for similar words finds
nothing. The pairs and the texts are in `hinted.json`.
"""

from collections.abc import Mapping
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, names_only, scenario

_CONTENT = content(__file__)

MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]

PAIRS: tuple[Mapping[str, str], ...] = _CONTENT["pools"]["pairs"]
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


@scenario(
    skills={"inference", "common knowledge"}, topics={"my friends"}, forget=MESSAGES["forget"], version=2
)
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
    texts, called = (cycle(dice.shuffled(MESSAGES[each])) for each in ("told", "friend"))
    for i, ((name, pair), text, friend) in enumerate(zip(told, texts, called, strict=False)):
        needle = pair["needle"].format(name=friend.format(name=name))
        yield Tell(text.format(needle=needle), at=i / friends)
    asked = zip(dice.sample(told, questions), cycle(dice.shuffled(MESSAGES["question"])), strict=False)
    for i, ((name, pair), text) in enumerate(asked):
        expect = names_only(name, among=[other for other, _ in told])
        yield Ask(text.format(question=pair["question"]), expect=expect, at=None if i else 1.0)
