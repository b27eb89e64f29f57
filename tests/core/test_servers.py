"""The table of servers: its rows are whole, and what a model only thought is no part of what it says."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.servers import KINDS, KNOWN, ending, figure, rows, says, without_thinking

TABLE = [(kind, row) for kind in KINDS for row in rows(kind)]


@pytest.mark.parametrize(("kind", "row"), TABLE, ids=lambda each: each if isinstance(each, str) else "")
def test_every_row_says_what_was_seen_where_and_how_it_is_known(kind: str, row: dict[str, object]) -> None:
    assert row["known"] in KNOWN
    assert row["servers"]
    assert re.search(
        r"[\w.-]+/[\w.-]+#\d+|https://|(openai|anthropic) \d|[\w.-]+/[\w.-]+: ", str(row["source"])
    )
    for name, wanted in KINDS[kind].items():
        assert row[name] in wanted if isinstance(wanted, tuple) else isinstance(row[name], wanted)


def test_no_word_has_two_meanings() -> None:
    words = [(row["protocol"], word) for row in rows("endings") for word in row["words"]]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("word", [None, "", "stopped", 7, ["stop"], {"stop": 1}, True])
def test_an_ending_that_nobody_has_seen_is_none(word: object) -> None:
    assert ending("chat", word) is None


def test_a_file_in_the_current_folder_adds_rows_and_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("servers.toml").write_text(
        '[[endings]]\nprotocol = "chat"\nwords = ["done", "length"]\nmeans = "stop"\n'
        '[[figures]]\nprotocol = "chat"\nfigure = "output"\nfields = ["written.tokens"]\n'
        '[[money]]\npattern = "wallet is empty"\n',
        "utf-8",
    )
    assert (ending("chat", "done"), ending("chat", "length"), ending("chat", "stop")) == ("stop",) * 3
    assert figure("chat", "output", {"written": {"tokens": 7}, "completion_tokens": 1}) == 7
    assert says("money", "Your Wallet is empty.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[endings]]\nprotocol = "grpc"\nwords = ["x"]\nmeans = "stop"\n', "[[endings]] protocol = 'grpc'"),
        ('[[endings]]\nprotocol = "chat"\nwords = "x"\nmeans = "stop"\n', "[[endings]] words = 'x'"),
        ('[[thoughts]]\nbegins = "a"\nends = "b"\n', "'thoughts' is no kind of row"),
        ('[[prices]]\nmodel = "m"\n', "'prices' is no kind of row"),
        ("[[endings]\n", "servers.toml"),
        ("endings = 3\n", "endings is no list of rows; begin each with [[endings]]"),
        ('[endings]\nprotocol = "chat"\n', "endings is no list of rows"),
        ("endings = [3]\n", "endings is no list of rows"),
        (
            '[[endings]]\nprotocol = "chat"\nwords = []\nmeans = "stop"\n',
            "[[endings]] words = []: it is a list",
        ),
        (
            '[[figures]]\nprotocol = "chat"\nfigure = "output"\nfields = [3]\n',
            "fields = [3]: it is a list of texts",
        ),
        ('[[money]]\npattern = "("\n', "[[money]] pattern = '(': it is no regular expression"),
        ('[[money]]\npattern = ""\n', "[[money]] pattern = '': it is a text"),
        ('[[money]]\npattern = "a"\npaterns = "b"\n', "has no field 'paterns'; did you mean 'pattern'?"),
    ],
    ids=[
        *("value", "type", "thoughts", "kind", "syntax", "number", "table", "numbers", "no words", "field"),
        *("expression", "empty", "typo"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("servers.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as raised:
        ending("chat", "stop")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value).strip()


MARKS = [
    ("<think>", "</think>"),
    ("<THINKING>", "</THINKING>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("analysisW", "assistantfinal"),
]


@pytest.mark.parametrize(("begins", "ends"), MARKS, ids=[begins for begins, _ in MARKS])
def test_only_what_stands_outside_a_thought_is_said(begins: str, ends: str) -> None:
    assert without_thinking(f"{begins}as it green?{ends}It is red.") == "It is red."
    assert without_thinking(f"{begins}as it green?") == "", "it was cut while thinking"
    assert without_thinking(f"{begins}as it green?{ends}") == "", "it only thought"
    assert without_thinking(f"Perhaps green.{ends}It is red.") == "It is red.", (
        "the template began the thought"
    )
    assert without_thinking(f"{begins}green{ends}no{begins}blue{ends}It is red.") == "It is red."


def test_what_ends_a_channel_is_not_said() -> None:
    text = "<|channel|>analysis<|message|>Green?<|end|><|start|>assistant<|channel|>final<|message|>Red.<|return|>"
    assert without_thinking(text) == "Red."


@pytest.mark.parametrize(
    "text",
    [
        "It is red.",
        '{"counts": [1, 2]}',
        "analysis of the data: red",
        "I think it is < 3",
        "[1] red <b>bold</b>",
        "The answer is [red].",
    ],
)
def test_a_text_without_marks_stays_as_it_is(text: str) -> None:
    assert without_thinking(text) == text


@given(
    st.lists(
        st.sampled_from([*(mark for pair in MARKS for mark in pair), "red ", "\n", "<", "[", "analysis"])
    )
)
def test_nothing_is_added_and_reading_twice_changes_nothing(parts: list[str]) -> None:
    text = "".join(parts)
    said = without_thinking(text)
    assert said in text
    assert without_thinking(said) == said


@pytest.mark.parametrize("mark", [mark for pair in MARKS for mark in pair])
def test_a_thought_is_left_out_in_linear_time(mark: str) -> None:
    def seconds(n: int) -> float:
        text, begun = mark * n, time.process_time()
        without_thinking(text)
        return time.process_time() - begun

    few, many = min(seconds(2_000) for _ in range(3)), min(seconds(32_000) for _ in range(3))
    assert many < 16 * 6 * max(few, 1e-4)


@pytest.mark.parametrize("row", rows("thoughts"), ids=lambda row: str(row["servers"]))
def test_every_mark_of_the_table_is_tried_here(row: dict[str, str]) -> None:
    assert any(re.match(row["begins"], begins, re.IGNORECASE) for begins, _ in MARKS)
