"""`item_counts`: the reply lists things and how many of each, as JSON."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import listed
from ltm_bench.matchers.reading import Form, Reading, known_words, lexicon, number, read, words
from ltm_bench.matchers.reading.abstaining import abstains, gives_example
from ltm_bench.matchers.reading.cues import Effect, cues
from ltm_bench.matchers.reading.doubting import UNKNOWN, DoubtingMatcher
from ltm_bench.matchers.reading.figures import in_figures
from ltm_bench.matchers.reading.json_values import embedded, last_readable, unwrapped
from ltm_bench.matchers.sameness import same_word, singular

Items = list[tuple[str, int | None]]

_NAME_KEYS = ("item", "name", "product", "article", "thing", "title")
_COUNT_KEYS = ("quantity", "qty", "count", "amount", "number", "units", "num")
_UNITS = frozenset(listed("units"))


def read_items(value: Any) -> Items | None:
    """Read a list of items from JSON of any usual shape; None if it is not such a list.

    It understands `[{"item": …, "quantity": …}]` under any of the usual keys, a mapping from names to numbers, lists
    of strings such as "2 apples", lists of pairs, and any of these inside a wrapping object.
    """
    return unwrapped(value, _items)


def _items(value: Any) -> Items | None:
    if isinstance(value, Mapping):
        if any(str(key).casefold() in _NAME_KEYS for key in value):
            value = [value]
        elif value and all(number(count) is not None for count in value.values()):
            value = [[str(key), count] for key, count in value.items()]
    found = [_read_entry(entry) for entry in value] if isinstance(value, list) else [None]
    return [item for item in found if item is not None] if None not in found else None


def _read_entry(entry: Any) -> tuple[str, int | None] | None:
    if isinstance(entry, Mapping):
        keys = {str(key).casefold(): key for key in entry}
        name = next((entry[keys[k]] for k in _NAME_KEYS if k in keys), None)
        count = next((entry[keys[k]] for k in _COUNT_KEYS if k in keys), None)
        if name is None and len(entry) == 1:
            ((name, count),) = entry.items()
        entry = [name, name if count is None else count]
    elif isinstance(entry, str):
        entry = [entry, entry]
    named = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and entry[0].strip()
    return (entry[0], number(entry[1])) if named else None


def _written(reading: Reading, among: tuple[str, ...]) -> Items:
    """Read a table, else bulleted lines, else prose: one thing in each row, line or clause, with its number."""
    rows, bullets = defaultdict[int, list[str]](list), list[list[str]]()
    for block in reading.blocks:
        text = block.text.strip()
        if block.form is Form.CELL and (text.strip("~") or not block.struck):
            rows[block.line].append(text)
        elif block.form is Form.BULLET and len(text) <= _LINE:
            gone = sum(end - start for start, end in block.struck) > len(text) // 2
            bullets += [] if gone else [[text]]
    listed = list(rows.values()) or bullets
    if not listed:
        return [item for block in reading.blocks for item in _in_prose(block.text, among)]
    found = Items()
    for cells in listed:
        names = [cell for cell in cells if any(map(str.isalpha, cell)) and not _is_amount(cell)]
        amounts = [cell for cell in cells if _is_amount(cell)]
        if names:
            found.append((names[0], number(amounts[-1] if amounts else names[0])))
    return found


def _in_prose(text: str, among: tuple[str, ...]) -> Iterator[tuple[str, int | None]]:
    """Yield what prose lists: `2 sponges, a baguette and light bulb ×1`; a few words are one clause: `brooms, 1`."""
    known = lexicon(among, shortened=False)
    for part in _parts(_PAIRED.sub(" ", text)):
        said = words(part)
        whole = len(said) <= _FEW and len(list(known.hear(said))) == 1
        for clause in [said] if whole else map(words, _CLAUSE.split(part)):
            heard = list(known.hear(clause))
            if len(heard) == 1 and not any(cue.effect in _NOT_LISTED for cue in cues(tuple(clause))):
                begin, end, named = heard[0]
                yield named.value, number(" ".join([*clause[:begin], ",", *clause[end:]]))


def _parts(text: str) -> Iterator[str]:
    """Yield the sentences, at their colons, without those whose label denies what is in them: `Not on it: milk`."""
    for sentence in _SENTENCE.split(text):
        label, _, _ = sentence.rpartition(":")
        if not any(cue.effect in _NOT_LISTED for cue in cues(tuple(words(label)))):
            yield from sentence.split(":")


def _is_amount(cell: str) -> bool:
    said = words(cell)
    return bool(said) and all(word in _UNITS or number(word) is not None for word in said)


_LINE = 80
"""Characters of a bulleted line that can be an entry of a list."""

_NOT_LISTED = (Effect.DENIES, Effect.REPLACED, Effect.CONDITIONS)
_SENTENCE = re.compile(r"[.!?;\n]")
_CLAUSE = re.compile(r"[,()]|\band\b|\bplus\b|&|\+")
_PAIRED = re.compile(r":\s{0,3}(?=[x×]?\d)")
"""Between a thing and its number: `coconut: 2, pillow: 1`."""
_FEW = 4
"""Maximum words of what names one thing and its number: `brooms, 1`."""


def _json_lines(reading: Reading) -> Items | None:
    """Read JSON objects, one per line."""
    found = [_read_entry(value) for value, *_ in embedded(reading.text) if isinstance(value, Mapping)]
    return [item for item in found if item is not None] if len(found) > 1 and None not in found else None


def _same_thing(said: str, meant: str) -> bool:
    """Whether two names mean the same item, amounts and packaging aside. `milk chocolate` is not milk."""
    left, right = _thing(said), [w for w in known_words(meant) if w not in _UNITS]
    if "".join(map(singular, left)) == "".join(map(singular, right)):  # `lightbulbs`
        return True
    return len(left) == len(right) and all(same_word(a, b) for a, b in zip(left, right, strict=True))


@lru_cache(maxsize=64)  # each entry of a reply is compared with everything that could be on the list
def _thing(said: str) -> Sequence[str]:
    return [w for w in words(said) if w not in _UNITS and number(w) is None]


@dataclass(frozen=True, slots=True)
class ItemCounts(DoubtingMatcher):
    """A third for the items on the list, a third for their amounts, a third if nothing else is on it.

    Surplus entries reduce all three thirds in proportion to the right ones: there is no cliff, and nothing is left if
    there are as many, as in a list of everything.
    """

    version: ClassVar[int] = 5
    concludes: ClassVar[bool] = True

    expected: tuple[tuple[str, int], ...]
    among: tuple[str, ...]
    """Everything that could be on the list."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the last list in the reply: JSON, a table, bullets or prose, whichever is there first."""
        reading = read(reply)
        found = _json_lines(reading) or last_readable(reply, read_items)
        if found is None:
            found = _written(reading, self.among) or None
        if found == [] and not self.expected:
            return Verdict(Outcome.CORRECT, 1.0, "the list is empty, as it should be")
        known = any(_same_thing(name, meant) for name, _ in found or () for meant in self.among)
        if not known or gives_example(reply):
            if abstains(reply):
                return UNKNOWN
            if found is None:
                return Verdict(Outcome.MALFORMED, 0.0, "no list can be read from the reply")
        if not found:
            return Verdict(Outcome.WRONG, 0.0, "the list is empty")
        verdict = self._compare(found)
        doubt = self._doubted(reply, found, verdict, turns)
        return verdict if doubt is None else Verdict(Outcome.UNDECIDED, 0.0, f"{doubt}; {verdict.reason}")

    def _doubted(self, reply: str, found: Items, verdict: Verdict, turns: Sequence[Turn]) -> str | None:
        """Return why a list that is partly right may be right in other words."""
        prose = all(block.form is Form.PROSE for block in read(reply).blocks)
        if verdict.outcome is not Outcome.PARTIAL:
            return None
        if "missing" in verdict.reason:
            known = _UNITS | {singular(word) for each in self.among for word in known_words(each)}
            names = [[word] for word in words(reply)] if prose else [words(name) for name, _ in found]
            new = (word for each in names if known.isdisjoint(map(singular, each)) for word in each)
            word = self.strange(" ".join(new), turns, ())
            return None if word is None else f"“{word}” may be another word for what is missing"
        counts = {str(count) for _, count in self.expected}
        there = prose and "extra" not in verdict.reason and counts.issubset(words(in_figures(reply)))
        return "all amounts are there, but not each beside its thing" if there else None

    def _compare(self, found: Items) -> Verdict:
        left = [(name, count) for name, count in found if count != 0]
        amounts, missing = 0, list[str]()
        for name, count in self.expected:
            same = [entry for entry in left if _same_thing(entry[0], name)]
            told = [n for _, n in same if n is not None]
            left = [entry for entry in left if entry not in same]
            if len(same) > 1 and sum(told) != count:
                left += same[1:]  # the same thing again, and not a part of it
            missing += [] if same else [name]
            amounts += bool(told) and count in (told[-1], sum(told))
        size, extra = len(self.expected), [name[:40] for name, _ in left]
        present = size - len(missing)
        reason = f"{present} of {size} items, {amounts} amounts right"
        reason += f"; missing: {', '.join(missing)}" if missing else ""
        reason += f"; extra: {', '.join(extra[:8])}" if extra else ""
        if present == amounts == size and not extra:
            return Verdict(Outcome.CORRECT, 1.0, "every item and every amount is right")
        clean = max(0.0, 1 - len(extra) / present) if present else 0.0
        score = (present / size + amounts / size + clean) / 3 * clean if size else 0.0
        return Verdict(Outcome.PARTIAL if score else Outcome.WRONG, round(score, 6), reason)

    def right(self) -> Sequence[str]:
        """Return the list in several notations."""
        listed = [{"item": name, "quantity": count} for name, count in self.expected]
        in_text = json.dumps([{"item": name, "quantity": str(count)} for name, count in self.expected])
        fenced = "```json\n" + json.dumps({"shopping_list": listed}, indent=1) + "\n```"
        return (json.dumps(listed), fenced, f"Here you are: {in_text}")

    def wrong(self) -> Sequence[str]:
        """Return every item, no item, wrong amounts, and an abstention."""
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
