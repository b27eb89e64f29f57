"""Counting stars: short sentences, each with a count, are scattered over the chat; at the end, the user asks for all.

After Counting-Stars (Song, Zheng and Luo 2024), as a conversation: the sky is the conversation itself. With
`delivery = "one_shot"` it is one message, as in the paper. What its authors planned is included: several counters,
counts that are corrected later, the sum, and things other than stars. The texts are in `counting_stars.json`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import cycle, product
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench import Ask, Dice, Script, Tell, bury, content, deliver, scenario, star_counts, star_sum
from ltm_bench.filler.filler import shipped
from ltm_bench.filler.kinds import decks
from ltm_bench.script.deliveries import CHUNK, evenly, room

_CONTENT: Mapping[str, Any] = content(__file__)

MESSAGES: Mapping[str, Any] = _CONTENT["messages"]

SENTENCES: Mapping[str, Mapping[str, str]] = _CONTENT["sentences"]
"""What somebody says who counts, by language and task."""

CORRECTIONS: Mapping[str, Mapping[str, str]] = _CONTENT["corrections"]
"""What they say who counted one too many (1) or too few (-1), by language."""

ANIMALS: Mapping[str, tuple[str, ...]] = _CONTENT["animals"]
"""Who counts: each example of a run has its own animals."""

THINGS: Mapping[str, Mapping[str, tuple[str, str]]] = _CONTENT["things"]
"""The symbols and names of the things to count, by language."""

SKY: tuple[tuple[str, ...], ...] = _CONTENT["sky"]
"""A Chinese sky: one part of each row makes a sentence."""

MOST = 1024

FIVES = 20
"""A count is one of about a hundred numbers for each star."""

SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Star(NamedTuple):
    """A count, the mistaken count before it, and who counted."""

    right: int
    mistake: int
    who: int


def _stars(dice: Dice, stars: int, counters: int) -> list[Star]:
    """Draw counts and mistaken counts: all distinct, increasing, none of them 1 or 2, which the example uses.

    Nothing but their order is regular, so that no count can be told from the others; the mistaken one is next to the
    right one.
    """
    # Of five numbers one of the middle three, so that no mistaken count is another's right one.
    dealt = sorted(dice.hand("counts", range(FIVES * stars * counters), stars * counters))
    counts = [5 * place + dice.integer(4, 6) for place in dealt]
    return [Star(count, count + dice.choice((-1, 1)), i % counters) for i, count in enumerate(counts)]


@cache
def _text(path: str, digest: str) -> tuple[str, ...]:
    """Return the sentences of a user's own text."""
    try:
        content = Path(path).read_bytes()
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"data = {path!r}: {error}") from error
    if not sha256(content).hexdigest().startswith(digest):
        raise ValueError(f"data = {path!r}: the text has changed: its SHA-256 no longer begins with {digest}")
    sentences = tuple(each.strip() for each in SENTENCE.split(text) if each.strip())
    if not sentences:
        raise ValueError(f"data = {path!r}: there is no text in it")
    return sentences


@cache
def _shipped() -> tuple[str, ...]:
    """Return the bundled sky: trivia, and the prose of the stories in `chapter_break`."""
    stories = Path(__file__).with_name("chapter_break.md").read_text("utf-8")
    prose = [each for each in SENTENCE.split(stories) if each.strip() and not each.startswith("#")]
    return (*(f"{each.question} {each.answer}." for each in shipped().items), *prose)


def _sky(dice: Dice, language: str, data: str, digest: str) -> Iterator[str]:
    if data:
        yield from cycle(_text(data, digest))
    while language == "zh":
        for parts in dice.shuffled(list(product(*SKY))):
            yield "".join(parts)
    while True:
        yield from dice.shuffled(_shipped())
        yield from dice.shuffled(
            [text for of in ("talk", "plans") for each in decks(of) for text in each.texts]
        )


def _sayings(
    stars: Sequence[Star],
    corrected: Collection[int],
    task: str,
    language: str,
    sign: str,
    animals: Sequence[str],
) -> list[tuple[list[str], str]]:
    """Return for each star the corrections that come just before it, and its own sentence.

    A count that will be corrected is first given wrongly; the same animal corrects it when it counts again.
    """
    said, waiting = [], dict[int, str]()
    for i, star in enumerate(stars):
        notes = [waiting.pop(star.who)] if star.who in waiting else []
        told = star.mistake if i in corrected else star.right
        sentence = SENTENCES[language][task].format(
            count=told, mistake=star.mistake, who=animals[star.who], sign=sign
        )
        said.append((notes, sentence))
        if i in corrected:
            waiting[star.who] = _note(star, language, animals)
    return said


def _note(star: Star, language: str, animals: Sequence[str]) -> str:
    return CORRECTIONS[language][str(star.mistake - star.right)].format(who=animals[star.who])


def _last_notes(
    stars: Sequence[Star], corrected: Collection[int], language: str, animals: Sequence[str]
) -> list[str]:
    """Return the corrections of counts after which their animal does not count again."""
    last = {star.who: i for i, star in enumerate(stars)}
    return [_note(stars[i], language, animals) for i in sorted(last.values()) if i in corrected]


def _forget(parameters: Mapping[str, Any]) -> Sequence[str]:
    known: Mapping[str, Sequence[str]] = MESSAGES[parameters["language"]]
    return known["forget" if parameters["counters"] > 1 else "forget_one"]


@scenario(
    skills={"recall", "aggregation", "coverage", "format"},
    topics={"stars"},
    forget=_forget,
    version=6,
    decoys={},
)
def counting_stars(
    dice: Dice,
    *,
    stars: int = 8,
    order: str = "shuffled",
    task: str = "searching",
    language: str = "en",
    delivery: str = "scattered",
    span: int = 2000,
    columns: int = 1,
    counters: int = 1,
    late: int = 0,
    total: bool = False,
    things: str = "stars",
    chunk: int = CHUNK,
    data: str = "",
    digest: str = "",
) -> Script:
    """Scatter `stars` counts evenly, `shuffled` or `ordered`; `searching` or `reasoning`; `en` or `zh`.

    Examples take `columns` lengths in turn, k/columns of the span. Of several `counters`, the first is asked about;
    `late` counts are corrected when the next one comes; `total` asks for the sum as well; `data` is another sky.
    """
    _check(stars, order, task, language, columns, counters, late, things)
    share = (dice.index % columns + 1) / columns
    sign, name = THINGS[language][things]
    animals = dice.hand("animals", ANIMALS[language], counters)
    drawn = _stars(dice, stars, counters)
    if order == "shuffled":
        drawn = dice.shuffled(drawn)
    corrected = set(dice.sample(range(len(drawn)), late)) if late else set[int]()
    said = _sayings(drawn, corrected, task, language, sign, animals)
    mine = [(star, i in corrected) for i, star in enumerate(drawn) if star.who == 0]
    counts = [star.right for star, _ in mine]
    mistaken = [star.mistake if task == "reasoning" or later else None for star, later in mine]
    if not any(mistaken):
        mistaken = []
    foreign = [star.right for star in drawn if star.who]
    who = animals[0]
    texts, kind = MESSAGES[language], "reasoning" if late else task
    ask = Ask(
        dice.choice(texts["question"][kind]).format(who=who, things=name),
        expect=star_counts(counts, mistaken=mistaken, foreign=foreign),
        at=share,
        inline=total and delivery == "one_shot",  # the sum is asked of the same message
    )
    if delivery == "scattered":
        for i, (notes, sentence) in enumerate(said):
            at: float | None = share * i / len(said)
            for note in notes:
                yield Tell(note, at=at)
                at = None
            yield Tell(sentence, at=at)
        for note in _last_notes(drawn, corrected, language, animals):
            yield Tell(note, at=share * (len(said) - 0.5) / len(said))
        yield ask
    else:
        lines = ["\n".join((*notes, sentence)) for notes, sentence in said]
        lines[-1] = "\n".join((lines[-1], *_last_notes(drawn, corrected, language, animals)))
        needles = zip(evenly(len(lines)), lines, strict=True)
        sky = _sky(dice.child("sky"), language, data, digest)
        yield from deliver(
            bury(needles, sky, int(room(span) * share), "\n"),
            [ask],
            delivery=delivery,
            begin=_CONTENT["begin"][language],
            chunk=chunk,
            part=_CONTENT["part"][language],
        )
    if total:
        yield Ask(
            dice.choice(texts["sum"][kind]).format(who=who, things=name),
            expect=star_sum(counts, mistaken=mistaken, foreign=foreign),
        )


def _check(
    stars: int, order: str, task: str, language: str, columns: int, counters: int, late: int, things: str
) -> None:
    if not 1 <= stars * counters <= MOST or not 1 <= counters <= len(ANIMALS["en"]):
        raise ValueError(
            f"stars = {stars}, counters = {counters}: from 1 to {MOST} are possible in all, and from 1 to "
            f"{len(ANIMALS['en'])} who count"
        )
    if order not in ("shuffled", "ordered"):
        raise ValueError(f"order = {order!r}: it is 'shuffled' or 'ordered'")
    if task not in SENTENCES.get(language, ()):
        raise ValueError(
            f"language = {language!r}, task = {task!r}: they are 'en' or 'zh', and 'searching' or 'reasoning'"
        )
    if things not in THINGS[language]:
        raise ValueError(f"things = {things!r}: it is one of {', '.join(THINGS[language])}")
    if columns < 1:
        raise ValueError(f"columns = {columns}: 1 or more")
    if not 0 <= late <= stars * counters or (late and task == "reasoning"):
        raise ValueError(
            f"late = {late}: at most as many as there are counts, and only with task = 'searching'"
        )
