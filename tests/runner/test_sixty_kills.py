"""Runs of five kinds, killed at sixty points and resumed: equal bytes, and no more billed than allowed."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider, provider
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars

if TYPE_CHECKING:
    from tests import undecided, zygote
else:
    import undecided
    import zygote

KILLS = 12
"""For each kind."""
MODEL = "gpt-6-luna"
SMALL = (
    "run",
    "--span",
    "2k",
    "--scenario",
    "colours",
    "--scenario",
    "shopping_list",
    "--examples",
    "2",
    "--name",
    "r",
)
BOT = '''"""A program that calls a model where its environment says."""

import json, os, sys
from urllib.request import Request, urlopen

for line in sys.stdin:
    message = json.loads(line)["message"]
    body = {"model": "gpt-6-luna", "messages": [{"role": "user", "content": message}], "max_tokens": 40}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    try:
        with urlopen(Request(url, json.dumps(body).encode(), headers)) as answer:
            said = json.load(answer)["choices"][0]["message"]["content"]
    except OSError:
        said = "Sorry."
    print(json.dumps({"reply": said}), flush=True)
'''
BILLED = f'''"""A model whose prices are OpenAI's, at a server of ours."""

from ltm_bench.adapters import agent_class

Chat = agent_class("openai_chat")


class Billed(Chat):
    provider = "openai"

    def __init__(self, *, base_url: str) -> None:
        super().__init__(model="{MODEL}", base_url=base_url, window=16000, max_output=40)
'''
KINDS: dict[str, Callable[[Provider], tuple[str, ...]]] = {
    "plain": lambda _: ("--agent", "vector_memory"),
    "controls": lambda _: ("--agent", "parrot", "--control", "blind,evidence,near"),
    "judges": lambda _: ("--scenario", "joke", "--agent", "vague", "--judge", "letters"),
    "limits": lambda server: ("--agent", "billed", "--base-url", server.openai_url),
    "gateway": lambda server: (
        *("--agent", "command", "-A", f"command={sys.executable} bot.py", "--gateway"),
        *("--upstream", f"openai={server.openai_url}", "--control", "blind"),
    ),
}
PAID = ("limits", "gateway")


class Place:
    """A folder with a run in it."""

    def __init__(self, home: Path, words: tuple[str, ...]) -> None:
        for name in ("agents", "scenarios"):
            (home / name).mkdir(parents=True)
        (home / "bot.py").write_text(BOT, "utf-8")
        (home / "agents" / "vague.py").write_text(undecided.VAGUE, "utf-8")
        (home / "agents" / "letters.py").write_text(undecided.JUDGE, "utf-8")
        (home / "scenarios" / "joke.py").write_text(undecided.SCENARIO, "utf-8")
        (home / "agents" / "billed.py").write_text(BILLED, "utf-8")
        self.home, self.words = home, words

    def command(self, *words: str) -> Any:
        program = [sys.executable, "-m", "ltm_bench", *words]
        return zygote.Forked(program, cwd=self.home, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ended(self, *words: str) -> tuple[int, str]:
        with self.command(*words) as process:
            _, err = process.communicate(timeout=200)
        return process.returncode, err.decode()

    def logs(self) -> dict[str, bytes]:
        run = self.home / "reports" / "r"
        found = (*run.glob("events.jsonl"), *run.glob("isolated/*.jsonl"), *run.glob("controls/**/*.jsonl"))
        kept = (each for each in found if each.name not in ("timings.jsonl", "calls.jsonl"))
        return {each.relative_to(run).as_posix(): each.read_bytes() for each in sorted(kept)}

    def score(self) -> Any:
        found = json.loads((self.home / "reports" / "r" / "results.json").read_bytes())
        return found["score"]

    def killed(self, size: int) -> bool:
        """Begin the run, and kill it when its logs have so many bytes; return whether it came to that."""
        with self.command(*self.words) as process:
            until = time.monotonic() + 200
            while process.poll() is None and sum(map(len, self.logs().values())) < size:
                assert time.monotonic() < until
                time.sleep(0.001)
            alive = process.poll() is None
            if alive:
                process.send_signal(signal.SIGKILL)
            process.communicate()
        return alive


def bill(server: Provider) -> Decimal:
    used = (
        Usage(uncached=each.prompt - each.cached, output=each.output, model=MODEL, provider="openai")
        for each in server.spent
    )
    return sum((dollars(each) or Decimal() for each in used), Decimal())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    """A provider without a cache of prompts, whose state would outlive a kill."""
    for name, value in {"OPENAI_API_KEY": "sk-planted-0123456789abcdefgh", "NO_PROXY": "127.0.0.1"}.items():
        monkeypatch.setenv(name, value)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with provider() as running:
        running.cache_minimum = 10**9
        yield running


def found(kind: str, server: Provider, home: Path, kills: int) -> tuple[int, list[str]]:
    """Kill runs of a kind; return how many were killed, and what was wrong."""
    words = (*SMALL, *KINDS[kind](server))
    paid = kind in PAID
    whole = Place(home / "whole", words)
    code, err = whole.ended(*words, *(("--max-cost", "5") if paid else ()))
    assert code == 0, err
    logs, most = whole.logs(), bill(server)
    score = whole.score()
    total = sum(map(len, logs.values()))
    # behind the gateway, what all calls under way could cost is held at once
    limit = most * Decimal("1.4" if kind == "limits" else "4")
    dice, many, wrong = random.Random(f"sixty {kind}"), 0, list[str]()
    for number in range(kills):
        # the first and the last bytes too; a process that has ended cannot be killed
        size = dice.randrange(1, int(total * 0.97))
        server.spent.clear()
        place = Place(home / str(number), (*words, *(("--max-cost", str(limit)) if paid else ())))
        many += place.killed(size)
        code, err = place.ended("resume", "r")
        if paid and bill(server) > limit:
            wrong.append(f"{kind} {number}: billed {bill(server)} of {limit}")
        if code == 4:
            code, err = place.ended("resume", "r", "--max-cost", "5")
        if code:
            wrong.append(f"{kind} {number}: code {code}: {err[-300:]}")
        elif place.logs() != logs:
            differ = [name for name in logs | place.logs() if logs.get(name) != place.logs().get(name)]
            wrong.append(f"{kind} {number}: at {size}: other bytes in {differ}")
        elif place.score() != score:
            wrong.append(f"{kind} {number}: another score")
        shutil.rmtree(place.home)
    return many, wrong


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_is_killed_ends_with_the_same_bytes_within_its_limit(
    kind: str, server: Provider, tmp_path: Path
) -> None:
    many, wrong = found(kind, server, tmp_path, 1)
    assert wrong == []
    assert many == 1


@pytest.mark.long
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("kind", KINDS)
def test_runs_killed_twelve_times_end_with_the_same_bytes_within_their_limits(
    kind: str, server: Provider, tmp_path: Path
) -> None:
    many, wrong = found(kind, server, tmp_path, KILLS)
    assert wrong == []
    assert many == KILLS
