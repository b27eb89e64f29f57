"""`meets`: the reply meets a rubric of BEAM; a judge decides what text alone cannot tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.beam.files import contradicts
from ltm_bench.datasets.beam.scorer import (
    MODES,
    ORDER,
    TAU_F1,
    aligned,
    event_order,
    prompt,
    read_score,
    rubric_score,
    same_prompt,
)
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.matching import Golds, Inquiry, Judged, SetMatcher, each_of, kept
from ltm_bench.matchers.reading import READ, abstains, words
from ltm_bench.matchers.reading.doubting import unanswered


@dataclass(frozen=True, slots=True)
class Meets(SetMatcher):
    """Right if the reply is the ideal answer; any other answer is undecided.

    If a judge is named, it is asked about every reply, item by item, as the published program does.
    """

    dataset: ClassVar[str] = "beam"
    version: ClassVar[int] = 2
    columns: ClassVar[tuple[str, ...]] = (*MODES, TAU_F1)
    judged: ClassVar[frozenset[str]] = frozenset(columns)

    gold: Golds
    rubric: tuple[str, ...]
    """The requirements that a judge checks, item by item."""
    ability: str
    id: str = ""
    """The question's id, for comparing runs with prediction files."""
    mode: str = "official"
    """`official`, `paper`, or `strict`, which asks a judge by the usual rubric."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what text alone can tell."""
        said = reply[:READ]
        if words(said) in [words(each) for each in self.right()]:
            return Verdict(Outcome.CORRECT, 1.0, "the reply is the ideal answer")
        if self.ability == "abstention" and abstains(said):
            return Verdict(Outcome.CORRECT, 1.0, "the reply says that this was not mentioned")
        return unanswered(said, Outcome.UNDECIDED, "a judge must say whether the reply meets the rubric")

    @property
    def kind(self) -> str:
        """The ability."""
        return self.ability

    @property
    def chance(self) -> float:
        """What τ gives to a line that is none of the events; 0 for anything but an order of events."""
        asked = self.ability == ORDER and self.mode in MODES
        return event_order(self.rubric, ("",)).tau if asked else 0.0

    @property
    def contradicts_itself(self) -> bool:
        """Whether the ideal answer contradicts the rubric."""
        return contradicts(self._question(""))

    def _question(self, text: str) -> HistoryQuestion:
        return HistoryQuestion(self.id, self.ability, text, each_of(self.gold), rubric=self.rubric)

    def inquiry(self, question: str, reply: str) -> Inquiry | None:
        """Return the questions to a judge: about each item of the rubric, and each line of an order of events."""
        return self._inquire(self._question(question), reply) if self.mode in MODES else None

    def _inquire(self, question: HistoryQuestion, reply: str) -> Inquiry:
        if not reply.strip():
            return Judged(Outcome.MALFORMED, 0.0, "the reply is empty", dict.fromkeys(MODES, 0.0))
        given: dict[str, list[float]] = {}
        for mode in MODES:
            given[mode] = []
            for item in self.rubric:
                score = read_score((yield prompt(question, item, reply, mode)))
                if score is None:
                    return None
                given[mode].append(score)
        scores: dict[str, float] = {m: rubric_score(given[m], self.ability, m) for m in MODES}
        said = f"of {len(self.rubric)} items {sum(given[self.mode]):g}"
        if self.ability == ORDER:
            # As the published program splits an answer: only at line ends.
            matching = aligned(self.rubric, reply.split("\n"))
            same: bool | None = None
            while True:
                try:
                    event, line = next(matching) if same is None else matching.send(same)
                except StopIteration as done:
                    order = event_order(self.rubric, done.value)
                    break
                same = "yes" in (yield same_prompt(event, line)).lower()
            scores = order.scores
            odd = "" if order.ordered else " (the official τ of a single event is not a number)"
            said = f"order {order.tau:.2f}{odd}, with F1 {order.f1:.2f}, besides {said}"
        score = scores.get(self.mode, scores[MODES[1]])
        outcome = Outcome.CORRECT if score >= 1 else Outcome.PARTIAL if score > 0 else Outcome.WRONG
        return Judged(outcome, score, f"{said} ({self.mode})", scores)

    def right(self) -> Sequence[str]:
        """Return the ideal answer; for an order of events, the events line by line, as they are read."""
        golds = each_of(self.gold)
        return ("\n".join(self.rubric), *golds) if self.ability == ORDER else golds

    def wrong(self) -> Sequence[str]:
        """Return a different answer, and an empty one."""
        return ("Xylophones", "")


def meets(gold: Golds, rubric: Sequence[str], ability: str, *, id: str = "", mode: str = "official") -> Meets:
    """Expect a reply that meets a rubric of BEAM.

    Args:
        gold: The ideal answer, or several.
        rubric: What the reply must contain, item by item.
        ability: The question's kind.
        id: The question's id.
        mode: `official`, `paper` or `strict`.
    """
    return Meets(kept(gold), tuple(rubric), ability, id, mode)


EXAMPLES: tuple[Matcher, ...] = (
    meets("Eight weeks.", ["LLM response should state: 8 weeks"], "temporal_reasoning"),
    meets("The chat does not say that.", ["It was not said"], "abstention"),
)
"""Examples for the tests that guard every matcher."""
