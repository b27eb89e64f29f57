"""`item_counts`: the reply lists things and how many of each, as JSON."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import (
    Block,
    Form,
    Lexicon,
    Reading,
    abstains,
    gives_example,
    known_words,
    last_readable,
    number,
    read,
    words,
)  # fmt: skip
from ltm_bench.matchers.reading.cues import Effect, cues
from ltm_bench.matchers.reading.json_values import embedded
from ltm_bench.matchers.reading.surplus import recites
from ltm_bench.matchers.sameness import same_word, singular

Items = list[tuple[str, int | None]]

_NAME_KEYS = ("item", "name", "product", "article", "thing", "title")
_COUNT_KEYS = ("quantity", "qty", "count", "amount", "number", "units", "num")
_UNITS = frozenset(
    "a an the of x pack packs packet packets piece pieces unit units bag bags box boxes bottle bottles carton cartons "
    "can cans jar jars loaf loaves bunch bunches pair pairs dozen couple fresh some my your and tube tubes roll rolls "
    "bar bars".split()
)


def read_items(value: Any) -> Items | None:
    """Read a list of items from JSON of any usual shape; None if it is not such a list.

    It understands `[{"item": …, "quantity": …}]` under any of the usual keys, a mapping from names to numbers, lists
    of strings such as "2 apples", lists of pairs, and any of these inside a wrapping object.
    """
    if isinstance(value, Mapping):
        return _read_mapping(value)
    if not isinstance(value, list):
        return None
    found: Items = []
    for entry in value:
        item = _read_entry(entry)
        if item is None:
            return None
        found.append(item)
    return found


def _read_mapping(value: Mapping[Any, Any]) -> Items | None:
    keys = {str(key).casefold(): key for key in value}
    if any(key in keys for key in _NAME_KEYS):
        item = _read_entry(value)
        return None if item is None else [item]
    inner = [v for v in value.values() if isinstance(v, list | Mapping)]
    if inner:
        lists = [items for v in inner if (items := read_items(v)) is not None]
        return lists[0] if len(lists) == 1 else None
    counts = [(str(key), number(count)) for key, count in value.items()]
    return counts if counts and all(count is not None for _, count in counts) else None


def _read_entry(entry: Any) -> tuple[str, int | None] | None:
    if isinstance(entry, Mapping):
        keys = {str(key).casefold(): key for key in entry}
        name = next((entry[keys[k]] for k in _NAME_KEYS if k in keys), None)
        count = next((entry[keys[k]] for k in _COUNT_KEYS if k in keys), None)
        if name is None and len(entry) == 1:
            ((name, count),) = entry.items()
        if not isinstance(name, str) or not name.strip():
            return None
        return (name, number(count)) if count is not None else (name, number(name))
    if isinstance(entry, str):
        return entry, number(entry)
    if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str):
        return entry[0], number(entry[1])
    return None


def _read_rows(reading: Reading) -> Items:
    """Read a table: one item a row, its amount in another cell."""
    rows: dict[int, list[str]] = {}
    for block in reading.blocks:
        if block.form is Form.CELL and not (block.struck and not block.text.strip(" ~")):
            rows.setdefault(block.line, []).append(block.text.strip())
    found: Items = []
    for cells in rows.values():
        names = [cell for cell in cells if any(map(str.isalpha, cell)) and not _is_amount(cell)]
        amounts = [cell for cell in cells if _is_amount(cell)]
        if names:
            found.append((names[0], number(amounts[-1]) if amounts else number(names[0])))
    return found


def _is_amount(cell: str) -> bool:
    said = words(cell)
    return bool(said) and all(word in _UNITS or number(word) is not None for word in said)


def _read_lines(reading: Reading) -> Items:
    """Read bulleted lines such as `- 2 x apples`, or `apples (2)`; struck-out entries are not on the list."""
    return [
        (block.text.strip(), number(block.text))
        for block in reading.blocks
        if block.form is Form.BULLET and len(block.text.strip()) <= _LINE and not _is_struck(block)
    ]


def _is_struck(block: Block) -> bool:
    return sum(end - start for start, end in block.struck) > len(block.text.strip()) // 2


def _read_prose(reading: Reading, among: Collection[str]) -> Items:
    """Read items in prose, each with the number beside it: `2 sponges, a baguette and light bulb ×1`."""
    lexicon = _lexicon(tuple(among))
    found: Items = []
    for block in reading.blocks:
        for clause in _CLAUSE.split(block.text):
            said = words(clause)
            heard = sorted(lexicon.hear(said))
            if len(heard) != 1 or any(cue.effect in _NOT_LISTED for cue in cues(said)):
                continue
            begin, end, named = heard[0]
            rest = " ".join([*said[:begin], ",", *said[end:]])
            found.append((named.value, number(rest)))
    return found


_LINE = 80
"""Characters of a bulleted line that can be an entry of a list."""

_NOT_LISTED = (Effect.DENIES, Effect.REPLACED, Effect.CONDITIONS)
_CLAUSE = re.compile(r"[,;.!?():\n]|\band\b|\bplus\b|&")


@lru_cache(maxsize=16)
def _lexicon(among: tuple[str, ...]) -> Lexicon:
    return Lexicon.of(among, shortened=False)


def _json_lines(reading: Reading, reply: str) -> Items | None:
    """Read JSON objects, one per line."""
    found: Items = []
    values = [value for value, *_ in embedded(reading.text)]
    if len(values) < 2 or not all(isinstance(value, Mapping) for value in values):
        return None
    for value in values:
        item = _read_entry(value)
        if item is None:
            return None
        found.append(item)
    return found


def _same_thing(said: str, meant: str) -> bool:
    """Whether two names mean the same item, amounts and packaging aside. `milk chocolate` is not milk."""
    left = [w for w in words(said) if w not in _UNITS and number(w) is None]
    right = [w for w in known_words(meant) if w not in _UNITS]
    if "".join(map(singular, left)) == "".join(map(singular, right)):  # `lightbulbs`
        return True
    return len(left) == len(right) and all(same_word(a, b) for a, b in zip(left, right, strict=True))


@dataclass(frozen=True, slots=True)
class ItemCounts(Matcher):
    """A third for the items on the list, a third for their amounts, a third if nothing else is on it.

    Surplus entries reduce all three thirds in proportion to the right ones: there is no cliff, and nothing is left if
    there are as many, as in a list of everything.
    """

    version: ClassVar[int] = 3

    expected: tuple[tuple[str, int], ...]
    among: tuple[str, ...]
    """Everything that could be on the list."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the last list in the reply: JSON, a table, bullets or prose, whichever is there first."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        reading = read(reply)
        found = _json_lines(reading, reply) or last_readable(reply, read_items)
        if found is None:
            found = _read_rows(reading) or _read_lines(reading) or _read_prose(reading, self.among)
            if not found:
                if abstains(reply):
                    return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
                return Verdict(Outcome.MALFORMED, 0.0, "no list can be read from the reply")
        if not found and not self.expected:
            return Verdict(Outcome.CORRECT, 1.0, "the list is empty, as it should be")
        if abstains(reply) and (not found or gives_example(reply)):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        if not found:
            return Verdict(Outcome.WRONG, 0.0, "the list is empty")
        if not any(_same_thing(name, meant) for name, _ in found for meant in self.among) and abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        if recites(reply, turns):
            return Verdict(Outcome.WRONG, 0.0, "the reply recites what it was told")
        return self._compare(found)

    def _compare(self, found: Items) -> Verdict:
        left = [(name, count) for name, count in found if count != 0]
        present: list[str] = []
        amounts = 0
        for name, count in self.expected:
            same = [entry for entry in left if _same_thing(entry[0], name)]
            if not same:
                continue
            present.append(name)
            left = [entry for entry in left if entry not in same]
            told = [n for _, n in same if n is not None]
            if len(same) > 1 and sum(told) != count:
                left += same[1:]  # the same thing again, and not a part of it
            amounts += bool(told) and count in (told[-1], sum(told))
        size, extra = len(self.expected), [name for name, _ in left]
        missing = [name for name, _ in self.expected if name not in present]
        if len(present) == amounts == size and not extra:
            return Verdict(Outcome.CORRECT, 1.0, "every item and every amount is right")
        reason = f"{len(present)} of {size} items, {amounts} amounts right"
        if missing:
            reason += f"; missing: {', '.join(missing)}"
        if extra:
            reason += f"; extra: {', '.join(each[:40] for each in extra[:8])}"
        if not present:
            return Verdict(Outcome.WRONG, 0.0, reason)
        clean = max(0.0, 1 - len(extra) / len(present))
        score = (len(present) / size + amounts / size + clean) / 3 * clean
        if score <= 0:
            return Verdict(Outcome.WRONG, 0.0, reason)
        return Verdict(Outcome.PARTIAL, round(score, 6), reason)

    def right(self) -> Sequence[str]:
        """Return the list in several notations."""
        import json

        plain_list = [{"item": name, "quantity": count} for name, count in self.expected]
        return (
            json.dumps(plain_list),
            "```json\n" + json.dumps({"shopping_list": plain_list}, indent=1) + "\n```",
            "Here you are: " + json.dumps([{"item": n, "quantity": str(c)} for n, c in self.expected]),
        )

    def wrong(self) -> Sequence[str]:
        """Return every item, no item, wrong amounts, and an abstention."""
        import json

        everything = [{"item": name, "quantity": 1} for name in self.among]
        nothing = "[]" if self.expected else json.dumps(everything[:2])
        more = [{"item": name, "quantity": count + 1} for name, count in self.expected] or everything[:1]
        return (json.dumps(everything), nothing, json.dumps(more), "I do not know what is on it.", "")


def item_counts(expected: Mapping[str, int], *, among: Collection[str]) -> ItemCounts:
    """Expect exactly these items in these amounts; `among` is everything that could be on the list."""
    return ItemCounts(tuple(expected.items()), tuple(among))


EXAMPLES: tuple[Matcher, ...] = (
    item_counts({"apple": 3, "light bulb": 1}, among=("apple", "light bulb", "battery")),
    item_counts({"milk": 2}, among=("milk", "bread")),
)
"""Examples for the tests that guard every matcher."""
