"""Matchers in logs are found by name, and upgraded where a release wrote them in another form."""

from collections.abc import Mapping
from typing import Any

import pytest

from ltm_bench import names_only, says
from ltm_bench.core.errors import LogError
from ltm_bench.matchers import names, phrases
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins.matchers import load


def renamed(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Turn the form of a matcher that had another name and another field."""
    return {"matcher": "Says", "version": 0, "words": data["word"], "others": data["others"]}


def respelt(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Turn the form of a matcher whose field had another name."""
    return {"matcher": "Says", "version": 1, "phrase": data["words"], "others": data["others"]}


def test_an_old_form_is_upgraded_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrases, "UPGRADES", {("Utters", 3): renamed, ("Says", 0): respelt}, raising=False)
    expected = says("open", among=("open", "shut"))
    assert load({"matcher": "Utters", "version": 3, "word": "open", "others": ["shut"]}) == expected
    assert load({"matcher": "Says", "version": 0, "words": "open", "others": ["shut"]}) == expected
    assert load(dump(expected)) == expected
    with pytest.raises(LogError, match="expects a matcher 'Utters', which is not defined"):
        load({"matcher": "Utters", "version": 2, "word": "open", "others": []})


def test_upgrades_that_lead_nowhere_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "UPGRADES", {("NamesOnly", 1): dict}, raising=False)
    with pytest.raises(LogError, match="the upgrades of the matcher NamesOnly 1 lead back to it"):
        load({**dump(names_only("red", among=("red", "blue"))), "version": 1})


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"matcher": None},
        {"matcher": ["Says"]},
        {"matcher": "Says", "version": [1]},
        {"matcher": "Matcher"},
    ],
)
def test_a_damaged_form_is_an_error_in_the_log(data: dict[str, Any]) -> None:
    with pytest.raises(LogError):
        load(data)
