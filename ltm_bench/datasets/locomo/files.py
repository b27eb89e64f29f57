"""Reads LoCoMo (Maharana et al. 2024): ten long dialogues of two people, with questions of five categories.

The data (CC BY-NC 4.0) is read from a path and never shipped: `locomo10.json`, a list of `sample_id`, `conversation`
and `qa`. Questions have no ids there; they get those of the audit by dial481, `locomo_0_qa1`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ltm_bench.datasets.dates import read_date
from ltm_bench.datasets.dialogue import Histories, History, HistoryQuestion, OnBad, Role, Session, Utterance
from ltm_bench.datasets.streaming import read_elements, skipping
from ltm_bench.datasets.values import golds_of, needed, text_of

TEMPORAL = "2"
"""The category of questions about dates."""

ADVERSARIAL = "5"
"""The category of questions that the dialogue does not answer."""

NOT_MENTIONED = "Not mentioned in the conversation."
"""The phrases that the official scorer accepts for those."""

CATEGORIES: Mapping[str, str] = {
    "1": "multi-hop, or single-hop",
    "2": "temporal",
    "3": "open-domain",
    "4": "single-hop, or multi-hop",
    "5": "adversarial",
}
"""The official scorer's names; others swap those of 1 and 4."""


def histories(path: Path, on_bad: OnBad) -> Histories:
    """Yield the dialogues of a file. Raises ConfigError if it cannot be read; bad records are named and skipped."""
    for number, sample in read_elements(path, on_bad):
        with skipping(f"{path}: record {number}", on_bad):
            yield _history(number - 1, sample, f"{path}: record {number}", on_bad)


def _history(index: int, sample: Mapping[str, Any], where: str, on_bad: OnBad) -> History:
    told = sample["conversation"]
    numbers = sorted(
        int(key.removeprefix("session_"))
        for key, value in told.items()
        if key.startswith("session_") and key.removeprefix("session_").isdigit() and value
    )
    if not numbers:
        raise ValueError("it has no session")
    sessions = tuple(
        Session(
            f"D{number}",
            read_date(told.get(f"session_{number}_date_time")),
            tuple(_utterance(each, told) for each in told[f"session_{number}"]),
        )
        for number in numbers
    )
    questions = []
    for place, asked in enumerate(sample["qa"]):
        with skipping(f"{where}: question {place}", on_bad):
            questions.append(_question(f"locomo_{index}_qa{place}", asked))
    return History(text_of(sample.get("sample_id")) or str(index), sessions, tuple(questions))


def _utterance(said: Mapping[str, Any], told: Mapping[str, Any]) -> Utterance:
    text = text_of(said["text"])
    if caption := text_of(said.get("blip_caption")):
        text = f"{text} [shares a picture: {caption}]".strip()
    speaker = needed(said, "speaker")
    role: Role = "user" if speaker == told.get("speaker_a") else "assistant"
    return Utterance(role, text, speaker, text_of(said.get("dia_id")))


def _question(name: str, asked: Mapping[str, Any]) -> HistoryQuestion:
    category = needed(asked, "category")
    if category not in CATEGORIES:
        raise ValueError(f"category {str(asked['category'])[:40]} is not a number from 1 to 5")
    unanswerable = category == ADVERSARIAL
    gold = (NOT_MENTIONED,) if unanswerable else golds_of(asked["answer"])
    trap = text_of(asked.get("adversarial_answer")) if unanswerable else ""
    return HistoryQuestion(
        id=name,
        type=category,
        text=needed(asked, "question"),
        gold=gold,
        evidence=tuple(re.findall(r"[^;\s]+", text_of(asked.get("evidence")))),
        unanswerable=unanswerable,
        options=(NOT_MENTIONED, trap) if trap else (),
    )
