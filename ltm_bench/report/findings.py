"""Says what a comparison shows at one span, in a sentence."""

from collections.abc import Sequence

from ltm_bench.report.words import figure, short_tokens
from ltm_bench.score.comparison.cells import Cell
from ltm_bench.score.comparison.pairs import Pair

LEVELS = ("goldfish", "perfect")
"""The floor and the ceiling: nobody asks whether these are better than an agent."""

MOST_NAMED = 3
"""Agents named in one part of the sentence; more of them are counted."""


def contenders(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells without floor and ceiling, or all of them if that leaves fewer than two."""
    left = [cell for cell in cells if cell.entrant.partition(" ")[0] not in LEVELS]
    return left if len(left) > 1 else list(cells)


def finding(span: int, cells: Sequence[Cell], pairs: Sequence[Pair]) -> str:
    """Say who leads at a span, and who is shown to be worse.

    Everybody is compared with the leader alone, so the sentence also holds where the order is not clear: if no
    difference is shown between A and B nor between B and C, A may still be better than C.

    Args:
        span: The span.
        cells: The entrants there, the highest score first.
        pairs: The pairs there, with the better of the two first.
    """
    where = f"over {short_tokens(span)} tokens"
    ranked = [cell for cell in cells if cell.complete]
    if not ranked:
        return f"No run {where} is complete"
    if len(ranked) == 1:
        only = ranked[0]
        return f"{only.entrant} gets {figure(only.score, only.out_of)} of {only.out_of} points {where}"
    between = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    if len(ranked) == 2 and (pair := between.get(frozenset(cell.entrant for cell in ranked))):
        return _of_two(where, ranked, pair)
    names = [cell.entrant for cell in ranked]
    beaten = {pair.second for pair in pairs if pair.shown and pair.first in names}
    leader = next((name for name in names if name not in beaten), None)
    if leader is None:
        return f"Nobody leads {where}"
    groups: dict[str, list[str]] = {"level": [], "perhaps": [], "worse": []}
    for name in names:
        if pair := between.get(frozenset((leader, name))):
            groups["level" if not pair.shown else "worse" if pair.separated else "perhaps"].append(name)
    said = f"{leader} leads {where}"
    if groups["level"]:
        said += f", with no difference shown from {_listed(groups['level'])}"
    if groups["perhaps"]:
        said += f"; {_listed(groups['perhaps'])} may be lower"
    if groups["worse"]:
        said += (
            f"; {_listed(groups['worse'])} {'is' if len(groups['worse']) == 1 else 'are'} worse than {leader}"
        )
    return said


def _of_two(where: str, cells: Sequence[Cell], pair: Pair) -> str:
    totals = sorted({cell.out_of for cell in cells})
    scores = {cell.entrant: figure(cell.score, cell.out_of) for cell in cells}
    points = f"{scores[pair.first]} and {scores[pair.second]} of {' or '.join(map(str, totals))} points"
    if pair.shown:
        return f"{pair.verdict} {where}: {points}"
    if pair.verdict == "no difference shown":
        return f"No difference shown between {pair.first} and {pair.second} {where}: {points}"
    return f"{pair.first} and {pair.second} {where}, {points}: {pair.verdict}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        return f"{len(names)} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
