"""Whether a memory of the whole conversation would be right: what examples say about one another's questions.

`perfect` cannot tell, since it is told the answers. Examples of a scenario follow each other in any order, so each is
compared with all others.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ltm_bench.core.messages import Ask, Tell
from ltm_bench.core.tokens import Counter
from ltm_bench.matchers.forms import dump
from ltm_bench.matchers.reading.text import COMMON, words
from ltm_bench.script.rehearsal import Rehearsed, rehearse
from ltm_bench.script.scenario import Example

_REMEDY = "let forget= say that it no longer counts, or deal from decks (dice.card, dice.hand)"

_KEEP = {"values", "expected", "counts", "near", "Formerly"}
"""Fields and names of matchers for which earlier values go on counting, whatever is told later."""


def _words(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("'s") for word in words(text))


class _Question(NamedTuple):
    text: str
    words: frozenset[str]
    key: tuple[object, ...]
    """Equal for questions that differ only in case, punctuation, and the order of words."""
    right: str
    data: Mapping[str, Any]
    """Its matcher's fields."""


class _Talk:
    """What an example says and asks. Questions about the time are left out: equal ones ask for different things."""

    def __init__(self, example: Example, steps: Sequence[Rehearsed]) -> None:
        self.example = example
        told = [step for step in steps if isinstance(step.line, Tell)]
        self.messages = [(step.text, _words(step.text)) for step in told]
        self.said = frozenset[str]().union(*(said for _, said in self.messages))
        self.facts = {f.about for step in told if isinstance(step.line, Tell) for f in step.line.facts}
        self.asked = [
            _Question(
                step.text,
                _words(step.text),
                (step.line.user, *sorted(words(step.text))),
                step.line.expect.right()[0],
                dump(step.line.expect),
            )
            for step in steps
            if isinstance(step.line, Ask) and isinstance(step.line.text, str)
        ]
        self.heard = self.said.union(*(each.words for each in self.asked))

    def replaces(self, other: "_Talk") -> bool:
        """Whether it tells a fact anew that the other told."""
        return bool(self.facts & other.facts)


def clashes(talks: Sequence[tuple[Example, Sequence[Rehearsed]]]) -> Iterator[str]:
    """Yield the first clash of each kind between examples of a scenario that all stand in one conversation."""
    by_scenario: dict[str, list[_Talk]] = {}
    for example, steps in talks:
        if example.scenario.forget is None:
            by_scenario.setdefault(example.scenario.name, []).append(_Talk(example, steps))
    for each in by_scenario.values():
        for find in (_same_questions, _open_values):
            yield from list(find(each))[:1]


def _same_questions(talks: Sequence[_Talk]) -> Iterator[str]:
    asked: dict[object, list[tuple[_Talk, _Question]]] = {}
    for talk in talks:
        for question in talk.asked:
            for other, before in asked.setdefault(question.key, []):
                anew = not question.words.isdisjoint(talk.said - COMMON)
                known = (
                    anew and not talk.facts and _KEEP.isdisjoint((*question.data, question.data["matcher"]))
                )
                if (
                    other is not talk
                    and before.right != question.right
                    and not (known or talk.replaces(other))
                ):
                    yield (
                        f"{other.example.id} and {talk.example.id} ask “{question.text:.200}”, and expect "
                        f"“{before.right:.60}” and “{question.right:.60}”; {_REMEDY}"
                    )
            asked[question.key].append((talk, question))


def _open_values(talks: Sequence[_Talk]) -> Iterator[str]:
    subjects = frozenset(_subjects(talks))
    for talk in talks:
        for question in talk.asked:
            about, right = question.words & subjects, _words(question.right)
            values = {value: _words(value) for value in question.data.get("among", ())}
            others = {v: held for v, held in values.items() if not held <= right and not held <= talk.said}
            for other in talks if about else ():
                if other is talk or talk.replaces(other):
                    continue
                for text, said in other.messages:
                    for value in (v for v, held in others.items() if about <= said and held <= said):
                        yield (
                            f"{talk.example.id} asks “{question.text:.200}”, and expects “{question.right:.60}”, but "
                            f"{other.example.id} says “{text:.200}”, and nothing takes “{value}” back; {_REMEDY}"
                        )


def second_answers(
    talks: Sequence[tuple[Example, Sequence[Rehearsed]]], decoys: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield each decoy that might answer a question of a scenario's examples, or belie what one takes back, and why.

    None can if question or retraction names what its example alone was told about, such as the title of a play, and no
    decoy names all of that; nor if all questions name what each example was told about and no decoy is, such as jokes.
    Where a question names nothing, what is said before it, and is no needle, may do so.
    """
    told = [(example, steps, _Talk(example, _kept(example, steps))) for example, steps in talks]
    said = [(text, _words(text)) for text in decoys]
    named = [each.words & talk.said for *_, talk in told for each in talk.asked] or [frozenset[str]()]
    kind = frozenset.intersection(*named).difference(COMMON, *(held for _, held in said))
    for example, steps, talk in told:
        own = talk.said.difference(COMMON, *(other.heard for *_, other in told if other is not talk))
        live = frozenset[str]().union(
            *(_words(step.text) for step in steps if not isinstance(step.line, Tell))
        )
        for step in steps:
            asks = isinstance(step.line, Ask)
            if not asks and step in _kept(example, steps):
                continue
            about = _words(step.text) & own
            if asks:
                about = (about or live & own) | kind
            for meant in (text for text, held in said if about <= held):
                yield (
                    meant,
                    f"{example.id} {'asks' if asks else 'takes back'} “{step.text:.200}”, and a decoy says "
                    f"“{meant:.200}”: nothing tells them apart; name what {'the question' if asks else 'it'} is about, "
                    "and deal it from a deck (dice.card, dice.hand)",
                )


def _kept(example: Example, steps: Sequence[Rehearsed]) -> Sequence[Rehearsed]:
    """Return the steps of an example that take nothing back: neither ask to delete nor, in the end, to forget."""
    forgets = example.scenario.forget is not None and not example.alone
    steps = steps[:-1] if forgets else steps
    return [each for each in steps if not (isinstance(each.line, Tell) and each.line.deletes)]


def _subjects(talks: Sequence[_Talk]) -> Iterator[str]:
    """Yield the words for what questions are about: who asks with one also tells it, and at most half do."""
    for word in dict.fromkeys(word for talk in talks for question in talk.asked for word in question.words):
        asking = [talk for talk in talks if any(word in question.words for question in talk.asked)]
        rare = 2 * sum(word in talk.heard for talk in talks) <= len(talks)
        if rare and word not in COMMON and all(word in talk.said for talk in asking):
            yield word


def spent(example: Example, counter: Counter) -> Mapping[str, int]:
    """Return the decks that have run out for this example, each with the number of the first that it ran out for.

    Raises ConfigError as `rehearse` does.
    """
    dice = example.dice()
    rehearse(example, counter, dice=dice)
    return dice.spent
