"""Values of published files are read as what they say, whatever their type, and never as Python prints them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.dialogue import Histories
from ltm_bench.datasets.public import public_set
from ltm_bench.datasets.values import golds_of, needed, text_of
from ltm_bench.matchers.forms import build, dump
from tests import sets

TEXTS: list[tuple[Any, str]] = [
    (None, ""),
    ("green", "green"),
    ("", ""),
    (3, "3"),
    (2.5, "2.5"),
    (True, "true"),
    ([], ""),
    (["one", None, "two"], "one\ntwo"),
    ([{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {"url": "x"}}, "two"], "one\ntwo"),
    ([{"type": "thinking", "thinking": "hm"}, {"type": "reasoning", "text": "hm"}, {"text": "two"}], "two"),
    ({"type": "text", "text": "one"}, "one"),
    ({"content": [{"text": "one"}, {"content": "two"}]}, "one\ntwo"),
    ({"type": "tool_use", "input": {"a": 1}}, ""),
    ({"text": None}, ""),
]


@pytest.mark.parametrize(("value", "text"), TEXTS, ids=[json.dumps(value)[:40] for value, _ in TEXTS])
def test_a_value_is_read_as_text(value: Any, text: str) -> None:
    assert text_of(value) == text


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "type", "x"]), inner, max_size=2)
    ),
    max_leaves=6,
)


def leaves(value: Any) -> set[str]:
    if isinstance(value, list | dict):
        return {
            each for inner in (value if isinstance(value, list) else value.values()) for each in leaves(inner)
        }
    return {value} if isinstance(value, str) else set()


@given(value=VALUES)
def test_no_value_is_read_as_python_prints_it(value: Any) -> None:
    try:
        texts = [text_of(value), *golds_of(value)]
    except ValueError:
        return
    for text in texts:
        for line in set(text.split("\n")) - {line for each in leaves(value) for line in each.split("\n")}:
            assert line in ("true", "false") or line[:1] in "-0123456789", line


KEYS: list[tuple[Any, tuple[str, ...] | None]] = [
    ("green", ("green",)),
    (3, ("3",)),
    (False, ("false",)),
    (["green", "dark green"], ("green", "dark green")),
    ([["green"], [None, "dark green"]], ("green", "dark green")),
    (None, None),
    ("", None),
    (" ", None),
    ([], None),
    ([None, ""], None),
    ({"a": 1}, None),
]


@pytest.mark.parametrize(("value", "golds"), KEYS, ids=[json.dumps(value) for value, _ in KEYS])
def test_a_key_is_one_answer_or_several_and_never_null(value: Any, golds: tuple[str, ...] | None) -> None:
    if golds is not None:
        assert golds_of(value) == golds
        return
    with pytest.raises(ValueError, match=r"answer|object"):
        golds_of(value)


@pytest.mark.parametrize("value", [None, "", [], [None], " "])
def test_a_text_that_must_be_there_is_named_if_it_is_not(value: Any) -> None:
    with pytest.raises(ValueError, match="its question is"):
        needed({"question": value}, "question")
    assert needed({"question": ["a", "b"]}, "question") == "a\nb"


Made = Callable[[Path], Path]
MADE: dict[str, tuple[Made, str]] = {
    "locomo": (sets.locomo, "locomo10.json"),
    "longmemeval-s": (sets.longmemeval, "longmemeval.json"),
    "beam-100k": (sets.beam, "chats"),
    "factconsolidation-sh-6k": (sets.facts, "Conflict_Resolution.json"),
    "personamem-32k": (sets.personamem, "32k"),
    "gatemem": (sets.gatemem, "gatemem"),
}
ODD: dict[str, Any] = {
    "null": None,
    "texts": ["odd one", "odd two"],
    "parts": [{"type": "text", "text": "odd one"}, {"type": "image_url"}],
    "number": 17,
    "bool": True,
    "object": {"odd": 1},
}


def everywhere(value: Any, instead: Any) -> Any:
    """Yield copies of a JSON value, in each of which another value stands instead of one that is no object."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            for changed in everywhere(inner, instead):
                copy = dict(value) if isinstance(value, dict) else list(value)
                copy[key] = changed
                yield copy
    if not isinstance(value, dict):
        yield instead


def told(histories: Histories) -> set[str]:
    texts = set[str]()
    for history in histories:
        texts |= {history.id, *(each.id for each in history.sessions)}
        texts |= {
            part or ""
            for s in history.sessions
            for each in s.utterances
            for part in (each.text, each.speaker)
        }
        for question in history.questions:
            texts |= {question.id, question.text, *question.gold, *question.rubric, *question.options}
    return texts


@pytest.mark.parametrize("shape", ODD)
@pytest.mark.parametrize("name", MADE)
def test_an_odd_value_at_any_place_of_a_set_is_read_or_its_record_named(
    tmp_path: Path, name: str, shape: str
) -> None:
    make, file = MADE[name]
    home = make(tmp_path / file)
    files = sorted(each for each in ([home] if home.is_file() else home.rglob("*")) if each.is_file())
    tried = 0
    for path in files:
        plain = path.read_text("utf-8")
        rows = (
            [json.loads(line) for line in plain.splitlines()]
            if path.suffix == ".jsonl"
            else json.loads(plain)
        )
        few = rows[:1] if isinstance(rows, list) else {key: each[:1] for key, each in list(rows.items())[:3]}
        for odd in everywhere(few, ODD[shape]):
            complaints: list[str] = []
            text = (
                "\n".join(map(json.dumps, odd)) if path.suffix == ".jsonl" and isinstance(odd, list) else None
            )
            path.write_text(json.dumps(odd) if text is None else text, "utf-8")
            found = told(public_set(name).histories(home, complaints.append))
            tried += 1
            for each in found:
                assert "None" not in each, (odd, each)
                assert "['" not in each, (odd, each)
                assert "{'" not in each, (odd, each)
            assert all("\n" not in line for line in complaints)
        path.write_text(plain, "utf-8")
    assert tried > 7


SEVERAL = ("green", "dark green")


def with_golds(name: str, golds: Any) -> Matcher:
    from ltm_bench.datasets.beam.matcher import meets
    from ltm_bench.datasets.factconsolidation.matcher import newest_fact
    from ltm_bench.datasets.locomo.matcher import locomo_answer
    from ltm_bench.datasets.longmemeval.matcher import remembered

    made: dict[str, Callable[[], Matcher]] = {
        "longmemeval": lambda: remembered(golds, "single-session-user"),
        "locomo": lambda: locomo_answer(golds, "4"),
        "locomo, strictly": lambda: locomo_answer(golds, "4", mode="strict"),
        "beam": lambda: meets(golds, ["It should state: green"], "information_extraction"),
        "factconsolidation": lambda: newest_fact([golds] if isinstance(golds, str) else golds),
    }
    return made[name]()


@pytest.mark.parametrize("name", ["longmemeval", "locomo", "locomo, strictly", "beam", "factconsolidation"])
def test_each_of_several_golds_is_right_and_the_log_keeps_them(name: str) -> None:
    matcher = with_golds(name, SEVERAL)
    assert [matcher.verdict(said, ()).score for said in SEVERAL] == [1.0, 1.0]
    assert matcher.verdict("red", ()).score == 0.0
    assert build(type(matcher), json.loads(json.dumps(dump(matcher)))) == matcher
    alone, listed = with_golds(name, "green"), with_golds(name, ["green"])
    assert dump(alone) == dump(listed)
    if name != "factconsolidation":  # a released form: one gold is a text
        assert dump(alone)["gold"] == "green"
