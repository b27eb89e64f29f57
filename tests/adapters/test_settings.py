"""Settings are checked, and an error about one shows no key, and only as much of the value as helps."""

import pytest

from ltm_bench.adapters.settings import at_least, object_set
from ltm_bench.core.errors import ConfigError
from ltm_bench.plugins.agents import make_agent


def test_a_number_below_its_minimum_is_named() -> None:
    at_least("zep", recent=(0, 0), memories=(1, 1))
    with pytest.raises(ConfigError, match=r"^zep: memories = 0, but at least 1 is needed$"):
        at_least("zep", recent=(0, 0), memories=(0, 1))


def test_a_setting_with_an_object_is_parsed() -> None:
    assert object_set("http", "extra", '{"stream": false, "n": [1]}') == {"stream": False, "n": [1]}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("[1]", "is not a JSON object"), ("{oops}", "is not JSON: "), ("", "is not JSON: ")],
)
def test_a_setting_without_an_object_is_named_with_its_value(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        object_set("http", "extra", text)
    assert str(raised.value).startswith(f"http: extra={text!r} {complaint}")


@pytest.mark.parametrize(
    ("adapter", "setting", "others"),
    [
        ("http", "extra", {"url": "http://127.0.0.1/"}),
        ("http", "fork_extra", {"url": "http://127.0.0.1/"}),
        ("http", "observe_extra", {"url": "http://127.0.0.1/"}),
        ("mcp", "variables", {"core": "openai:m", "command": "x"}),
        ("mcp", "search_arguments", {"core": "openai:m", "command": "x", "store": "a", "search": "b"}),
        ("pydantic_ai_chat", "settings", {"model": "openai-chat:m"}),
    ],
)
@pytest.mark.parametrize("shape", ["[{}]", "{{{}"])
def test_an_error_about_a_setting_quotes_only_its_beginning(
    adapter: str, setting: str, others: dict[str, str], shape: str, key: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        make_agent(adapter, {**others, setting: shape.format("a word, " * 1000)})
    said = str(raised.value)
    assert f"{adapter}: {setting}=" in said
    assert "a word" in said
    assert len(said) < 500


@pytest.mark.parametrize("shape", ["[{}]", "{{{}"])
def test_an_error_about_a_setting_hides_known_keys(shape: str, key: str) -> None:
    with pytest.raises(ConfigError) as raised:
        object_set("mcp", "variables", shape.format(f'"the key {key}"'))
    assert "the key" in str(raised.value)
    assert key not in str(raised.value)
