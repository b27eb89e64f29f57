"""`benchmarked`: the reply gets the score that InfiniteBench's scorer gives it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.infinitebench import scorer as infinitebench
from ltm_bench.datasets.matching import SetMatcher, by_score
from ltm_bench.matchers.reading import answer
from ltm_bench.matchers.reading.figures import given_number, in_figures

_FINAL = re.compile(r"(?:^|\n)[ \t>*_#]{0,8}(?:final )?answer[ *_]{0,4}:", re.IGNORECASE)
"""The beginning of the last line of a reasoned answer. Linear: no part of it can match in two ways."""

_NUMBERS = ("passkey", "number_string", "math_find", "code_run")
_SPACED = re.compile(r"(?:[a-z ]{0,40}:\s*)?\d(?:[ ,.-]?\d){1,30}", re.IGNORECASE)
_DIGIT_BY_DIGIT = re.compile(r"(?<!\d)\d(?:[ ,]{1,2}\d){4,30}(?!\d)")
_CHOICES = ("longbook_choice_eng", "code_debug")


def _lists(value: Any) -> Any:
    return [_lists(each) for each in value] if isinstance(value, tuple) else value


def tuples(value: Any) -> Any:
    """Return a label of the public files in the form that a matcher keeps."""
    return tuple(tuples(each) for each in value) if isinstance(value, list | tuple) else value


def _is_taken_back(said: str) -> bool:
    """Whether a reply gives no valid number after all: `it is not 92119`, or one below zero."""
    given = given_number(said, signed=True)
    return given is None or given < 0


@dataclass(frozen=True, slots=True)
class Benchmarked(Matcher):
    """Scores as one of InfiniteBench's tasks does (Zhang et al. 2024, and its code)."""

    version: ClassVar[int] = 4
    as_published: ClassVar[bool] = True
    task: str
    label: Any
    """As in the public files: a value, a list of accepted ones, or text and letter of an option."""
    mode: str = "strict"
    """A mode of `ltm_bench.datasets.infinitebench.scorer`."""
    final: bool = False
    """Whether the question asked for a last line `Answer: …`; if there is one, only that line is scored."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Return the benchmark's score, and a specific outcome for replies that score nothing."""
        # Thinking aloud is not an answer, although the published scorers read it.
        said = answer(reply) if self.mode == "strict" else reply
        asked = turns[-1].message.text if turns else ""
        if self.mode == "strict" and asked and asked.strip() in said:
            return Verdict(Outcome.WRONG, 0.0, "the reply repeats everything it was asked about")
        if self.final and (found := list(_FINAL.finditer(said))):
            said = said[found[-1].end() :].strip()
        score = self._scored(said, self.mode)
        if self.mode == "strict" and self.task in _NUMBERS and self._is_given(said) != (score >= 1):
            score = float(score < 1 or not _is_taken_back(said))
        return by_score(score, reply, f"InfiniteBench's scorer of {self.task} ({self.mode})", "from")

    def _scored(self, said: str, mode: str) -> float:
        return infinitebench.score(self.task, said, _lists(self.label), cast(infinitebench.Mode, mode))

    def _is_given(self, said: str) -> bool:
        """Whether the reply has the number in a form that the published scorers do not read: `92,119`, `9 2 1 1 9`."""
        label = _lists(self.label)
        wanted = str(label[0] if isinstance(label, list) else label)
        bare = _SPACED.fullmatch(said.strip(" .*`")) or _DIGIT_BY_DIGIT.search(in_figures(said))
        given = "".join(filter(str.isdigit, bare[0])) if bare else str(given_number(said, signed=True))
        return given == wanted

    def right(self) -> Sequence[str]:
        """Return the label in the form that the task asks for."""
        plain = self._plain()
        return (f"It comes down to this.\nAnswer: {plain}",) if self.final else (plain,)

    def wrong(self) -> Sequence[str]:
        """Return another answer of the same form, an abstention, and an empty reply."""
        other = {
            "kv_retrieval": "00000000-0000-0000-0000-000000000000",
            "longbook_choice_eng": "?",
            "code_debug": "?",
        }.get(self.task, "31337000000")
        return (other, "I do not know.", "")

    def _plain(self) -> str:
        label = _lists(self.label)
        if self.task == "math_calc":
            numbers = label[0] if label and isinstance(label[0], list) else label
            return json.dumps(numbers)
        if self.task in _CHOICES:
            return f"{label[1]}. {label[0]}"
        return str(label[0] if isinstance(label, list) else label)

    @property
    def chance(self) -> float:
        """One in four if there are options, otherwise close to zero."""
        return 0.25 if self.task in _CHOICES else 0.0


def benchmarked(task: str, label: Any, *, mode: str = "strict", final: bool = False) -> Benchmarked:
    """Expect the answer of a task as given in the public files of InfiniteBench."""
    return Benchmarked(task, tuples(label), mode, final)


@dataclass(frozen=True, slots=True)
class TaskReply(Benchmarked, SetMatcher):
    """Scores a line of a prediction file in every mode, with no rule of ours."""

    version: ClassVar[int] = 1
    dataset: ClassVar[str] = "infinitebench"
    columns: ClassVar[tuple[str, ...]] = infinitebench.MODES

    label: Any
    """As in the file; None for a line that was cut before it, which is wrong."""
    mode: str = "official-newest"
    id: str = ""
    """Its place among the lines of its task, for comparing files."""
    skips_first: bool = False
    """Whether the first number of math_calc is skipped, as the published program does for GPT-4."""

    @property
    def kind(self) -> str:
        """The task."""
        return self.task

    def scores(self, reply: str) -> dict[str, float]:
        """Return the scores of all modes."""
        return {mode: self._scored(reply, mode) for mode in self.columns}

    def right(self) -> Sequence[str]:
        """Return the label in the form that the task asks for, if it is known."""
        return ("(its line was cut)",) if self.label is None else Benchmarked.right(self)

    def _scored(self, said: str, mode: str) -> float:
        how = cast(infinitebench.Mode, mode)
        return (
            0.0
            if self.label is None
            else infinitebench.score(self.task, said, _lists(self.label), how, skip_first=self.skips_first)
        )


EXAMPLES: tuple[Matcher, ...] = (
    TaskReply("kv_retrieval", ("c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8",)),
    TaskReply("longbook_choice_eng", ("A grey rose", "B")),
    benchmarked("passkey", ["71432"]),
    benchmarked("kv_retrieval", ["c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8"]),
    benchmarked("math_find", [88]),
    benchmarked("math_calc", [[4, 14, 6]]),
    benchmarked("code_run", [-3]),
    benchmarked("code_debug", ["parse_header", "B"]),
    benchmarked("code_debug", ["parse_header", "B"], mode="official-newest"),
    benchmarked("longbook_choice_eng", ["A grey rose", "B"]),
    benchmarked("longbook_qa_eng", ["in the lighthouse"], final=True),
    benchmarked("longbook_qa_chn", ["两个"]),
    benchmarked("longdialogue_qa_eng", ["ANN"]),
)
"""Examples for the tests that guard every matcher."""
