"""Turns their definitions into scenarios: same scripts, waits and questions, scored by our matchers."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from ltm_bench.core.clock import spoken_duration
from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Ask, Chat, Line, Matcher, Tell
from ltm_bench.datasets.goodai.expectations import READERS, expected_of
from ltm_bench.datasets.goodai.files import Definition, OnBad, definitions, span_of
from ltm_bench.datasets.goodai.importing import digest
from ltm_bench.script.scenario import Scenario, Script

FORGET = {
    "name_list": "Please forget every name that I have given you so far. I have none at the moment.",
    "locations_directions": "Please forget the places of my home town; they do not matter any more.",
    "prospective_memory": "No quotation is to be added to any reply from now on.",
    "trigger_response": "Whatever I asked you to say on certain occasions: please do not do so any more.",
    "shopping_list": "I have been shopping. Nothing is left on my list, so it starts empty from here.",
    "chapter_break": "That was all of that book. Another one would be another story.",
}
"""Sent after the last question, as theirs were; their wording was not published."""

SKILLS = {
    "colours": ("recall", "conflict"),
    "name_list": ("recall", "aggregation"),
    "jokes": ("episodic", "temporal"),
    "locations_directions": ("recall", "spatial"),
    "prospective_memory": ("prospective", "recall"),
    "trigger_response": ("prospective", "instruction"),
    "sally_anne": ("inference", "theory of mind"),
    "spy_meeting": ("recall", "inference"),
    "shopping_list": ("recall", "conflict", "aggregation"),
    "chapter_break": ("long read", "inference"),
}

WHEN = "Which joke did I tell you about {ago} ago?"

SMALL_TALK = (
    "What could one plant on a shady balcony?", "How do I keep bread fresh?", "Name three kinds of cheese.",
    "What is a good way to learn a poem by heart?", "Suggest a name for a rowing boat.",
    "How long does it take to boil an egg?", "What could I give a neighbour who moves out?",
    "Which games need no more than a pencil?", "How do I fold a shirt?",
)  # fmt: skip


@dataclass(frozen=True)
class Portion:
    """One of their scenarios, the number of its examples, and a hash of what they say."""

    scenario: Scenario
    examples: int
    hash: str


def recipes(folder: Path, on_bad: OnBad) -> dict[str, Portion]:
    """Return the scenarios that a folder of definitions holds; examples of several spans count once.

    Scenarios without a script (the restaurant: see `plays`) or without a matcher are left out.
    """
    known = definitions(folder, on_bad)
    by_scenario: dict[str, dict[str, Definition]] = defaultdict(dict)
    for each in known:
        if each.script and each.scenario in READERS:
            by_scenario[each.scenario].setdefault(each.example, each)
    if not by_scenario:
        raise ConfigError(f"{folder}: none of its definitions has a script that we can score")
    return {
        name: Portion(_scenario(name, list(examples.values()), known), len(examples), digest(known, name))
        for name, examples in sorted(by_scenario.items())
    }


def spans(folder: Path) -> list[int]:
    """Return the spans in tokens for which the definitions in a folder were made, if their names give one."""
    return sorted({span for each in definitions(folder, lambda _: None) if (span := span_of(each.benchmark))})


def plays(folder: Path) -> int:
    """Return the number of examples of the restaurant, whose definitions hold no script."""
    known = definitions(folder, lambda _: None)
    return len({each.example for each in known if each.scenario == "restaurant" and not each.script})


def _scenario(name: str, examples: Sequence[Definition], known: Sequence[Definition]) -> Scenario:
    def build(dice: Dice) -> Script:
        definition = examples[dice.index % len(examples)]
        return _script(definition, expected_of(definition, known))

    return Scenario(
        name=name,
        summary=f"GoodAI's {name}, as its definitions say it.",
        skills=SKILLS[name],
        topics=tuple(sorted({name, *(("names",) if name == "name_list" else ())})),
        forget=FORGET.get(name),
        version=0,
        parameters=MappingProxyType({}),
        build=build,
    )


def _script(definition: Definition, matchers: Sequence[Matcher]) -> Script:
    """Yield the lines of a definition; each wait becomes the position of the next line, or the pause before it."""
    expected = iter(matchers)
    at: float | None = 0.0
    after: timedelta | None = None
    times: list[datetime] = []
    for i, question in enumerate(definition.is_question):
        text = definition.script[i] if i < len(definition.script) else ""
        line: Line
        if definition.scenario == "prospective_memory" and question:
            yield from _nth_reply(definition, text, at)
            return
        if question and not text:  # a question about time, worded when it is asked
            told = next(k for k, joke in enumerate(definition.script) if definition.expected[0] in joke)
            line = Ask(
                lambda now, told=told: WHEN.format(ago=spoken_duration(now - times[told])),  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                next(expected),
                at,
                after,
            )
        elif question:
            line = Ask(text, next(expected), at, after)
        else:
            line = Tell(text, at, after)
        reply = yield line
        assert reply.at is not None
        times.append(reply.at)
        wait = definition.waits[i] if i < len(definition.waits) else {}
        share = float(wait.get("percentage_finished", 0.0))
        at = min(share / 90.0, 1.0) if share else None
        after = timedelta(seconds=float(wait["time"])) if wait.get("time") else None


def _nth_reply(definition: Definition, request: str, at: float | None) -> Script:
    """Request the quotation, then talk until the reply after the one that should contain it."""
    from ltm_bench.matchers.phrases import said_in

    quotation, _, nth = definition.expected[0]
    yield Chat(request, at=at)
    for i in range(2, nth + 1):
        text = SMALL_TALK[i % len(SMALL_TALK)]
        yield Chat(text, ideal=f"Let me think. {quotation}" if i == nth else None)
    yield Ask(SMALL_TALK[(nth + 1) % len(SMALL_TALK)], said_in(quotation, nth))
