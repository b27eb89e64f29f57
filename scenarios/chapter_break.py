"""Chapter break: the user reads out a story page by page; which of six openings begins the next chapter?

After ChapterBreak (Sun, Thai and Iyyer 2022), whose public data can be used with `data = "PATH.json"`. The six
bundled stories are in `chapter_break.md`; each wrong opening contradicts the story in one point.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ltm_bench import Ask, Dice, Script, Tell, picks, scenario

BEGIN = (
    "I would like to read you part of a book, a page now and then. Just listen; there will be a question at the end."
    "\n\n{page}",
    "Let me read to you from a book, one page at a time. You need not say anything; I will ask you something after the "
    "last page.\n\n{page}",
    "I am reading a book aloud to practise for the radio. Please listen to the pages; a question comes when the "
    "chapter "
    "is over.\n\n{page}",
)
PAGES = (
    "The book goes on:\n\n{page}",
    "The next page of the book:\n\n{page}",
    "Back to the book that I am reading to you.\n\n{page}",
    "Here is some more of the book.\n\n{page}",
    "Time for another page of the book:\n\n{page}",
    "I turn the page, and the book continues:\n\n{page}",
)
QUESTIONS = (
    "That was the last page of the chapter. Here are {count} openings, and just one of them is how the next chapter of "
    "the book begins.\n\n{options}\n\nWhich option is it? Answer with its number alone.",
    "The chapter of the book ends there. Only one of these {count} passages fits everything that you have heard and "
    "begins the next chapter.\n\n{options}\n\nWhich one? Write the number of that option and nothing else.",
    "And that is the end of the chapter. How does the book go on? Of the {count} options, a single one agrees with "
    "what "
    "I have read to you.\n\n{options}\n\nPlease give me its number, without any explanation.",
)
FORGET = "That is all of this book. If I read to you from another one, it is another story."

SENTENCE = re.compile(r"(?<=[.!?”\"])\s+(?=[\w“\"])")


class Story(NamedTuple):
    """The end of a chapter, and six openings; one of them begins the next chapter."""

    text: str
    right: str
    wrong: tuple[str, ...]


@cache
def shipped() -> tuple[Story, ...]:
    """Read the stories beside this file: `# title`, the text, `## Next` and several `## Wrong`."""
    stories = []
    for chapter in re.split(r"^# ", Path(__file__).with_suffix(".md").read_text("utf-8"), flags=re.MULTILINE)[
        1:
    ]:
        text, *parts = re.split(r"^## ", chapter.partition("\n")[2], flags=re.MULTILINE)
        named = [part.partition("\n")[::2] for part in parts]
        (right,) = (body.strip() for name, body in named if name.strip() == "Next")
        wrong = tuple(body.strip() for name, body in named if name.strip() == "Wrong")
        stories.append(Story(text.strip(), right, wrong))
    return tuple(stories)


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
    """Split a text at sentence ends into pages of at most `most` characters; a longer sentence gets its own page."""
    found = [""]
    for paragraph in re.split(r"\n\s*\n", text):
        for i, sentence in enumerate(SENTENCE.split(paragraph.strip())):
            gap = "" if not found[-1] else "\n\n" if i == 0 else " "
            if found[-1] and len(found[-1]) + len(gap) + len(sentence) > most:
                found.append(sentence)
            else:
                found[-1] += gap + sentence
    return found


@scenario(skills={"long read", "inference"}, topics={"the book"}, forget=FORGET, version=2)
def chapter_break(
    dice: Dice, *, data: str = "", split: str = "ao3", page: int = 600, most_option: int = 1000
) -> Script:
    """Read a story, its pages of `page` characters spread over the span; then ask how it continues.

    `data` is ChapterBreak's own file, `split` `ao3` or `pg19`; at most `most_option` characters of an option are shown.
    """
    if page < 100 or most_option < 100:
        raise ValueError(f"page = {page}, most_option = {most_option}: 100 characters or more")
    stories = public(data, split) if data else shipped()
    story = dice.card("story", stories)
    read = pages(story.text, page)
    for i, text in enumerate(read):
        yield Tell(dice.choice(PAGES if i else BEGIN).format(page=text), at=i / len(read))
    options = dice.shuffled([story.right, *story.wrong])
    length = min(most_option, *map(len, options))  # equally long, so that none stands out
    shown = "\n\n".join(f"Option {i}: {_cut(text, length)}" for i, text in enumerate(options, start=1))
    yield Ask(
        dice.choice(QUESTIONS).format(count=len(options), options=shown),
        expect=picks(options.index(story.right) + 1, of=len(options)),
        at=1.0,
    )


def _cut(text: str, most: int) -> str:
    return text[: most + 1].rpartition(" ")[0] + " …"
