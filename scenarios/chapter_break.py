"""Chapter break: the user reads out a book page by page; which of six openings begins the next chapter?

After ChapterBreak (Sun, Thai and Iyyer 2022), whose public data can be used with `data = "PATH.json"`. The bundled
plots and the texts are in `chapter_break.json`. In every example other values are dealt to a plot's slots. Every
opening refers to another slot, the right one to its value and the others to a wrong one, so that only the book tells
them apart. A book is a plot a chapter, as many as the suite wants.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench import Ask, Dice, Script, Tell, content, picks, scenario

CONTENT: Mapping[str, Any] = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]

OPENINGS = 6
"""As many as ChapterBreak has: the right one and five others."""

CHAPTER = 420
"""Tokens of a plot, about."""

SENTENCE = re.compile(r"(?<=[.!?”\"])\s+(?=[^\Wa-z]|[“\"])")


class Story(NamedTuple):
    """The end of a chapter, and six openings; one of them begins the next chapter."""

    text: str
    right: str
    wrong: tuple[str, ...]


class Plot(NamedTuple):
    """A chapter with slots, what an opening may say of each, and sentences for an opening to start with."""

    text: str
    slots: Mapping[str, Mapping[str, Any]]
    leads: tuple[str, ...]


def told(dice: Dice, plots: Sequence[Plot]) -> Story:
    """Tell plots as the chapters of a book.

    The right opening has the value told for its slot, and every wrong one another value.
    """
    values = [{name: dice.shuffled(slot["values"]) for name, slot in each.slots.items()} for each in plots]
    said, others = ([{name: dealt[i] for name, dealt in each.items()} for each in values] for i in (0, 1))
    first, *rest = dice.sample([(i, name) for i, each in enumerate(plots) for name in each.slots], OPENINGS)
    leads = [dice.shuffled(each.leads * 2) for each in plots]

    def opening(chapter: int, name: str, said: Sequence[Mapping[str, str]]) -> str:
        return f"{leads[chapter].pop()} {plots[chapter].slots[name]['opening'].format(**said[chapter])}"

    text = "\n\n".join(each.text.format(**told) for each, told in zip(plots, said, strict=True))
    return Story(text, opening(*first, said), tuple(opening(*each, others) for each in rest))


def shipped() -> tuple[Plot, ...]:
    """Return the plots in the file beside this one; a chapter begins with its title."""
    return tuple(
        Plot("\n\n".join((each["title"], *each["text"])), each["slots"], each["leads"])
        for each in CONTENT["plots"]
    )


@cache
def public(path: str, split: str) -> tuple[Story, ...]:
    """Read ChapterBreak's own file: `{split: {work: [{"ctx", "pos", "negs"}, …]}}`. Raises ValueError."""
    try:
        works = json.loads(Path(path).read_text("utf-8"))[split]
        return tuple(
            Story(each["ctx"].strip(), each["pos"].strip(), tuple(map(str.strip, each["negs"])))
            for name in sorted(works)
            for each in works[name]
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(
            f"data = {path!r}, split = {split!r}: not a ChapterBreak file with that split: "
            f"{type(error).__name__}: {error}"
        ) from error


def pages(text: str, most: int) -> list[str]:
    """Split a text at sentence ends into as few pages of at most `most` characters as possible, about equally long.

    A sentence that is longer gets its own page.
    """
    count = len(filled := _filled(text, most))
    tighter = (_filled(text, limit) for limit in range(len(text) // count, most))
    return next((found for found in tighter if len(found) == count), filled)


def _filled(text: str, most: int) -> list[str]:
    """Split a text into pages, each as full as possible."""
    found = [""]
    for paragraph in re.split(r"\n\s*\n", text):
        for i, sentence in enumerate(SENTENCE.split(paragraph.strip())):
            gap = "" if not found[-1] else "\n\n" if i == 0 else " "
            if found[-1] and len(found[-1]) + len(gap) + len(sentence) > most:
                found.append(sentence)
            else:
                found[-1] += gap + sentence
    return found


@scenario(
    skills={"long read", "inference"},
    topics={"the book"},
    forget=lambda given: MESSAGES["forget_several" if given["several"] else "forget"],
    version=6,
    decoys={"several": True},
)
def chapter_break(
    dice: Dice,
    *,
    chapters: int = 1,
    data: str = "",
    split: str = "ao3",
    page: int = 600,
    most_option: int = 1000,
    several: bool = False,
    span: int = 0,
) -> Script:
    """Read a book, its pages of `page` characters spread over the span; then ask how it continues.

    It has at most `chapters`, and fewer where they would take up more than an eighth of the span.
    If there are `several` books, the title of an example's stands on each page. `data` is ChapterBreak's own file,
    `split` `ao3` or `pg19`; at most `most_option` characters of an option in it are shown.
    """
    if page < 100 or most_option < 100 or chapters < 1:
        raise ValueError(
            f"page = {page}, most_option = {most_option}: 100 characters or more; chapters = {chapters}"
        )
    if data:
        story = dice.card("story", public(data, split))
    else:
        room = span // 8 // CHAPTER if span else chapters
        story = told(dice, dice.hand("story", shipped(), max(1, min(chapters, room))))
    read, frames = pages(story.text, page), dice.shuffled(MESSAGES["page"])
    title = dice.card("title", CONTENT["titles"]) if several else ""
    for i, text in enumerate(read):
        frame = frames[i % len(frames)] if i else dice.choice(MESSAGES["begin"])
        yield Tell(frame.format(page=f"“{title}”\n\n{text}" if several else text), at=i / len(read))
    options = dice.shuffled([story.right, *story.wrong])
    length = min(most_option, *map(len, options))  # equally long, so that none stands out
    shown = "\n\n".join(
        f"Option {i}: {_cut(text, length) if data else text}" for i, text in enumerate(options, start=1)
    )
    question = dice.choice(MESSAGES["question"]).format(count=len(options), options=shown)
    yield Ask(
        dice.choice(MESSAGES["about"]).format(title=title, text=question) if several else question,
        expect=picks(options.index(story.right) + 1, of=len(options)),
        at=1.0,
    )


def _cut(text: str, most: int) -> str:
    return text[: most + 1].rpartition(" ")[0] + " …"
