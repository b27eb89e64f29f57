"""The shapes of published files, in one table: which keys their rows have, and what is counted in them.

A file is known by its rows, never by its name. A new kind of file is one line in `SHAPES`, and a function if nothing
there counts it yet.
"""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ltm_bench.datasets.answers import type_of, votes_of
from ltm_bench.datasets.beam.scorer import event_order
from ltm_bench.datasets.longmemeval.files import ABSTENTION
from ltm_bench.datasets.precisionmembench.context import row_of
from ltm_bench.datasets.precisionmembench.scorer import Surfaced, pass_type

Record = Mapping[str, Any]

SAID, JUDGED = "reply", "judged"
"""The roles of rows that hold a reply, and one with a label."""

Known = dict[str, dict[str, Record]]
"""Rows of the files at hand that explain others, by their role and their name."""


class RowCount(NamedTuple):
    """What a row adds to its file's figures."""

    amounts: Mapping[str, tuple[float, int]]
    """By measure: an amount, and of how many."""
    groups: Sequence[str] = ()
    """The subsets that it belongs to, besides the whole."""
    differs: Sequence[str] = ()
    """Measures that the row stores with a value that does not follow from it."""


@dataclass(frozen=True)
class Shape:
    """A kind of file."""

    about: str
    keys: str
    """The keys of each row, with spaces between them."""
    name: str
    """Those among them that name a row, so that one that comes twice is noticed; empty if none does."""
    count: Callable[[Record, Known], RowCount]
    role: str = ""
    """What its rows are to other files; empty for nothing."""

    @property
    def dataset(self) -> str:
        """The set's folder; of no one set for the Agent Memory Benchmark."""
        return self.about.partition(":")[0].replace(" ", "").casefold()

    @property
    def is_of_replies(self) -> bool:
        """Whether every row holds a reply."""
        return self.role in (SAID, JUDGED)

    def fits(self, row: Record) -> bool:
        """Whether a row has the keys."""
        return all(key in row for key in self.keys.split())

    def check(self, row: Record) -> None:
        """Raise ValueError if a value has a type that no file of this kind has."""
        for key in self.keys.split():
            types, needed = _TYPES.get(key, (object, ""))
            _must(isinstance(row[key], types), key, row[key], needed)

    def name_of(self, row: Record) -> str:
        """Return a row's name; empty if it has none, or only a part of it."""
        keys = self.name.split()
        return "/".join(str(row[key]) for key in keys) if all(key in row for key in keys) else ""


def shape_of(row: Record) -> Shape | None:
    """Return the first shape that fits a row; None if there is none."""
    return next((each for each in SHAPES if each.fits(row)), None)


def _must(condition: object, key: str, value: object, needed: str) -> None:
    if not condition:
        raise ValueError(f"{key} is {str(value)[:40]!r}; it must be {needed}")


_TYPES: Mapping[str, tuple[Any, str]] = {
    **dict.fromkeys(("u", "a", "f", "mgs"), (int | float, "a number")),
    **dict.fromkeys(
        ("question_id", "id", "qid", "caseId", "checkpoint_id"), (str | int, "a text or a number")
    ),
    "turns": (list, "a list"),
    "output": (Mapping, "an object with an action or an answer"),
}
"""What the values of some keys are, whatever the kind of file."""


def _texts(row: Record, key: str) -> list[str]:
    value = row[key]
    plain = isinstance(value, list) and all(isinstance(each, str) for each in value)
    _must(plain, key, value, "a list of texts")
    return list(value)


def _share(row: Record, key: str) -> float | None:
    value = row[key]
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    _must(value is None or (plain and 0 <= value <= 1), key, value, "a number from 0 to 1")
    return None if value is None else float(value)


def _of(known: Known, role: str, name: object) -> Record:
    return known.get(role, {}).get(str(name), {})


def _told(row: Record, known: Known) -> list[str]:
    """Return the groups of a question: its type, from the row or from a file of questions."""
    name = row.get("question_id")
    kind = row.get("error_type") or type_of(row) or type_of(_of(known, "question", name))
    if kind and kind.isdigit():
        _must(kind in "12345", "category", kind, "from 1 to 5")
    groups = [] if kind is None else [kind, "1-4"] if kind in ("1", "2", "3", "4") else [kind]
    return groups + (["abstention"] if ABSTENTION in str(name) else [])


def _plain(row: Record, known: Known) -> RowCount:
    return RowCount({"rows": (1, 1)}, _told(row, known))


def _judged(row: Record, known: Known) -> RowCount:
    """Count votes: the majority, every one, unanimity, and each judgment by its place."""
    votes = votes_of(row)
    right = (2 * sum(votes) > len(votes), 1)
    if "label" in row:
        _must((row["label"] == 1) == right[0], "label", row["label"], "as in autoeval_label")
    amounts: dict[str, tuple[float, int]] = {"right": right}
    if len(votes) > 1:
        amounts = {"majority": right, "judgments": (sum(votes), len(votes))}
        amounts["unanimous"] = (len(set(votes)) == 1, 1)
        amounts |= {f"judgment {place}": (vote, 1) for place, vote in enumerate(votes, start=1)}
    said = row.get("hypothesis")
    other = said is not None and _of(known, SAID, row["question_id"]).get("hypothesis", said) != said
    return RowCount(amounts, _told(row, known), ("reply",) if other else ())


def retrieved(row: Record, known: Known) -> RowCount:
    """Count how many of the sessions or turns that hold the evidence were retrieved."""
    evidence, found = _texts(row, "evidence"), _texts(row, "retrieved_ids")
    sessions = {f"session_{each[1]}" for each in (re.match(r"D(\d+):", name) for name in evidence) if each}
    wanted = sessions if all(name.startswith("session_") for name in found) else set(evidence)
    recall = len(wanted & set(found)) / len(wanted) if wanted else 1.0
    groups = [*_told(row, known), *(["with evidence"] if evidence else [])]
    amounts = {"recall": (recall, 1), "all found": (recall == 1, 1), "none found": (recall == 0, 1)}
    return RowCount(amounts, groups, () if recall == _share(row, "recall") else ("recall",))


def _rated(row: Record, known: Known) -> RowCount:
    """Count what people say of an answer, and how a judge agrees with those that decide."""
    raters = [key for key in row if key.startswith("human_") or key == "majority"]
    words = ("CORRECT", "WRONG", "AMBIGUOUS")
    for key in (*raters, "golden_v2"):
        _must(row[key] in words, key, row[key], f"one of {', '.join(words)}")
    amounts: dict[str, tuple[float, int]] = {"golden_v2 CORRECT": (row["golden_v2"] == "CORRECT", 1)}
    for key in raters:
        amounts |= {f"{key} {word}": (row[key] == word, 1) for word in words}
        amounts[f"golden_v2 agrees with {key}"] = (row[key] == row["golden_v2"], row[key] != "AMBIGUOUS")
    said = [row[key] for key in raters if key != "majority"]
    most = next((word for word in words if said.count(word) >= 2), "AMBIGUOUS")
    return RowCount(amounts, differs=() if most == row["majority"] else ("majority",))


def letters(row: Record, known: Known) -> RowCount:
    """Count letters that are the key's; an empty one says nothing."""
    _must(row["answer"] in tuple("abcd"), "answer", row["answer"], "a letter from a to d")
    _must(row["p"] in ("", *"abcd"), "p", row["p"], "a letter from a to d, or empty")
    keys = _of(known, "question", row["question_id"]).get("gold_answers", row["answer"])
    amounts = {f"says {letter}": (row["p"] == letter, 1) for letter in "abcd"}
    amounts["right"] = (row["p"] == row["answer"], 1)
    return RowCount(amounts, _told(row, known), () if row["answer"] in keys else ("answer",))


def _queried(row: Record, known: Known) -> RowCount:
    """Count a case or a turn of PrecisionMemBench as it is stored, and whether that follows from its ids."""
    _must(isinstance(row["passed"], bool), "passed", row["passed"], "true or false")
    stored = {"precision": "retrievalPrecision", "recall": "retrievalRecall"}
    if in_session := "driftScore" in row:
        stored["drift"] = "driftScore"
        found = Surfaced(_texts(row, "retrievedBeliefIds"), _texts(row, "pinnedBeliefIds"), None)
    else:
        ids = ("relevantBeliefs", "pinnedBeliefs", "retrievedQuestions")
        found = Surfaced(*(_texts(row, key) for key in ids))
    means = {name: _share(row, key) for name, key in stored.items()}
    kind = pass_type(str(row["category"]), means["precision"])
    amounts: dict[str, tuple[float, int]] = {"passed": (row["passed"], 1)}
    amounts |= {name: (value, 1) for name, value in means.items() if value is not None}
    for each in ("active retrieval", "structural", "trivially empty"):
        amounts[each] = (row["passed"] and kind == each, 1)
    case, differs = _of(known, "session" if in_session else "case", row["caseId"]), list[str]()
    turns = case.get("turns", ()) if in_session else [case] if case else ()
    for asked in (each for each in turns if each is case or each["turnIndex"] == row["turnIndex"]):
        ours = row_of(case, asked, found, known.get("belief", {}))
        ours["passed"] &= not any(re.search("persona|question", each) for each in _texts(row, "failures"))
        amounts["forbidden"] = (ours["forbidden"], 1)
        differs = [name for name, key in {**stored, "passed": "passed"}.items() if ours[key] != row[key]]
    return RowCount(amounts, [str(row["category"])], differs)


def _hashed(row: Record, known: Known) -> RowCount:
    """Count prompts that have the published hash; nothing unless question, template and judged reply are at hand."""
    name = str(row["question_id"])
    asked, said = _of(known, "question", name), _of(known, JUDGED, name).get("hypothesis")
    prompt = _of(known, "prompt", f"{asked.get('question_type')}/{ABSTENTION in name}").get("prompt")
    if said is None or prompt is None:
        return RowCount({})
    given = {"QUESTION": asked["question"], "ANSWER": str(asked["answer"]), "RESPONSE": said}
    prompt = re.sub(r"\{(QUESTION|ANSWER|RESPONSE)\}", lambda found: given[found[1]], prompt)
    same = hashlib.sha256(prompt.encode()).hexdigest() == row["prompt_sha256"]
    return RowCount({"same hash": (same, 1)}, (), () if same else ("prompt_sha256",))


def _batch(row: Record, known: Known) -> RowCount:
    said = [message for turn in row["turns"] for message in (turn if isinstance(turn, list) else [turn])]
    plain = all(isinstance(each, Mapping) and isinstance(each.get("content"), str) for each in said)
    _must(plain, "turns", row["turns"], "a list of lists of messages with a content each")
    letters = sum(len(message["content"]) for message in said)
    sizes = {"turns": len(row["turns"]), "messages": len(said), "characters": letters}
    return RowCount({key: (size, 1) for key, size in sizes.items()})


def _ordered(row: Record, known: Known) -> RowCount:
    """Compare stored scores of an order of events with the official ones."""
    ours = event_order(_texts(row, "reference"), _texts(row, "system"))
    tau = ours.tau if ours.ordered else math.nan
    stored = {"precision": ours.precision, "recall": ours.recall, "f1": ours.f1, "tau_norm": tau}
    stored["final_score"] = tau * ours.f1
    given = {key: row[key] for key in stored if row[key] is not None}
    differs = [key for key, value in given.items() if repr(float(value)) != repr(stored[key])]
    amounts = {key: (value, 1) for key, value in stored.items() if not math.isnan(value)}
    amounts |= {} if ours.ordered else {"τ is not a number": (1.0, 1)}
    return RowCount(amounts, (str(row["name"]),), differs)


def _gated(row: Record, known: Known) -> RowCount:
    """Count what GateMem's program says of a reply; what does not apply is null, or said of questions of use alone."""
    names = ("action_correct", "utility_correct", "privacy_leak", "deletion_leak", "over_refusal")
    for name in names:
        _must(row[name] in (True, False, None), name, row[name], "true, false or null")
    use = row["query_type"] == "utility"
    amounts = {name: (row[name], 1) for name in names if row[name] is not None and (use or name != names[-1])}
    return RowCount(amounts, (str(row["query_type"]),))


def _placed(row: Record, known: Known) -> RowCount:
    """Compare a line of GateMem's leaderboard with its own product, as far as its rounding allows."""
    shares = {name: _share({name: row[name] / 100}, name) or 0.0 for name in ("u", "a", "f", "mgs")}
    off = 0.0005
    low, high = (
        (shares["u"] + side) * (1 - shares["a"] + side) * (1 - shares["f"] + side) for side in (-off, off)
    )
    follows = low - off <= shares["mgs"] <= high + off
    product = shares["u"] * (1 - shares["a"]) * (1 - shares["f"])
    return RowCount({"mgs": (shares["mgs"], 1), "product": (product, 1)}, (), () if follows else ("mgs",))


SHAPES = (
    Shape("LoCoMo: answers, each judged several times", "question_id llm_judgments category", "question_id",
          _judged, SAID),
    Shape("LoCoMo: answers with a grade each", "question golden_answer grade", "user i", _judged, SAID),
    Shape("Agent Memory Benchmark: answers with verdicts", "query_id gold_answers correct", "query_id",
          _judged, SAID),
    Shape("LongMemEval: labels of a judge", "question_id autoeval_label", "question_id", _judged, JUDGED),
    Shape("LongMemEval: replies without labels", "question_id hypothesis", "question_id", _plain, SAID),
    Shape("LongMemEval: questions", "question_id question_type question answer", "question_id", _plain, "question"),
    Shape("LongMemEval: hashes of prompts", "question_id prompt_sha256", "question_id", _hashed),
    Shape("LongMemEval: official prompts", "task abstention prompt", "task abstention", _plain, "prompt"),
    Shape("LoCoMo: retrieved sessions or turns", "sample_id evidence retrieved_ids recall", "", retrieved),
    Shape("LoCoMo: errors in keys", "question_id error_type correct_answer", "question_id", _plain),
    Shape("LoCoMo: answers rated by people", "qid gold answer golden_v2 majority", "qid", _rated),
    Shape("PersonaMem: predicted letters", "question_id answer p r", "question_id", letters, SAID),
    Shape("PersonaMem: questions", "id query gold_answers gold_ids", "id", _plain, "question"),
    Shape("PersonaMem: documents", "id content user_id", "id", _plain),
    Shape("PersonaMem: ids by type", "id question_type", "id", _plain, "question"),
    Shape("PersonaMem: sizes", "queries docs total_tokens", "", _plain),
    Shape("PrecisionMemBench: a report on queries", "caseId relevantBeliefs passed", "caseId", _queried),
    Shape("PrecisionMemBench: a report on sessions", "caseId driftScore passed", "caseId turnIndex", _queried),
    Shape("PrecisionMemBench: queries", "caseId query expect", "caseId", _plain, "case"),
    Shape("PrecisionMemBench: sessions", "caseId turns", "caseId", _plain, "session"),
    Shape("PrecisionMemBench: beliefs", "_id canonical_name pinned user_id", "_id", _plain, "belief"),
    Shape("GateMem: a leaderboard", "method backbone domain u a f mgs", "method backbone domain", _placed),
    Shape("GateMem: scores of its program", "checkpoint_id action_correct over_refusal", "checkpoint_id", _gated),
    Shape("GateMem: replies", "checkpoint_id output", "checkpoint_id", _plain, SAID),
    Shape("GateMem: questions", "checkpoint_id query_text judge_spec", "checkpoint_id", _plain),
    Shape("GateMem: episodes", "episode_id entities turns", "episode_id", _plain),
    Shape("BEAM: a conversation", "batch_number turns", "batch_number", _batch),
    Shape("BEAM: orders of events", "reference system tau_norm final_score", "name", _ordered),
    Shape("BEAM: questions", "question rubric difficulty", "", _plain),
    Shape("BEAM: a topic", "category title theme subtopics", "", _plain),
)  # fmt: skip
"""Every kind of file; of several that fit a row, the first counts."""
