"""Decoys: what further examples of a scenario tell, which nobody plays, so that nobody asks about it.

They have the form of needles because they are needles, of other examples. Whom or what they are about was dealt to them
from the scenario's decks, which deal to no two examples the same; where a scenario has a single subject, its `decoys`
names parameters by which it gets one. `clashes.second_answers` finds those that a question could mean all the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeGuard

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Line, Tell
from ltm_bench.core.tokens import Counter
from ltm_bench.script.clashes import second_answers, spent
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

LONGEST = 600
"""Tokens of a needle above which it is longer than a page, and neither stands in a longer message nor is a decoy."""

_SPARE = 20
"""Further examples of a scenario that tell decoys, at most; when all have told theirs, they tell others."""


def is_plain(line: Line) -> TypeGuard[Tell]:
    """Whether a line is a needle that filler can hold: told by the one user, as it stands, with nothing due at once."""
    return (
        isinstance(line, Tell)
        and isinstance(line.text, str)
        and not (line.buried or line.deletes or line.user or line.ideal or line.session)
    )


def spare(last: Example, counter: Counter) -> Sequence[Example]:
    """Return the examples after a scenario's last one, as far as its decks deal to them what they dealt to no other."""
    changed, found = last.scenario.decoys, list[Example]()
    for index in range(last.index + 1, last.index + 1 + _SPARE if changed is not None else 0):
        example = replace(
            last, index=index, parameters={**last.parameters, **(changed or {})}, alone=True, around=None
        )
        if spent(example, counter):
            break
        found.append(example)
    return found


def told(example: Example, counter: Counter, *, turn: int = 0) -> Sequence[str]:
    """Return the needles that a spare example tells when it has its turn again: each time others, dealt the same."""
    steps = rehearse(example, counter, dice=example.dice().rolling(f"decoys {turn}"))
    return [each.text for each in steps if is_plain(each.line) and each.message_tokens <= LONGEST]


def decoys(examples: Sequence[Example], counter: Counter) -> Iterator[str]:
    """Yield decoys without an end, in a seeded order, as many of each scenario as it has needles; none if none has any.

    Args:
        examples: What is played.
        counter: Counts tokens.
    """
    rows: dict[object, list[Example]] = {}
    for each in examples:
        rows.setdefault(each.scenario.build, []).append(replace(each, around=None))
    spares = list[Sequence[Example]]()
    for row in rows.values():
        talks = (
            [(each, rehearse(each, counter)) for each in row] if row[0].scenario.decoys is not None else []
        )
        for last in {each.scenario.name: each for each, _ in talks}.values():
            found = spare(last, counter)
            said = [told(each, counter) for each in found]
            # Rows of one scenario deal from decks of their own, and examples without a subject could be about any.
            wrong = {text for text, _ in second_answers(talks, [text for each in said for text in each])}
            spares.append([each for each, its in zip(found, said, strict=True) if wrong.isdisjoint(its)])
    spares = [each for each in spares if each]
    order = Dice(f"{examples[0].seed}/decoys")
    for turn in count() if spares else ():
        texts = [told(each[turn % len(each)], counter, turn=turn) for each in spares]
        rest = [iter(each) for each in texts]
        yield from (next(rest[i]) for i in order.shuffled([i for i, each in enumerate(texts) for _ in each]))
