"""Published answers with the votes of a published judge, to test judges on. Read from a folder; nothing of it ships.

`locomo-audit` is dial481/locomo-audit: answers to LoCoMo's questions that were written to be vague and wrong, each with
three stored votes, and a list of questions whose key is wrong.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError, nearest, wrong_with
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.datasets.locomo.files import CATEGORIES
from ltm_bench.judge.rubric import Case, Earlier
from ltm_bench.judge.trials import Trial

VAGUE = "vague and wrong"
MISKEYED = "vague, and the key is wrong"


@dataclass(frozen=True)
class Banked(Trial):
    """A published answer that a judge should not call right; its kind is VAGUE or MISKEYED."""

    passed: bool
    """Whether most of the stored votes call it right."""

    @property
    def right(self) -> bool:
        """None is."""
        return False


@dataclass(frozen=True)
class AnswerBank:
    """Published answers, and who voted on them."""

    name: str
    cases: Sequence[Banked]

    def sample(self, most: int, seed: int = 0) -> list[Banked]:
        """Return a random part of it, in the order of the file; all of it if there are no more."""
        places = Dice(f"{self.name}/{seed}").shuffled(range(len(self.cases)))[:most]
        return [self.cases[place] for place in sorted(places)]


def open_bank(name: str) -> AnswerBank:
    """Open a bank by its kind and folder, `locomo-audit:FOLDER`. Raises ConfigError."""
    kind, colon, folder = name.partition(":")
    if kind not in _READERS or not colon or not folder:
        known = ", ".join(f"{each}:FOLDER" for each in _READERS)
        raise ConfigError(f"unknown bank {name!r}{nearest(kind, _READERS)} (known: {known})")
    try:
        return AnswerBank(kind, list(_READERS[kind](Path(folder).expanduser())))
    except OSError as error:
        raise ConfigError(f"--bank {name}: {error.filename}: {error.strerror or error}") from error
    except (ValueError, LookupError, TypeError, AttributeError, EOFError) as error:
        raise ConfigError(f"--bank {name}: not in the form of {kind}: {wrong_with(error)}") from error


def _locomo(folder: Path) -> Iterator[Banked]:
    conversations = json_of(_read(folder / "locomo10.json"))
    wrong_keys = {
        entry["question_id"]
        for entry in json_of(_read(folder / "errors.json"))
        if entry["error_type"] != "WRONG_CITATION"  # this leaves the key unchanged
    }
    for line in _read(folder / "predictions-vague-wrong.jsonl").splitlines():
        entry = json_of(line)
        name, _, place = entry["question_id"].rpartition("_qa")
        conversation = conversations[int(name.rpartition("_")[2])]
        asked = conversation["qa"][int(place)]
        votes = entry["judgments"]
        yield Banked(
            MISKEYED if entry["question_id"] in wrong_keys else VAGUE,
            Case(
                question=asked["question"],
                expected=str(entry["golden_answer"]),
                reply=str(entry["generated_answer"]),
                told=tuple(_evidence(conversation["conversation"], asked["evidence"])),
            ),
            CATEGORIES.get(str(asked.get("category")), "of no category"),
            2 * sum(votes) > len(votes),
        )


def _evidence(conversation: Mapping[str, Any], named: Sequence[str]) -> Iterator[Earlier]:
    """Return the turns that LoCoMo names as evidence, such as `D1:3`; those that do not exist are left out."""
    for name in dict.fromkeys(part for each in named for part in each.replace(";", " ").split()):
        session = name.partition(":")[0].removeprefix("D")
        for turn in conversation.get(f"session_{session}", ()):
            if turn["dia_id"] == name:
                seen = f" [shows a picture: {turn['blip_caption']}]" if "blip_caption" in turn else ""
                at = conversation.get(f"session_{session}_date_time", "")
                yield Earlier(at, f"{turn['speaker']}: {turn['text']}{seen}")


def _read(path: Path) -> bytes:
    """Read a file, or its compressed form beside it."""
    packed = path.with_name(f"{path.name}.gz")
    found = path if path.exists() or not packed.exists() else packed
    try:
        return content_of(found, unpack=True)
    except ValueError as error:
        raise ConfigError(f"{found}: cannot be read: {error}") from error


_READERS: Mapping[str, Callable[[Path], Iterator[Banked]]] = {"locomo-audit": _locomo}
