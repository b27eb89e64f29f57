"""Nothing that looks like a secret leaves the machine."""

import json

import pytest

from ltm_bench.export.scrub import REMOVED, scrub

KEYS = (
    "sk-" + "A1b2C3d4" * 4,
    "ghp_" + "A1b2C3d4" * 4,
    "AKIA" + "A1B2C3D4" * 2,
    "AIza" + "A1b2C3d4" * 4,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2",
)


@pytest.mark.parametrize("key", KEYS)
def test_anything_that_looks_like_a_key_is_removed(key: str) -> None:
    assert scrub(f"it is {key}, I think") == (f"it is {REMOVED}, I think", 1)


def test_a_bearer_token_and_a_password_in_a_url_are_removed_and_nothing_around_them() -> None:
    text = "Authorization: Bearer abcdefghijklmnopqrst at https://ada:hunter2@example.org/x"
    assert scrub(text) == (f"Authorization: Bearer {REMOVED} at https://example.org/x", 2)


def test_a_known_secret_is_also_found_in_its_json_form(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = 'line "one"\\two'
    monkeypatch.setenv("MY_SECRET", secret)
    text = json.dumps({"reply": f"it is {secret}"}) + secret
    scrubbed = scrub(text)
    assert scrubbed.removed == 2
    assert json.dumps(secret)[1:-1] not in scrubbed.text
    assert secret not in scrubbed.text


def test_a_secret_that_contains_another_is_removed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "hunter22")
    monkeypatch.setenv("MY_TOKEN", "hunter22-hunter22")
    assert scrub("hunter22-hunter22") == (REMOVED, 1)


def test_other_text_is_unchanged() -> None:
    text = "The sky-blue mask is in task-list 12; see https://example.org:8080/a@b."
    assert scrub(text) == (text, 0)
