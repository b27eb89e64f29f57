"""Scores of simple readers on FactConsolidation, set by set: one takes the first mention, one the last, one the gold.

    python -m perf.facts Conflict_Resolution.json

Such a reader finds the facts that share the most words with a question, and quotes the first or the last of them. It
knows no hops, so it shows how much of a set depends on order alone.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from ltm_bench.datasets.dialogue import History, HistoryQuestion
from ltm_bench.datasets.factconsolidation.files import histories
from ltm_bench.datasets.factconsolidation.scorer import official, strict
from perf.harness import Arguments, measurement, table

_STOP = frozenset(
    "the a an of in is was are by to which what who where did does with and name on for".split()
)


def words(text: str) -> frozenset[str]:
    """Return the content words of a text."""
    return frozenset(word for word in re.findall(r"\w+", text.lower()) if word not in _STOP)


class Reader:
    """Finds the facts of a history that a question is about."""

    def __init__(self, history: History) -> None:
        self.facts = [said.text.partition(". ")[2] for said in history.sessions[0].utterances]
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, fact in enumerate(self.facts):
            for word in words(fact):
                self._places[word].append(place)

    def about(self, question: HistoryQuestion) -> Sequence[int]:
        """Return the places of the facts that share the most words with a question; rare words count more."""
        weights: dict[int, float] = defaultdict(float)
        for word in words(question.text):
            for place in self._places.get(word, ()):
                weights[place] += 1 / len(self._places[word])
        best = max(weights.values(), default=0.0)
        return [place for place, weight in sorted(weights.items()) if weight > best * 0.999]


@measurement(__doc__, file=Path)
def main(args: Arguments) -> None:
    """Measure and print."""
    found: dict[str, dict[str, float]] = {}
    for history in histories(args.file, lambda line: print(line, file=sys.stderr)):
        reader, scores = Reader(history), defaultdict[str, list[float]](list)
        for question in history.questions:
            places = reader.about(question)
            said = {
                "gold": question.gold[0],
                "first mention": reader.facts[places[0]] if places else "",
                "last mention": reader.facts[places[-1]] if places else "",
            }
            for name, reply in said.items():
                scores[name].append(official(reply, question.gold))
                scores[f"{name}, strict"].append(strict(reply, question.gold))
        found[history.id] = {name: sum(each) / len(each) for name, each in scores.items()}
    names = ["gold", "first mention", "last mention"]
    row = table("set", *names)
    for name, means in found.items():
        row(name, *(f"{means[each]:.2f}" for each in names))
