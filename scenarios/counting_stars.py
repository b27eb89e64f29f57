"""Counting stars: short sentences, each with a count, are scattered over the chat; at the end, the user asks for all.

After Counting-Stars (Song, Zheng and Luo 2024), as a conversation: the sky is the conversation itself. With
`delivery = "one_shot"` it is one message, as in the paper. What its authors planned is included: several counters,
counts that are corrected later, the sum, and things other than stars. Texts that follow no paper are in
`counting_stars.json`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench import Ask, Dice, Script, Tell, bury, content, deliver, scenario, star_counts, star_sum
from ltm_bench.filler.filler import shipped
from ltm_bench.script.deliveries import CHUNK, evenly, room

MESSAGES: Mapping[str, Any] = content(__file__)["messages"]

SENTENCES = {
    ("en", "searching"): "A little {who} looked up and counted {count} {sign}",
    ("en", "reasoning"): (
        "A little {who} looked up and counted {mistake} {sign}, saw that it had miscounted, tried again, "
        "and this time it was right: {count} {sign}"
    ),
    ("zh", "searching"): "小{who}抬头数了数，数到 {count} {sign}",
    (
        "zh",
        "reasoning",
    ): "小{who}抬头数到 {mistake} {sign}，发现数错了，又数了一遍，这次数对了，是 {count} {sign}",
}

LATER = {
    ("en", 1): "The little {who} thought about it: last time it had counted one too many.",
    ("en", -1): "The little {who} thought about it: last time it had counted one too few.",
    ("zh", 1): "小{who}想了想：上一次多数了一个。",
    ("zh", -1): "小{who}想了想：上一次少数了一个。",
}

WHO = {
    "en": (
        "hedgehog", "owl", "badger", "dormouse", "marten", "toad", "beaver", "cricket", "donkey", "ferret", "goose",
        "heron",
    ),
    "zh": ("刺猬", "猫头鹰", "獾", "睡鼠", "貂", "蟾蜍", "河狸", "蟋蟀", "毛驴", "雪貂", "大鹅", "苍鹭"),
}  # fmt: skip
"""Who counts: each example of a run has its own animals."""

THINGS = {
    ("en", "stars"): ("★", "stars"),
    ("en", "boats"): ("boats", "boats"),
    ("en", "lanterns"): ("lanterns", "lanterns"),
    ("zh", "stars"): ("颗 ★", "星星"),
    ("zh", "boats"): ("条船", "船"),
    ("zh", "lanterns"): ("盏灯笼", "灯笼"),
}
"""The symbols and names of the things to count."""

BEGIN = {
    "en": "Here is a long text. There will be a question about it at the end.",
    "zh": "下面是一段很长的文字，最后会有一个问题。",
}

PART = {
    "en": "Part {i} of {n} of a text. Please just confirm that you have read it; the question comes later.\n\n",
    "zh": "一段文字的第 {i} 部分，共 {n} 部分。请只确认已读，问题在最后。\n\n",
}

MOST = 1024

ZH_SKY = (
    ("清晨", "傍晚", "雨后", "入冬以前", "集市散了以后", "午饭过后", "天还没亮", "河水上涨的时候"),
    (
        "渡口的老人",
        "卖瓷器的姑娘",
        "山那边的木匠",
        "茶馆的掌柜",
        "两个过路的学生",
        "看守灯塔的人",
        "邻村的医生",
        "磨坊主",
    ),
    ("慢慢地", "一声不响地", "笑着", "又一次", "小心翼翼地", "匆匆忙忙地"),
    (
        "把船拴在柳树下",
        "收起了晾在院子里的布",
        "讲起从前修桥的故事",
        "把信放进了抽屉",
        "给炉子添了柴",
        "朝码头走去",
    ),
    (
        "，谁也没有在意。",
        "，风从窗外吹进来。",
        "，远处传来了钟声。",
        "，屋里渐渐暖和起来。",
        "，孩子们在一旁听着。",
    ),
)
"""A Chinese sky: one part of each row makes a sentence."""

SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Star(NamedTuple):
    """A count, the mistaken count before it, and who counted."""

    right: int
    mistake: int
    who: int


def _stars(dice: Dice, stars: int, counters: int) -> list[Star]:
    """Draw counts and mistaken counts: all distinct, unevenly spaced, none of them 1 or 2, which the example uses.

    Every star has a range of a hundred numbers, so that none is likely; the mistaken count is next to the right one.
    """
    found = []
    for i in range(stars * counters):
        count = 100 * i + dice.card(f"count {i}", range(4, 97))  # examples count differently
        found.append(Star(count, count + dice.choice((-1, 1)), i % counters))
    return found


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
        yield "".join(dice.choice(row) for row in ZH_SKY)
    while True:
        yield from dice.shuffled(_shipped())


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
        sentence = SENTENCES[language, task].format(
            count=told, mistake=star.mistake, who=animals[star.who], sign=sign
        )
        said.append((notes, sentence))
        if i in corrected:
            waiting[star.who] = _note(star, language, animals)
    return said


def _note(star: Star, language: str, animals: Sequence[str]) -> str:
    return LATER[language, star.mistake - star.right].format(who=animals[star.who])


def _last_notes(
    stars: Sequence[Star], corrected: Collection[int], language: str, animals: Sequence[str]
) -> list[str]:
    """Return the corrections of counts after which their animal does not count again."""
    last = {star.who: i for i, star in enumerate(stars)}
    return [_note(stars[i], language, animals) for i in sorted(last.values()) if i in corrected]


def _forget(parameters: Mapping[str, Any]) -> Sequence[str]:
    texts: Sequence[str] = MESSAGES[parameters["language"]]["forget"]
    return texts


@scenario(skills={"recall", "aggregation", "coverage", "format"}, topics={"stars"}, forget=_forget, version=4)
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
    sign, name = THINGS[language, things]
    animals = dice.hand("animals", WHO[language], counters)
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
            begin=BEGIN[language],
            chunk=chunk,
            part=PART[language],
        )
    if total:
        yield Ask(
            dice.choice(texts["sum"][kind]).format(who=who, things=name),
            expect=star_sum(counts, mistaken=mistaken, foreign=foreign),
        )


def _check(
    stars: int, order: str, task: str, language: str, columns: int, counters: int, late: int, things: str
) -> None:
    if not 1 <= stars * counters <= MOST or not 1 <= counters <= len(WHO["en"]):
        raise ValueError(
            f"stars = {stars}, counters = {counters}: from 1 to {MOST} are possible in all, and from 1 to "
            f"{len(WHO['en'])} who count"
        )
    if order not in ("shuffled", "ordered"):
        raise ValueError(f"order = {order!r}: it is 'shuffled' or 'ordered'")
    if (language, task) not in SENTENCES:
        raise ValueError(
            f"language = {language!r}, task = {task!r}: they are 'en' or 'zh', and 'searching' or 'reasoning'"
        )
    if (language, things) not in THINGS:
        known = ", ".join(thing for lang, thing in THINGS if lang == language)
        raise ValueError(f"things = {things!r}: it is one of {known}")
    if columns < 1:
        raise ValueError(f"columns = {columns}: 1 or more")
    if not 0 <= late <= stars * counters or (late and task == "reasoning"):
        raise ValueError(
            f"late = {late}: at most as many as there are counts, and only with task = 'searching'"
        )
