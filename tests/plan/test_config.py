"""Suites, presets, spans and settings are understood as written, and mistakes are named."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.suites import presets, read_suite, suites
from ltm_bench.plan.values import parse_span, parse_value, spell_span


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("2k", 2000), ("32K", 32_000), ("120k", 120_000), ("1M", 1_000_000), ("10m", 10_000_000), ("1.5k", 1500)],
)  # fmt: skip
def test_a_span_is_written_as_people_write_it(text: str, tokens: int) -> None:
    assert parse_span(text) == tokens


@pytest.mark.parametrize(
    "text", ["", "k", "-2k", "0", "2kk", "32x", "1e5", "nan", "２k", "1.2345k", "9" * 40]
)
def test_an_invalid_span_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="span"):
        parse_span(text)


@given(tokens=st.integers(1, 1_000_000_000) | st.integers(1, 10_000_000).map(lambda each: each * 100))
@example(tokens=2_088_300)  # no binary fraction times 1000 is 2088.3k
@example(tokens=123_456_700)
def test_a_spelt_out_span_is_read_back(tokens: int) -> None:
    assert parse_span(spell_span(tokens)) == tokens


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("true", True), ("gpt-4o", "gpt-4o"), ("[1, 2]", [1, 2]), ("'3'", "3"), ("", "")],
)  # fmt: skip
def test_a_setting_is_read_as_toml_or_else_as_text(text: str, value: object) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize(
    "text",
    ["2026-01-05", "09:00:00", "nan", "-inf", "[2026-01-05]", "1\nother = 2", "1 # one", "{a = 1", "]"],
)
def test_values_that_a_log_cannot_hold_become_text(text: str) -> None:
    assert parse_value(text) == (1 if text.startswith("1 #") else text)


@given(
    value=st.recursive(
        st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(-1e9, 1e9)
        | st.text("abc é✓'-_ ", max_size=9),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    )
)
def test_a_setting_is_read_back_from_a_log_as_it_was_given(value: object) -> None:
    written = parse_value(json.dumps(value))
    assert written == value
    assert json.loads(json.dumps(written)) == written


@given(text=st.text(max_size=30))
def test_every_setting_can_be_read(text: str) -> None:
    json.dumps(parse_value(text), allow_nan=False)


SUITE = """
examples = 2
[scenarios.colours]
changes = 5
[scenarios.jokes]
examples = 7
"""


def test_a_suite_names_scenarios_counts_and_parameters(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SUITE, "utf-8")
    suite = read_suite(path)
    assert list(suite.scenarios) == ["colours", "jokes"]
    assert [suite.count(name) for name in suite.scenarios] == [2, 7]
    assert [suite.parameters(name) for name in suite.scenarios] == [{"changes": 5}, {}]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("scenarios = ['colours']", r"scenarios = \['colours'\]: expected a table"),
        ("[scenarios]", "scenarios = {}: "),
        ("[scenarios]\ncolours = 3", "scenarios.colours = 3: expected a table"),
        (
            "[scenarios.colours]\nexamples = 0",
            "scenarios.colours.examples = 0: must be a whole number of at least 1",
        ),
        ("[scenarios.colours]\nexamples = true", "scenarios.colours.examples = True"),
        ("stagger = 5\n[scenarios.colours]", "stagger = 5: should be less than or equal to 1"),
        ("start = 2026-01-05T09:00:00\n[scenarios.colours]", "has no timezone; add a Z"),
        ("start = 2026-01-05\n[scenarios.colours]", "start = 2026-01-05: write a time such as"),
        ("isolatd = true\n[scenarios.colours]", "unknown key 'isolatd'; did you mean 'isolated'?"),
        ("[scenarios", "not valid TOML: Expected"),
    ],
)
def test_a_mistake_in_a_suite_is_named(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=complaint) as raised:
        read_suite(path)
    assert str(raised.value).startswith(f"{path}: ")


def folders(tmp_path: Path, name: str, *contents: str) -> list[Path]:
    for i, content in enumerate(contents):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / f"{name}.toml").write_text(content, "utf-8")
    return [tmp_path / str(i) for i in range(len(contents))]


def test_a_suite_of_the_same_name_is_refused_unless_it_is_the_same(tmp_path: Path) -> None:
    one, same, other = folders(tmp_path, "mine", SUITE, SUITE, SUITE + "told = 2\n")
    assert list(suites([one, same])) == ["mine"]
    with pytest.raises(ConfigError, match="two suites are called 'mine'"):
        suites([one, other])


def test_a_preset_of_the_same_name_is_refused_unless_it_is_the_same(tmp_path: Path) -> None:
    text = "[mine]\nadapter = 'perfect'\n"
    one, same, other = folders(tmp_path, "agents", text, text, text + "x = 1\n")
    assert presets([one, same])["mine"].settings == {}
    with pytest.raises(ConfigError, match="there already is a preset 'mine'"):
        presets([one, other])


def test_a_preset_is_an_adapter_with_settings(tmp_path: Path) -> None:
    (folder,) = folders(tmp_path, "agents", "[mine]\nadapter = 'a'\nnote = 'n'\nx = [1]\n")
    preset = presets([folder])["mine"]
    assert (preset.adapter, preset.note, preset.settings) == ("a", "n", {"x": [1]})


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_suite(path)
    with pytest.raises(ConfigError, match=r"gone\.toml: No such file"):
        read_suite(tmp_path / "gone.toml")


def test_a_row_of_a_suite_may_have_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text('[scenarios.few]\nscenario = "colours"\nchanges = 1\n[scenarios.colours]\n')
    suite = read_suite(path)
    assert [suite.plays(row) for row in suite.scenarios] == ["colours", "colours"]
    assert suite.parameters("few") == {"changes": 1}
    for wrong, complaint in (
        ("[scenarios.few]\nscenario = 3", "scenarios.few.scenario = 3: must be the name of a scenario"),
        ('[scenarios."a/b"]\nscenario = "colours"', "scenarios.a/b: a name consists of letters"),
    ):
        path.write_text(wrong)
        with pytest.raises(ConfigError, match=complaint):
            read_suite(path)
