"""Keys, and parts of them, are recognised by their value, wherever they occur."""

import json
import string
from dataclasses import fields, is_dataclass
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from ltm_bench.adapters.compaction import Compacted
from ltm_bench.adapters.http.traffic import Attempt
from ltm_bench.core.agent import Finding, Memory
from ltm_bench.core.keys import REMOVED, betrays, cleaned, cleaned_json, key_in, read_key, scrubbed
from ltm_bench.core.messages import Finish, Reply, Usage
from tests.pace import cpu, in_proportion

LETTERS = string.ascii_letters + string.digits
BEGINNINGS = (
    "sk-", "sk-proj-", "sk-ant-api03-", "sk-or-v1-", "gsk_", "xai-", "AIza", "pplx-", "hf_", "ghp_", "github_pat_",
    "glpat-", "nvapi-", "r8_", "fw_", "hsk_", "lsv2_pt_", "xoxb-", "sm_", "",
)  # fmt: skip


def made(beginning: str, seed: int, length: int = 40) -> str:
    dice = Random(f"{beginning}{seed}")
    return beginning + "".join(dice.choice(LETTERS) for _ in range(length))


@pytest.mark.proof(scenarios=(), together=True)
@pytest.mark.parametrize("beginning", BEGINNINGS)
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "it is {}, I think",
        '{{"key": "{}"}}',
        "Bearer {}",
        "https://host/v1/{}/chat",
        "a\n{}\nb",
        "x={}&y=1",
    ],
)
def test_an_unknown_key_is_recognised_by_its_look(beginning: str, around: str) -> None:
    for seed in range(20):
        key = made(beginning, seed)
        text = around.format(key)
        assert key[8:] not in scrubbed(text)
        assert key_in(text) is not None
        assert key_in({"a": ["b", {"c": text}]}) is not None


@pytest.mark.parametrize("escape", ["\\u{:04x}", "\\u{:04X}", "\\x{:02x}", "%{:02X}", "&#x{:x};"])
@pytest.mark.parametrize("known", [True, False])
def test_a_key_written_by_the_numbers_of_its_characters_is_recognised(
    monkeypatch: pytest.MonkeyPatch, escape: str, known: bool
) -> None:
    key = made("sk-", 1)
    if known:
        monkeypatch.setenv("MINE_API_KEY", key)
    written = "".join(escape.format(ord(each)) for each in key)
    assert scrubbed(f'{{"error": "{written} is %41 bad"}}') == f'{{"error": "{REMOVED} is %41 bad"}}'
    assert scrubbed(written[: 33 * 6]) == REMOVED
    half = key[:20] + written[len(written) // 2 :]
    assert key[25:] not in scrubbed(half)
    assert written[-60:] not in scrubbed(half)


def test_escapes_are_read_in_time_in_proportion() -> None:
    assert in_proportion(lambda n: cpu(lambda: scrubbed("\\u0061%41 \\u4e2d" * n)), 2_000)


@pytest.mark.parametrize(
    "text",
    [
        "https://ada:hunter2@host/v1", "http://user:pw/x@host", "user:pw@host", "https://hunter2@host/v1",
        "http://host/v1?api_key=hunter2", "http://host/?x=1&access_token=hunter2", "http://host/?token=hunter2#a",
        "curl -H 'Authorization: Token hunter2' x", "curl -H 'X-Api-Key: hunter2' x", "call --api-key hunter2 x",
        "call --token=hunter2", "curl -H 'Authorization: Bearer hunter22' http://x",
        '{"api_key": "hunter2"}', '{"headers": {"Authorization": "hunter2"}}', '[{"password": "hunter2"}]',
    ],
)  # fmt: skip
def test_a_key_is_recognised_by_how_it_is_passed(text: str) -> None:
    assert key_in(text) is not None
    if not text.startswith(("{", "[")):
        assert "hunter2" not in scrubbed(text)
        assert "pw" not in scrubbed(text)


@pytest.mark.parametrize(
    "text",
    [
        "gpt-5.6-mini-2026-10-15", "gemini-3.8-flash-preview-2026-10-15", "anthropic.claude-3-5-sonnet-20241022-v2:0",
        "accounts/fireworks/models/llama4-maverick-instruct-basic", "https://host:8080/v1/@me", "https://host/@scope/p",
        "python -u agent.py --max-tokens 5000 --tokenizer cl100k_base", "Authorization=MY_TOKEN, X-Team=TEAM",
        "mail bob@example.org", "3f786850e387550fdab836ed7e6dc881de23001b", "input.text", '{"max_tokens": 50}',
        "You are an assistant: answer briefly, and never tell anybody your password.", "curl -H 'X-Api-Key: $KEY' x",
        "curl -H 'Authorization: Bearer ${KEY}' x", "https://host/v1?model=gpt-4o", "the key to success: persistence",
    ],
)  # fmt: skip
def test_other_text_is_left_alone(text: str) -> None:
    assert key_in(text) is None
    assert scrubbed(text) == text


@pytest.mark.parametrize(
    "name", ["SOME_API_KEY", "github_token", "MY_SECRET", "PASSWORD", "DB_PASSWD", "OPENAI_APIKEY"]
)
def test_secrets_of_the_environment_are_removed_and_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "hush-hush-hush")
    assert scrubbed("it was hush-hush-hush") == f"it was {REMOVED}"
    found = key_in("hush-hush-hush")
    assert found is not None
    assert found.variable == name


@pytest.mark.parametrize("name", ["MONKEY_HOME", "TOKENIZER", "KEYBOARD", "SSH_KEY_PATH"])
def test_other_variables_and_paths_are_not_secrets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value = "/home/ada/keys" if name.endswith("PATH") else "cl100k_base"
    monkeypatch.setenv(name, value)
    assert scrubbed(f"it is {value}") == f"it is {value}"


def test_a_value_read_as_a_key_is_a_secret_whatever_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEAM", "Bearer blue-team-of-seven")
    assert read_key("TEAM") == "Bearer blue-team-of-seven"
    for form in ("blue-team-of-seven", "Bearer blue-team-of-seven"):
        assert "blue-team" not in scrubbed(f"you sent {form}")
        assert cleaned(f"I heard {form}.") == f"I heard {REMOVED}."


def filled(kind: type[Any], text: str, *first: object) -> Any:
    """Return a value with a text wherever its type takes one, so that a field added later is filled too."""
    types = {each.name: each.type for each in fields(kind)} if is_dataclass(kind) else kind.__annotations__
    return kind(*first, **{name: text for name, each in types.items() if "str" in str(each)})


@pytest.mark.parametrize(
    "kind",
    [(Reply,), (Usage,), (Memory,), (Compacted,), (Attempt, 1.0), (Finding, True)],
    ids=lambda of: of[0].__name__,
)
def test_whatever_comes_from_outside_is_cleaned_in_every_text_of_its_type(
    kind: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM", key := made("sk-", 1))
    read_key("TEAM")
    told = filled(kind[0], f"a {key} b", *kind[1:])
    assert key in str(told)
    assert key not in str(cleaned(told))
    nested = Reply("", Usage(besides=(Usage(model=key), Usage(besides=(Usage(provider=key),)))), Finish.STOP)
    assert key not in str(cleaned({key: [nested, (told, key)]}))
    assert cleaned(nested).finish is Finish.STOP
    assert cleaned(len) is len


@pytest.mark.parametrize("beginning", ["planted-openai-", "sk-proj-", ""])
def test_a_part_of_a_known_key_is_removed_wherever_it_was_cut(
    beginning: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = made(beginning, 1, 24)
    monkeypatch.setenv("SOME_KEY", key)
    for start in range(len(key)):
        for end in range(start + 12, len(key) + 1):
            left = scrubbed(f'{{"error": "no such key: {key[start:end]}')
            assert not any(key[at : at + 12] in left for at in range(len(beginning), len(key) - 11))


def test_a_key_is_removed_in_every_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = 'pass "word"/with 100%'
    monkeypatch.setenv("MY_SECRET", secret)
    for form in (secret, json.dumps(secret), quote(secret, safe="")):
        assert scrubbed(f"<{form}>") in (f"<{REMOVED}>", f'<"{REMOVED}">')


def test_named_secrets_are_removed_and_too_short_ones_leave_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scrubbed("the key abc is wrong: abc", ["abc", ""]) == f"the key {REMOVED} is wrong: {REMOVED}"
    monkeypatch.setenv("SOME_KEY", "the")
    assert scrubbed("the key") == "the key"


@pytest.mark.parametrize("bait", ["a1B", "//", "?key", "Bearer ", "x:"])
def test_it_takes_time_in_proportion_to_the_text(bait: str) -> None:
    assert in_proportion(lambda size: cpu(lambda: scrubbed(bait * (size // len(bait)))), 50_000)


HELD = "sk-planted-7Gh2kQ9xW0zT5bN8vM1"
NAMES = """GEMINI_API_KEY GROQ_API_KEY OPENROUTER_API_KEY OPENAI_ADMIN_KEY OPENAI_KEY_2 MISTRAL_KEY1 APIKEY
    groq_api_key AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN HF_TOKEN GITHUB_TOKEN GH_PAT PGPASSWORD
    DB_PASSWORD MYSQL_PWD DB_PASS SSH_AUTH_SOCK GOOGLE_APPLICATION_CREDENTIALS NPM_AUTH CLIENT_SECRET SECRETS_FILE
    LTM_BENCH_GATEWAY_KEY SIGNING_PASSPHRASE X_AUTHORIZATION
    CREDS SESSION_COOKIE COOKIE CI_JOB_JWT SLACK_WEBHOOK_URL BEARER GEMINI-KEY MY.SECRET apiKey accessToken
    ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN VAULT_TOKEN WANDB_APIKEY"""
BETRAYING = {
    **dict.fromkeys(NAMES.split(), "anything"),
    "A": HELD,
    "B": f"Bearer {HELD}",
    "C": f'"{HELD}"',
    "D": f"'{HELD}'",
    "E": json.dumps({"deep": [{"openai": HELD}]}),
    "F": f"--token {HELD}",
    "G": f"https://user:{HELD}@proxy.example:3128",
    "H": f"/usr/bin:/opt/{HELD}/bin",
    "I": quote(HELD, safe="").replace("-", "%2D"),
    "J": f" {HELD} ",
    "K": HELD[3:20],
    "L": "postgres://me:pass1word@db.example/x",
    "M": "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "N": "https://api.example/v1?api_key=abcd1234",
    "O": json.dumps({"api_key": "abc"}),
    "P": "gsk_abcdefgh12345678abcdefgh",
    "Q": "machine api.example login me password hunter22",
    "R": "default\n  login me\n  password hunter22",
    "S": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r",
    "T": "host=db user=me password=hunter2 dbname=x",
    "U": "{'openai': {'secret': 'abcdef'}}",
    "V": "token=abcdef",
    "W": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Zm9v;EndpointSuffix=x",
    "X": "redis://:hunter2@host:6379/0",
    "NETRC": "/home/me/.netrc",
    "PGPASSFILE": "/home/me/.pgpass",
    "NPM_CONFIG_NPMRC": "/home/me/x",
    "KUBECONFIG": "/home/me/x",
    "DOCKER_CONFIG": "/home/me/x",
}
PLAIN = {
    "PATH": "/usr/bin:/nix/store/0c5rhlpr2r8jyd5a1mvk1h2ypq9r3xzb-python/bin:/home/a1b2c3d4/bin",
    "HOME": "/home/7Gh2kQ9x",
    "PWD": "/work",
    "OLDPWD": "/tmp",
    "LANG": "en_GB.UTF-8",
    "TERM": "xterm-256color",
    "MAX_TOKENS": "4096",
    "TOKENIZERS_PARALLELISM": "false",
    "KEYBOARD_LAYOUT": "de",
    "XAUTHORITY": "/home/me/.Xauthority",
    "HTTP_PROXY": "http://proxy.example:3128",
    "OPENAI_BASE_URL": "https://api.openai.com/v1",
    "GITHUB_SHA": "9c1e5f70b2d84a36e9f1c7d05b8a2e4673f0d1c8",
    "NODE_OPTIONS": "--max-old-space-size=4096",
    "AUTHOR": "Somebody",
    "MONKEY_BUSINESS": "1",
    "SECRETARY": "Somebody",
    "COMPASS": "north",
    "COOKIECUTTER_CONFIG": "x",
    "KEYMAP": "us",
    "PASSENGER_APP_ENV": "test",
    "STYLE": "tokens: wide; passwords = off",
    "UUID": "123e4567-e89b-12d3-a456-426614174000",
    "NOTE": "log in to the machine without a password",
    "EMPTY_API_KEY": "",
}


@pytest.mark.parametrize("name", BETRAYING)
def test_a_variable_that_holds_a_key_or_is_named_like_one_betrays_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", HELD)
    assert betrays(name, BETRAYING[name])


@pytest.mark.parametrize("name", PLAIN)
def test_an_ordinary_variable_betrays_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", HELD)
    assert not betrays(name, PLAIN[name])


@pytest.mark.parametrize(
    "text",
    ["{key}", '{{"a": "{key}"}}', '{{"{key}": 1}}', '{{"a": 1, "b": ["{key}", 2.5]}}', "no JSON, {key}"],
)
def test_json_without_keys_is_the_same_json_otherwise(text: str) -> None:
    escaped = "".join(f"\\u{ord(each):04x}" for each in HELD)
    plain = text.format(key="boat").encode()
    assert cleaned_json(plain, [HELD]) is plain
    for form in (HELD, escaped):
        assert cleaned_json(text.format(key=form).encode(), [HELD]).decode() == text.format(key=REMOVED)


@pytest.mark.parametrize("short", ["key", "none", "monk", "EMPTY"])
def test_a_short_key_is_found_as_a_word_and_not_inside_others(short: str) -> None:
    assert not betrays("A", f"the mon{short}s and don{short}", [short])
    assert betrays("A", short, [short])
    assert betrays("A", f"Bearer {short}", [short])


@pytest.mark.parametrize("written", ["plain", "numbers"])
@pytest.mark.parametrize("at", [0, 1, 262_100, 262_120, 262_140, 262_144, 262_145, 500_000])
def test_a_key_is_found_where_one_window_of_a_large_text_meets_the_next(at: int, written: str) -> None:
    key = "sk-real-0123456789abcdefghij"
    said = key if written == "plain" else "".join(f"\\u{ord(each):04x}" for each in key)
    content = f'"{"é" * at}{said}{"x" * 300_000}"'.encode()
    cleaned = cleaned_json(content, [key])
    assert key not in json.loads(cleaned)
    assert "[removed]" in json.loads(cleaned)
