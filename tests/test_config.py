import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.config import parse_span, parse_value, spell_span
from ltm_bench.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("2k", 2000), ("32K", 32_000), ("120k", 120_000), ("1M", 1_000_000), ("10m", 10_000_000), ("1.5k", 1500)],
)  # fmt: skip
def test_a_span_is_written_as_people_write_it(text: str, tokens: int) -> None:
    assert parse_span(text) == tokens


@pytest.mark.parametrize(
    "text", ["", "k", "-2k", "0", "2kk", "32x", "1e5", "nan", "２k", "1.2345k", "9" * 40]
)
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="span"):
        parse_span(text)


@given(tokens=st.integers(1, 10_000_000))
def test_a_span_that_is_spelt_is_read_back(tokens: int) -> None:
    assert parse_span(spell_span(tokens)) == tokens


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("true", True), ("gpt-4o", "gpt-4o"), ("[1, 2]", [1, 2]), ("'3'", "3"), ("", "")],
)  # fmt: skip
def test_a_setting_is_read_as_in_toml_and_else_as_text(text: str, value: object) -> None:
    assert parse_value(text) == value
