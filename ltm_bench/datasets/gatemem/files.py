"""Reads GateMem (MIT): episodes in which several people share an assistant, and questions asked in their middle.

The data is read from a path and never shipped: a folder for each domain (medical, office, education, household) with
`episodes.jsonl` and `checkpoints.jsonl`, gzipped or not. A path may be one such folder, or any folder above them.

An episode is cut into sessions where it is asked something, so that a question follows the session that it names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.dates import read_date
from ltm_bench.datasets.dialogue import (
    Histories,
    History,
    HistoryQuestion,
    OnBad,
    Session,
    Utterance,
    role_of,
)
from ltm_bench.datasets.gatemem.scorer import KINDS, PRIVACY, SAFETY, UTILITY, Rule
from ltm_bench.datasets.streaming import read_elements, skipping
from ltm_bench.datasets.values import needed, text_of

DOMAINS = ("medical", "office", "education", "household")

_Asked = dict[str, list[tuple[str, Mapping[str, Any]]]]
"""Records of questions, each with where it stands, by a turn or an episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint(HistoryQuestion):
    """A question of GateMem."""

    rule: Rule
    """What its reply is scored by."""
    asker: str
    """Who asks, with the role."""
    domain: str


def histories(path: Path, on_bad: OnBad) -> Histories:
    """Yield the episodes under a path. Raises ConfigError if there is none; bad records are named and skipped."""
    folders = {each.parent for each in path.rglob("checkpoints.jsonl*")} if path.is_dir() else ()
    if not folders:
        raise ConfigError(f"{path}: it is no folder with a checkpoints.jsonl in it, or below")
    for folder in sorted(folders, key=lambda each: ((*DOMAINS, each.name).index(each.name), each)):
        asked: _Asked = {}
        for number, record in read_elements(_file(folder, "checkpoints"), on_bad):
            episode = str(record.get("episode_id")) if isinstance(record, Mapping) else ""
            asked.setdefault(episode, []).append((f"{folder}: checkpoint {number}", record))
        for number, record in read_elements(_file(folder, "episodes"), on_bad):
            with skipping(f"{folder}: episode {number}", on_bad):
                yield _history(folder.name, record, asked.pop(needed(record, "episode_id"), []), on_bad)
        for where, _ in (each for records in asked.values() for each in records):
            on_bad(f"{where}: skipped: its episode_id names no episode")


def _file(folder: Path, stem: str) -> Path:
    return next(folder.glob(f"{stem}.jsonl*"), folder / f"{stem}.jsonl")


def _history(
    domain: str, episode: Mapping[str, Any], asked: list[tuple[str, Mapping[str, Any]]], on_bad: OnBad
) -> History:
    name, entities, by_turn = needed(episode, "episode_id"), episode["entities"], _Asked()
    told = ((p, needed(p, "display_name"), needed(p, "role")) for p in entities["principals"])
    people = {needed(p, "principal_id"): f"{shown}, {role}" for p, shown, role in told}
    for where, record in asked:
        by_turn.setdefault(str(record.get("as_of_turn_id")), []).append((where, record))
    # The published program tells of an episode's people with every question.
    known = [f"{each} ({key})" for key, each in people.items()]
    related = [", ".join(map(" ".join, each.items())) for each in entities.get("relationships", ())]
    said = [Utterance("user", "\n".join(("People:", *known, "Relations:", *related)), "Register")]
    sessions, questions, begun = list[Session](), list[Checkpoint](), None
    for turn in episode["turns"]:
        at, who = read_date(turn.get("timestamp")), turn["speaker"]
        begun = begun or at
        role = role_of("assistant" if who["role"] == "agent" else "user")
        said.append(Utterance(role, text_of(turn["text"]), people[str(who["principal_id"])]))
        if here := by_turn.pop(str(turn["turn_id"]), []):
            sessions.append(Session(f"{name}#{turn['turn_id']}", begun, tuple(said)))
            said, begun = [], None
        for where, record in here:
            with skipping(where, on_bad):
                questions.append(_question(domain, sessions[-1].id, record, at, people))
    for turn, records in by_turn.items():
        on_bad(f"{records[0][0]}: skipped: as_of_turn_id {turn:.40} is no turn of its episode")
    return History(f"{domain}/{name}", tuple(sessions), tuple(questions))


def _question(
    domain: str, after: str, record: Mapping[str, Any], at: Any, people: Mapping[str, str]
) -> Checkpoint:
    kind, text = needed(record, "query_type"), needed(record, "query_text")
    key = record.get("judge_spec") or {}
    if kind not in KINDS:
        raise ValueError(f"query_type {kind!r:.40} is not one of {', '.join(KINDS)}")
    patterns = _texts(key.get("include"))
    if kind != UTILITY:
        patterns = _texts(key.get("not_include")) if kind == PRIVACY else ()
        patterns += _texts(record.get("leak_targets"))
    rule = Rule.of(kind, needed(record, "expected_action"), patterns, text)
    return Checkpoint(
        id=needed(record, "checkpoint_id"),
        type=kind,
        text=text,
        gold=(rule.told if kind == UTILITY else rule.action,),
        at=at,
        unanswerable=kind == SAFETY,
        after=after,
        restrains=kind != UTILITY,
        rule=rule,
        asker=people[str(record["asker"]["principal_id"])],
        domain=domain,
    )


def _texts(value: Any) -> tuple[str, ...]:
    """Return the patterns of a record as the published program reads them."""
    found = [value] if isinstance(value, str) else value or ()
    return tuple(str(each) for each in found if isinstance(each, str | int | float))


def questions_of(path: Path, on_bad: OnBad) -> Iterator[Checkpoint]:
    """Yield the questions under a path. Raises ConfigError."""
    for history in histories(path, on_bad):
        yield from (each for each in history.questions if isinstance(each, Checkpoint))
