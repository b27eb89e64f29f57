"""Which parts of a reply are prose, headings, list entries, cells, quotations and JSON, and the context of each."""

from itertools import count

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ltm_bench.matchers.reading import READ, Form, flat, read
from ltm_bench.matchers.reading.structure import Block
from tests.pace import cpu, in_proportion

TABLE = """
| Item    | Amount |
|---------|-------:|
| apples  | 2      |
| milk    | **1**  |
"""

STRUCTURES = [
    ("a line", "It is Red.", ["prose: it is red."]),
    ("lines", "Red.\n\nAnything else?", ["prose: red.", "prose: anything else?"]),
    (
        "headings",
        "## Answer\nRed\n### Why?\n- blue",
        ["heading: answer", "answer > prose: red", "heading: why?", "why? > bullet: blue"],
    ),
    ("a bold line is a heading", "**Final answer:**\nRed", ["heading: final answer:", "final answer > prose: red"]),
    ("a label above a list", "Before:\n- blue\n- green", ["prose: before:", "before > bullet: blue", "before > bullet: green"]),
    ("a list ends the label", "Before:\n- blue\n\nNow: red", ["prose: before:", "before > bullet: blue", "prose: now: red"]),
    (
        "bullets with sub-points",
        "1. To the Opera\n   - 3 km\n     * north\n2) To the Hall\n   - 2 km",
        [
            "bullet: to the opera",
            "to the opera > bullet: 3 km",
            "to the opera > 3 km > bullet: north",
            "bullet: to the hall",
            "to the hall > bullet: 2 km",
        ],
    ),
    ("a line below a bullet", "- To the Opera\n  3 km", ["bullet: to the opera", "to the opera > prose: 3 km"]),
    ("lettered entries", "a) red\nb) blue", ["bullet: red", "bullet: blue"]),
    (
        "a table with its header and row names",
        TABLE,
        ["item > cell: apples", "apples > amount > cell: 2", "item > cell: milk", "milk > amount > cell: 1"],
    ),
    (
        "a table without outer bars",
        "Item | Amount\n--- | ---\nmilk | 1",
        ["item > cell: milk", "milk > amount > cell: 1"],
    ),
    ("a table without a header", "| milk | 1 |", ["cell: milk", "milk > cell: 1"]),
    ("a bar is no table", "red | blue", ["prose: red | blue"]),
    ("rules and fences", "---\n```text\nred\n```\n***", ["prose: red"]),
    ("a quotation", "> You said blue.\nRed.", ["quote: you said blue.", "prose: red."]),
    (
        "JSON amid prose",
        'Here: {"colour": "Red", "old": ["blue", null]}. Bye',
        ["prose: here:", "colour > json: red", "old > json: blue", "old > json: null", "prose: . bye"],
    ),
    (
        "JSON lines",
        '{"item": "milk", "n": 2}\n{"item": "bread", "n": 1}',
        ["item > json: milk", "n > json: 2", "item > json: bread", "n > json: 1"],
    ),
    ("JSON that is broken", '{"colour": "red"', ['prose: {"colour": "red"']),
    ("nothing", " \n\n", []),
]  # fmt: skip


def shown(block: Block) -> str:
    return " > ".join([*block.path, f"{block.form}: {' '.join(block.text.split())}"])


@pytest.mark.parametrize(
    ("reply", "blocks"), [row[1:] for row in STRUCTURES], ids=[row[0] for row in STRUCTURES]
)
def test_a_reply_falls_into_blocks(reply: str, blocks: list[str]) -> None:
    assert list(map(shown, read(reply).blocks)) == blocks


def test_every_form_has_its_row() -> None:
    seen = {block.form for _, reply, _ in STRUCTURES for block in read(reply).blocks}
    assert seen == set(Form)


def test_bold_and_struck_text_is_noted_and_its_marks_are_not_read() -> None:
    (block,) = read("It's **red**, __really__, not ~~blue~~ or <del>green</del>.").blocks
    assert [block.text[a:b].split() for a, b in block.bold] == [["red"], ["really"]]
    assert [block.text[a:b].split() for a, b in block.struck] == [["blue"], ["green"]]
    assert block.text.split() == ["it's", "red", ",", "really", ",", "not", "blue", "or", "green", "."]


def test_underscores_and_asterisks_within_words_are_not_marks() -> None:
    (block,) = read("read_file, 2*3, and _emphasis_").blocks
    assert block.text.split() == ["read_file,", "2", "3,", "and", "emphasis"]


def test_the_cells_of_a_row_share_its_line_and_each_knows_its_place() -> None:
    reading = read(TABLE)
    first, second, third, fourth = (block.line for block in reading.blocks)
    assert first == second < third == fourth
    assert [reading.text[block.start :][:6].split()[0] for block in reading.blocks] == [
        "apples",
        "2",
        "milk",
        "**1**",
    ]


MARKDOWN = '- * # > | : . ~~ ** __ ` \n \n\n ``` --- |---|---| { } [ ] " 1. a) <del> </del> red É ’ — İ ß １ \u0301 \u2028 </think> \x00'.split(
    " "
)


@given(
    st.text()
    | st.lists(st.sampled_from(MARKDOWN)).map("".join)
    | st.lists(st.sampled_from(MARKDOWN)).map(" ".join)
)
@settings(max_examples=400, deadline=None)
@example("| a | É |\n|---|---|\n|  b |c")
@example("|| a ||b|")
@example("e\u0301 **é**")
def test_every_piece_is_where_it_says(reply: str) -> None:
    reading = read(reply)
    assert len(reading.text) <= READ
    for block in reading.blocks:
        if block.form is Form.JSON:
            assert reading.text[block.start] in "{["
            continue
        stands = flat(reading.text[block.start : block.start + len(block.text)])
        assert len(stands) == len(block.text)
        assert all(a == b or b == " " for a, b in zip(stands, block.text, strict=True)), (
            "only marks are blanked out"
        )
        assert all(0 <= a < b <= len(block.text) for a, b in (*block.bold, *block.struck))


@pytest.mark.slow
@pytest.mark.proof(scenarios=())
@pytest.mark.parametrize(
    "repeated",
    ["(", "[", "{", '{"a":[', "**", "~~a", "__a ", "<b>", "```", "|", "| a ", "- a\n", "  - a\n", "a:\n", "# ", "> ", "\\", "1. ", "-", "\n", "| a |\n|---|\n", '{"a": 1}', '"', "a ", "ﷺ", "a\u0301"],
)  # fmt: skip
def test_reading_takes_time_in_proportion_to_the_reply(repeated: str) -> None:
    tries = count()

    def took(times: int) -> float:
        reply = repeated * times + " " * next(tries)  # another text: `read` caches the last ones
        return cpu(lambda: read(reply))

    assert in_proportion(took, READ // 4 // len(repeated))
