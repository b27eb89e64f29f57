"""However an interrupted run is continued, the program gets no key and the limit holds, unless somebody says otherwise.

A case is a way in which a run behind the gateway, under a limit, is continued: what is in the environment, what the
command says and leaves out, and what has become of `asked.json`. No case says `--without`.
"""

import itertools
import json
import random
import shutil
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars

if TYPE_CHECKING:
    from tests.attacks import complaint
    from tests.conftest import Command
else:
    from attacks import complaint

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

KEY = "sk-planted-0123456789abcdefgh"
LIMIT = "0.004"
PROGRAM = '''"""Calls a model with what its environment says, and notes whether that was the real key."""

import json, os, sys
from urllib.request import Request, urlopen

if any("planted" in value for value in os.environ.values()):
    open(sys.argv[1], "w").write("leaked")
for line in sys.stdin:
    asked = json.loads(line)
    body = {"model": "gpt-6-luna", "messages": [{"role": "user", "content": asked["message"]}], "max_tokens": 40}
    headers = {"Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", ""), "Content-Type": "application/json"}
    try:
        place = os.environ.get("OPENAI_BASE_URL", sys.argv[2]) + "/chat/completions"
        with urlopen(Request(place, json.dumps(body).encode(), headers)) as answer:
            said = json.load(answer)["choices"][0]["message"]["content"]
    except OSError as error:
        said = str(error)
    print(json.dumps({"reply": said}), flush=True)
'''


class Case(NamedTuple):
    """A way of going on."""

    name: str
    words: tuple[str, ...] = ("resume", "r")
    variables: Mapping[str, str] = MappingProxyType({})
    kept: bytes | None = None
    """What `asked.json` holds now."""


RUN = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r", "--quiet")

VARIABLES = {
    "LTM_BENCH_MAX_COST": ("100", "1e9", "0.0041", "", "nan", "inf"),
    "LTM_BENCH_GATEWAY": ("0", "false", "no", ""),
    "LTM_BENCH_UPSTREAM": ("http://127.0.0.1:9/v1", "openai=http://127.0.0.1:9/v1", ""),
    "LTM_BENCH_GATEWAY_ENV": ("OPENAI_API_KEY", "OPENAI_API_KEY ANTHROPIC_API_KEY"),
    "LTM_BENCH_WITHOUT": ("max-cost", "gateway", "gateway max-cost"),
    "OPENAI_BASE_URL": ("http://127.0.0.1:9/v1",),
    "LTM_BENCH_CONFIG": ("off.toml",),
    "LTM_BENCH_CACHE": ("1",),
    "LTM_BENCH_CONTROL": ("blind",),
}  # fmt: skip
ODD: tuple[Any, ...] = (None, "", "x", -1, 0, [], {}, True, 10**30, "NaN", "Infinity")


def cases(kept: dict[str, Any], agent: tuple[str, ...]) -> Iterator[Case]:
    """Yield the ways; the first are the plain ones."""
    run = (*RUN, *agent)
    for words in (
        ("resume", "r"), ("resume", "reports/r"), ("resume", "reports/../reports/r/"), run,
        ("control", "r", "--control", "blind"),
        ("control", "r", "--ladder"), (*run, "--config", "off.toml"), (*run, "--config", "high.toml"),
        ("resume", "r", "--timeout", "30"), ("resume", "r", "--max-retries", "0"), ("resume", "r", "--cache"),
        ("control", "r", "--control", "near", "--max-cost", "0.004"),
        (*run, "--control", "evidence"), (*run, "--tag", "a=b"), ("resume", "link"),
        ("resume", "r", "--run-timeout", "60"),
    ):  # fmt: skip
        yield Case(" ".join(words[:2] + words[-2:]), words)
    for name, values in VARIABLES.items():
        for value in values:
            yield Case(f"{name}={value}", ("resume", "r"), {name: value})
    text = json.dumps(kept).encode()
    for each in (
        b"",
        b"{}",
        b"[]",
        b"null",
        text[:-9],
        b"{" + text,
        text * 2,
        b"\0" * 99,
        text.replace(b"gateway", b"Gateway"),
    ):
        yield Case(f"asked.json: {each[:20]!r}", kept=each)
    dice = random.Random("resume 1")
    names = [name for name in kept if name not in ("format",)]
    for number in itertools.count():
        name, odd = names[number % len(names)], dice.choice(ODD)
        yield Case(f"asked.json: {name} is {odd!r}", kept=json.dumps({**kept, name: odd}).encode())
        yield Case(f"asked.json: {name} twice", kept=text[:-1] + f', "{name}": {json.dumps(odd)}}}'.encode())


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("begun")


def bill(server: Provider) -> Decimal:
    used = (
        Usage(
            uncached=each.prompt - each.cached, cache_read=each.cached, output=each.output,
            model="gpt-6-luna", provider="openai",
        )
        for each in server.spent
    )  # fmt: skip
    return sum((dollars(each) or Decimal() for each in used), Decimal())


def wrong(
    command: "Command", home: Path, server: Provider, monkeypatch: pytest.MonkeyPatch, numbers: range
) -> list[str]:
    """Go on in each of these ways; return what was wrong with some."""
    for name, value in {"OPENAI_API_KEY": KEY, "NO_PROXY": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    first = home / "first"
    first.mkdir()
    monkeypatch.chdir(first)
    (home / "bot.py").write_text(PROGRAM, "utf-8")
    agent = (
        "--agent",
        "command",
        "-A",
        f"command={sys.executable} {home / 'bot.py'} {home / 'leaked'} {server.openai_url}",
    )
    asked = (*RUN, *agent, "--gateway", "--upstream", f"openai={server.openai_url}", "--max-cost", LIMIT)
    assert command(*asked).exit_code == 0
    spent = bill(server)
    log = first / "reports" / "r" / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:8]))
    for each in log.parent.iterdir():
        if each.suffix == ".html" or each.name in ("results.json", "verdicts.jsonl"):
            each.unlink()
    kept = json.loads((log.parent / "asked.json").read_bytes())
    found = []
    for number, case in enumerate(itertools.islice(cases(kept, agent), numbers.stop)):
        if number not in numbers:
            continue
        place = home / str(number)
        shutil.copytree(first, place)
        monkeypatch.chdir(place)
        (place / "reports" / "link").symlink_to("r")
        (place / "off.toml").write_text("gateway = false\n", "utf-8")
        (place / "high.toml").write_text("max-cost = 1000.0\ngateway = false\n", "utf-8")
        if case.kept is not None:
            (place / "reports" / "r" / "asked.json").write_bytes(case.kept)
        server.spent.clear()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in case.variables.items():
                patch.setenv(name, value)
            done = command(*case.words)
        fault = complaint(done.exit_code, done.out, done.err)
        if (home / "leaked").exists():
            (home / "leaked").unlink()
            fault = "the program had the key"
        elif spent + bill(server) > Decimal(LIMIT):
            fault = f"billed {spent + bill(server)}"
        elif done.exit_code and "ltm-bench: " not in done.err:
            fault = f"code {done.exit_code}: {done.err[-200:]}"
        if fault:
            found.append(f"{number} {case.name}: {fault}")
    return found


@pytest.mark.slow
def test_some_ways_of_going_on_keep_key_and_limit(
    command: "Command", tmp_path: Path, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wrong(command, tmp_path, server, monkeypatch, range(0, 60, 9)) == []


@pytest.mark.long
def test_sixty_ways_of_going_on_keep_key_and_limit(
    command: "Command", tmp_path: Path, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wrong(command, tmp_path, server, monkeypatch, range(60)) == []
