"""Generates the six synthetic tasks of InfiniteBench from dice, at any length (Zhang et al. 2024, and its code).

A length is given in tokens, or as a `size` in the units of the published generators: lines of noise (5,220), pairs
(2,500), numbers (30,000 and 15,000), functions (5,000).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, repeat
from statistics import median

from ltm_bench.core.dice import Dice
from ltm_bench.core.tokens import counter
from ltm_bench.datasets.infinitebench.records import Posed, Record
from ltm_bench.script.deliveries import Piece, bury

NOISE = "Rain falls. The river runs by. Geese fly south again. A door shuts. So it goes on."
"""A line of noise."""

KEY = "The {name} is {value}. Keep it in mind: {value} is the {name}."

TARGETS = (
    "largest number",
    "second largest number",
    "third largest number",
    "smallest number",
    "second smallest number",
    "third smallest number",
    "median",
)
"""The questions about a list of numbers; equal numbers count once, except for the median."""

ROW = 100
"""Count of numbers in a piece."""

LAYERS = (2, 4, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Order:
    """A request to a generator."""

    index: int
    """The example's number: examples take the depths, targets or layers in turn."""
    tokens: int
    size: int = 0
    """Length in the generator's own units; 0 to use `tokens`."""
    depths: int = 5
    """Number of depths, evenly spaced from the beginning to the end."""
    questions: int = 1

    @property
    def depth(self) -> float:
        """Return the depth of this example."""
        return (self.index % self.depths) / max(1, self.depths - 1)


def _hidden(value: str, name: str, order: Order) -> Record:
    tokens = order.size * counter().count(NOISE + "\n") if order.size else order.tokens
    pieces = bury([(order.depth, KEY.format(name=name, value=value))], repeat(NOISE), tokens, "\n")
    return Record(tuple(pieces), (Posed("", [value]),))


def passkey(dice: Dice, order: Order) -> Record:
    """Hide five digits; the first may be a zero."""
    return _hidden("".join(str(dice.integer(0, 9)) for _ in range(5)), "pass key", order)


def number_string(dice: Dice, order: Order) -> Record:
    """Hide ten digits: five random ones, with a random digit doubled in place five times."""
    digits = [str(dice.integer(0, 9)) for _ in range(5)]
    for _ in range(5):
        place = dice.integer(0, len(digits) - 1)
        digits.insert(place, digits[place])
    return _hidden("".join(digits), "sequence of digits", order)


def _uuid(dice: Dice) -> str:
    digits = "".join(f"{dice.integer(0, 0xFFFF):04x}" for _ in range(8))
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))


def _until(texts: Iterator[str], order: Order, joint: str) -> list[str]:
    """Take as many texts as ordered, or as fit; they are counted in rows, since tokens can span joints."""
    if order.size:
        return list(islice(texts, order.size))
    taken: list[str] = []
    room = order.tokens
    while True:
        row = list(islice(texts, ROW))
        length = counter().count(joint.join(row) + joint)
        if length > room:
            return taken + row[: max(0 if taken else 1, ROW * room // length)]
        taken += row
        room -= length


def kv_retrieval(dice: Dice, order: Order) -> Record:
    """Make one JSON object of random pairs; the first requested key is at this example's depth."""
    pairs = [
        (text[1:37], text[41:77], text)
        for text in _until((f'"{_uuid(dice)}": "{_uuid(dice)}",' for _ in repeat(None)), order, " ")
    ]
    first = round(order.depth * (len(pairs) - 1))
    step = max(1, len(pairs) // order.questions)
    wanted = [(first + i * step) % len(pairs) for i in range(min(order.questions, len(pairs)))]
    pieces = [Piece(text, "needle" if i in set(wanted) else "matter") for i, (_, _, text) in enumerate(pairs)]
    pieces[0] = pieces[0]._replace(text="{" + pieces[0].text)
    pieces[-1] = pieces[-1]._replace(text=pieces[-1].text.removesuffix(",") + "}")
    return Record(tuple(pieces), tuple(Posed(pairs[i][0], [pairs[i][1]]) for i in wanted), " ")


def math_find(dice: Dice, order: Order) -> Record:
    """List numbers from 0 to 99 in which the largest, the smallest or both are not simply 99 and 0."""
    first = order.index % len(TARGETS)
    targets = [TARGETS[(first + i) % len(TARGETS)] for i in range(min(order.questions, len(TARGETS)))]
    both = "median" in targets and dice.chance(0.5)
    low = (
        dice.integer(0, 19) if any("smallest" in t for t in targets) or ("median" in targets and both) else 0
    )
    high = (
        dice.integer(79, 99)
        if any("largest" in t for t in targets) or ("median" in targets and not both)
        else 99
    )
    drawn = [dice.integer(low, high) for _ in range(order.size)] if order.size else []
    if not order.size:
        texts = _until((f"{dice.integer(low, high)}," for _ in repeat(None)), order, " ")
        drawn = [int(text[:-1]) for text in texts]
    asked = tuple(Posed(target, [found(target, drawn)]) for target in targets)
    return Record(tuple(Piece(text) for text in _rows([str(n) for n in drawn], ", ")), asked, " ")


def _rows(words: Sequence[str], joint: str) -> Iterator[str]:
    """Join words into rows; the separator between two rows stays with the first, without white space."""
    for i in range(0, len(words), ROW):
        row = joint.join(words[i : i + ROW])
        yield row + (joint.rstrip() if i + ROW < len(words) else "")


def found(target: str, numbers: Sequence[int]) -> int | float:
    """Return the answer for a list."""
    if target == "median":
        return float(median(numbers))
    place = ("third" in target) * 2 + ("second" in target)
    distinct = sorted(set(numbers), reverse="largest" in target)
    return distinct[min(place, len(distinct) - 1)]


def running_values(numbers: Iterable[int]) -> list[int]:
    """Return the running sums after each of the signed numbers except the first."""
    return list(accumulate(numbers))[1:]


def signed_numbers(dice: Dice, order: Order) -> list[int]:
    """Draw additions and subtractions that keep the running value from 0 to 99."""
    drawn = [dice.integer(0, 99)]
    value = drawn[0]

    def steps() -> Iterator[str]:
        nonlocal value
        while True:
            number = dice.integer(0, 99 - value) if dice.chance(0.5) else -dice.integer(0, value)
            value += number
            drawn.append(number)
            yield _term(number)

    wanted = replace(order, size=max(1, order.size - 1)) if order.size else order
    terms = _until(steps(), wanted, " ")
    return drawn[: len(terms) + 1]


def _term(number: int) -> str:
    return f"+ {number}" if number >= 0 else f"- {-number}"


def terms_of(numbers: Sequence[int]) -> list[str]:
    """Return the first number, and each of the others with its operator."""
    return [str(numbers[0]), *map(_term, numbers[1:])]


def math_calc(dice: Dice, order: Order) -> Record:
    """Make a long sum; the questions ask for the value after every operator."""
    numbers = signed_numbers(dice, order)
    rows = _rows(terms_of(numbers), " ")
    return Record(tuple(map(Piece, rows)), (Posed("", [running_values(numbers)]),), " ")


def code_run(dice: Dice, order: Order) -> Record:
    """Make functions in layers, each calling one of the next layer; the question asks for the value of a call."""
    layers = LAYERS[order.index % len(LAYERS)]
    guess = order.tokens // 30
    inner, outer = (counter().count(_function(guess, callee, 12) + "\n\n") for callee in (guess, None))
    fitting = order.tokens * layers // (inner * (layers - 1) + outer)
    total = max(layers * max(2, order.questions), order.size or fitting)
    numbers = dice.sample(range(1, 2 * total + 1), total)
    per = total // layers
    rows = [numbers[i * per : (i + 1) * per] for i in range(layers)]
    rows[-1] += numbers[layers * per :]
    bodies: dict[int, tuple[int | None, int]] = {}
    for i, row in enumerate(rows):
        for number in row:
            callee = dice.choice(rows[i + 1]) if i + 1 < layers else None
            bodies[number] = (callee, dice.integer(-12, 17))
    asked, chain = [], set[int]()
    for number in dice.sample(rows[0], min(order.questions, len(rows[0]))):
        x = dice.integer(-10, 10)
        value, at = x, number
        while True:
            chain.add(at)
            callee, added = bodies[at]
            value += added
            if callee is None:
                break
            at = callee
        asked.append(Posed(f"func_{number}({x})", [value]))
    return Record(
        tuple(Piece(_function(n, *bodies[n]), "needle" if n in chain else "matter") for n in sorted(bodies)),
        tuple(asked),
        "\n\n",
    )


def _function(number: int, callee: int | None, added: int) -> str:
    inner = "x" if callee is None else f"func_{callee}(x)"
    plus = "" if added == 0 else f" + {added}" if added > 0 else f" - {-added}"
    return f"def func_{number}(x):\n    return {inner}{plus}"


GENERATORS: Mapping[str, Callable[[Dice, Order], Record]] = {
    "passkey": passkey,
    "number_string": number_string,
    "kv_retrieval": kv_retrieval,
    "math_find": math_find,
    "math_calc": math_calc,
    "code_run": code_run,
}
"""The generators of the tasks that need no file."""
