"""No secret survives in what servers and libraries say."""

import pytest

from ltm_bench.adapters.http import scrubbed


def test_secrets_that_are_named_are_removed() -> None:
    assert scrubbed("the key abc is wrong: abc", ["abc", ""]) == "the key [removed] is wrong: [removed]"


@pytest.mark.parametrize("name", ["SOME_API_KEY", "github_token", "MY_SECRET", "PASSWORD"])
def test_secrets_of_the_environment_are_removed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "hush-hush-hush")
    assert scrubbed("it was hush-hush-hush") == "it was [removed]"


def test_words_that_are_too_short_for_a_secret_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "the")
    assert scrubbed("the key") == "the key"


def test_passwords_in_addresses_are_removed() -> None:
    assert scrubbed("no answer from https://me:hush@host/v1") == "no answer from https://host/v1"
