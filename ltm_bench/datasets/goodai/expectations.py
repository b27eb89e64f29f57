"""The expectations of our matchers for the examples that GoodAI published."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.goodai.files import Definition, Performance
from ltm_bench.matchers.choices import picks
from ltm_bench.matchers.decoding import decodes
from ltm_bench.matchers.items import item_counts
from ltm_bench.matchers.lists import lists_all
from ltm_bench.matchers.names import names_only
from ltm_bench.matchers.phrases import said_in, says
from ltm_bench.matchers.quotes import retells
from ltm_bench.matchers.routes import follows_route

COLOURS = (
    "Red Green Blue Yellow Orange Purple Pink Brown Black White Grey Cyan Magenta Cream Tan Turquoise Gold Silver"
).split()

Reader = Callable[[Definition, Sequence[Definition]], Iterator[Matcher]]
"""Takes an example and all examples of its scenario, and yields what each of its questions expects."""


def _colours(definition: Definition, _: Sequence[Definition]) -> Iterator[Matcher]:
    told = [
        colour
        for line in definition.script[:-1]
        for colour in COLOURS
        if re.search(rf"\b{colour}\b", line, re.IGNORECASE)
    ]
    yield names_only(told[-1], among=COLOURS, stale=told[:-1])


def _name_list(definition: Definition, every: Sequence[Definition]) -> Iterator[Matcher]:
    among = dict.fromkeys(name for each in every for name in each.expected)
    yield lists_all(definition.expected, among=among)


def _jokes(definition: Definition, _: Sequence[Definition]) -> Iterator[Matcher]:
    wanted = definition.expected[0]
    yield retells(wanted, among=[line for line in definition.script if line and wanted not in line])


def _locations_directions(definition: Definition, _: Sequence[Definition]) -> Iterator[Matcher]:
    told = re.findall(r"From (.{1,200}?), go (\d{1,9})km (\w{1,60}) to (.{1,200}?)\.", definition.expected[0])
    legs = [(direction.lower(), int(distance), place) for _, distance, direction, place in told]
    yield follows_route(told[0][0], legs, among=[told[0][0], *(place for _, _, place in legs)])


def _trigger_response(definition: Definition, every: Sequence[Definition]) -> Iterator[Matcher]:
    among = sorted({phrase for each in every for phrase in each.expected})
    for phrase in definition.expected:
        yield says(phrase, among=among)


def _sally_anne(definition: Definition, _: Sequence[Definition]) -> Iterator[Matcher]:
    told = re.findall(r"\bthe (\w+)", " ".join(definition.script[1:-1]))
    yield names_only(definition.expected[0], among=dict.fromkeys([*told, *definition.expected]))


def _shopping_list(definition: Definition, _: Sequence[Definition]) -> Iterator[Matcher]:
    expected = definition.expected if isinstance(definition.expected[0][0], str) else definition.expected[0]
    yield item_counts(dict(expected), among=dict(expected))


MEANINGS = {
    "boat": "boat, bridge, raft, kayak, canoe, ferry, dinghy, watercraft",
    "orchard": "orchard, apple farm, apple grove, apple plantation",
    "noon": "noon, midday, noontime, 12 pm, 12pm",
    "night": "night, midnight, nighttime, night-time, nightfall",
    "railway": "railway, depot, railyard, rail yard, train yard, railroad, train station, rail facility",
    "pick": "pick, tool, lock pick, lockpick, lock picking, lock-picking, lockpicking, a key, skeleton key, master key",
    "sunrise": "sunrise, dawn, daybreak, sun rise, early morning, in the morning",
    "port": "port, warehouse, seaport, dock, harbour, harbor, shipping yard, shipyard, container terminal",
    "motorbike": "motorbike, motorcycle, car, vehicle, bike, bicycle, truck, ground transportation, ground transport",
}
"""The meanings of their coded messages, by the first word that they expect, with more synonyms than they list."""


def _spy_meeting(definition: Definition, every: Sequence[Definition]) -> Iterator[Matcher]:
    groups: dict[str, dict[str, Sequence[str]]] = {}
    for each in (*every, definition):
        for line, words in zip(each.script[1:4], each.expected, strict=True):
            known = MEANINGS.get(words[0])
            groups.setdefault(_about(line), {})[words[0]] = known.split(", ") if known else words
    meant = {
        _about(line): words[0]
        for line, words in zip(definition.script[1:4], definition.expected, strict=True)
    }
    yield decodes(meant, groups)


def _about(line: str) -> str:
    return "what" if re.search(r"\bbring\b", line, re.IGNORECASE) else "when" if "time" in line else "where"


def _prospective_memory(definition: Definition, _: Sequence[Definition]) -> Iterator[Matcher]:
    quotation, _author, nth = definition.expected[0]
    yield said_in(quotation, nth, beyond=0)


def _chapter_break(definition: Definition, _: Sequence[Definition]) -> Iterator[Matcher]:
    options = sum(line.lstrip().startswith("Option ") for line in definition.script)
    yield picks(int(definition.expected[0]), of=max(options, 6))


READERS: Mapping[str, Reader] = {
    "colours": _colours,
    "name_list": _name_list,
    "jokes": _jokes,
    "locations_directions": _locations_directions,
    "trigger_response": _trigger_response,
    "sally_anne": _sally_anne,
    "shopping_list": _shopping_list,
    "spy_meeting": _spy_meeting,
    "prospective_memory": _prospective_memory,
    "chapter_break": _chapter_break,
}
"""All scenarios except the restaurant, where a model was the judge and no text says what is right."""


def expected_of(definition: Definition, known: Sequence[Definition]) -> list[Matcher]:
    """Return what each question of a definition expects. Raises LookupError for a scenario without a reader."""
    every = [each for each in known if each.scenario == definition.scenario]
    return list(READERS[definition.scenario](definition, every))


def expectations(
    published: Performance, definition: Definition, known: Sequence[Definition]
) -> list[tuple[int, Matcher]]:
    """Return the index of each exchange that is a question, and what it expects; results override definitions.

    Raises LookupError or ValueError if the two do not match.
    """
    own: dict[str, Any] = {**vars(definition), "expected": published.expected or definition.expected}
    matchers = expected_of(Definition(**own), known)
    asked = [i for i, question in enumerate(definition.is_question) if question]
    last = len(published.exchanges) - 1
    # the scored exchange is the reply that should contain the quotation
    if definition.scenario == "prospective_memory":
        _, _, nth = published.expected[0]
        return [(min(asked[0] + nth - 1, last), matchers[0])]
    if len(asked) != len(matchers) or not asked or asked[-1] > last:
        raise ValueError(
            f"{len(matchers)} questions are expected, {len(asked)} of {last + 1} exchanges are asked"
        )
    return list(zip(asked, matchers, strict=True))
