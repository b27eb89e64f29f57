"""What is attacked: a valid run, bundle, configuration or provider, and the commands that read it."""

import contextlib
import gzip
import io
import json
import random
import shutil
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from ltm_bench.adapters.testing import provider
from ltm_bench.cli import main as cli
from perf.hostile.damage import DEEP, changed, replaced

READERS = (
    ("show", "r"), ("rescore", "r"), ("report", "r"), ("verify", "r"), ("resume", "r"), ("list", "runs"),
    ("compare", "r", "good", "-o", "c.html"), ("bundle", "r", "-o", "b.zip"), ("export", "r", "--format", "inspect"),
    ("export", "r", "--format", "junit"), ("export", "r", "--format", "csv"), ("export", "r", "--format", "jsonl"),
    ("plot", "r", "good"),
)  # fmt: skip
"""Commands that read a run."""

FILES = (
    "events.jsonl",
    "results.json",
    "verdicts.jsonl",
    "timings.jsonl",
    "calls.jsonl",
    "environment.json",
    "judgements.jsonl",
)

PREDICTIONS = {
    ("score", "counting-stars"): [
        {"answer": "[1, 2]", "reference_counting_results": [1, 2], "context_size": 1000} for _ in range(3)
    ],
    ("score", "infinitebench", "--task", "passkey"): [
        {"id": n, "prediction": "71432", "ground_truth": ["71432"]} for n in range(3)
    ],
}

TOML = """about = "Where somebody parked."
skills = ["recall"]
[choices]
place = ["north", "south", "east", "west"]
[[messages]]
say = "I parked in the {place}."
[[messages]]
ask = "Where did I park? One word, please."
expect = { names = "{place}", among = "place" }
"""


class Attack(NamedTuple):
    """A command, and a description of the damage to its input."""

    kind: str
    what: str
    words: tuple[str, ...]


class Ground:
    """A folder with a valid run, from which every attack starts."""

    def __init__(self, place: Path, seed: int) -> None:
        self.place, self.dice = place, random.Random(seed)
        run = ("--span", "2k", "--suite", "smoke", "--examples", "1", "--agent", "goldfish")
        call(place, ("run", *run, "--name", "good"))
        (place / "reports" / "good" / "judgements.jsonl").write_bytes(
            b'{"example":"colours/0","turn":3,"reply":"0123456789abcdef","opinions":[]}\n'
        )
        call(place, ("bundle", "good", "-o", "good.zip"))
        self.bundle = (place / "good.zip").read_bytes()

    def fresh(self) -> Path:
        """Return a copy of the valid run."""
        run = self.place / "reports" / "r"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(self.place / "reports" / "good", run)
        return run

    def file(self) -> Attack:
        """Change a file of a run."""
        run = self.fresh()
        name = self.dice.choice((*FILES, *FILES[:2]))
        what, content = changed(self.dice, (run / name).read_bytes())
        (run / name).write_bytes(content)
        if self.dice.random() < 0.5:
            for derived in ("results.json", "verdicts.jsonl"):
                if derived != name and self.dice.random() < 0.5:
                    (run / derived).unlink()
        return Attack("file of a run", f"{name}: {what}", self.dice.choice(READERS))

    def zip(self) -> Attack:
        """Change a bundle, or its contents."""
        path = self.place / "b.zip"
        if self.dice.random() < 0.5:
            what, content = changed(self.dice, self.bundle)
            path.write_bytes(content)
            return Attack("zip", what, ("verify", "b.zip"))
        with zipfile.ZipFile(io.BytesIO(self.bundle)) as good, zipfile.ZipFile(path, "w") as bad:
            victim = self.dice.choice(good.namelist())
            what = "nothing"
            for name in good.namelist():
                content = good.read(name)
                if name == victim:
                    what, content = changed(self.dice, content)
                    how = self.dice.choice(
                        ("", "", "../x", "good/\x1b[2J", "/etc/x", "good/agent/" + "x" * 300)
                    )
                    name = how or name
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    bad.writestr(name, content, self.dice.choice((0, 8, 12, 14)))
        return Attack("zip", f"{victim}: {what}", ("verify", "b.zip"))

    def toml(self) -> Attack:
        """Change a configuration or a scenario."""
        deep = self.dice.choice(
            (
                "a = " + "[" * DEEP,
                "a = " + "{a=" * DEEP,
                "a = " + "9" * 50_000,
                ".".join(["a"] * 50_000) + " = 1",
                "[" + ".".join(["a"] * 5_000) + "]",
                "a = 1e999\nb = 9999-12-31T23:59:59Z",
                "a = '''" + "x" * 2_000_000 + "'''",
                "[[a]]\n" * 5_000,
                "",
            )
        )
        name, good, words = self.dice.choice(
            (
                (
                    "scenarios/parking.toml",
                    TOML,
                    ("run", "--span", "2k", "--scenario", "parking", "--agent", "goldfish"),
                ),
                ("scenarios/parking.toml", TOML, ("list", "scenarios")),
                ("configs/agents.toml", "[mine]\nadapter = 'goldfish'\n", ("list", "agents")),
                ("configs/agents.toml", "[mine]\nadapter = 'goldfish'\n", ("run", "--agent", "mine")),
                ("configs/mine.toml", "about = 'x'\n[colours]\nexamples = 1\n", ("list", "suites")),
                (
                    "configs/mine.toml",
                    "[scenarios.colours]\n",
                    ("run", "--suite", "mine", "--agent", "goldfish"),
                ),
                ("sweep.toml", "agents = ['goldfish']\nspans = ['2k']\n", ("sweep", "sweep.toml")),
            )
        )
        what, content = changed(self.dice, good.encode())
        if self.dice.random() < 0.5:
            what, content = "deep or long", f"{good}\n{deep}\n".encode()
        for folder in ("scenarios", "configs"):
            shutil.rmtree(self.place / folder, ignore_errors=True)
        path = self.place / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return Attack("TOML", f"{name}: {what}", words)

    def predictions(self) -> Attack:
        """Change a file of predictions, or GoodAI's."""
        if self.dice.random() < 0.3:
            shutil.rmtree(self.place / "goodai", ignore_errors=True)
            definition = {"script": ["a", "b?"], "is_question": [False, True], "expected_responses": ["x"]}
            path = self.place / "goodai" / "definitions" / "2k" / "Colours" / "0.def.json"
            path.parent.mkdir(parents=True)
            what, content = changed(self.dice, json.dumps(definition).encode())
            path.write_bytes(content)
            turns = [["User", "2026-01-01", "a"], ["Agent", "2026-01-01", "b"]]
            row = {
                "benchmark": "2k", "agent": "x", "scenario": "Colours", "example": "0", "expected": ["x"], "score": 1,
                "turns": turns * 2,
            }  # fmt: skip
            said, content = changed(self.dice, json.dumps(row).encode() + b"\n")
            (self.place / "goodai" / "results-2k.jsonl").write_bytes(content)
            return Attack("import", f"{what}, {said}", ("import", "goodai", "goodai"))
        words, rows = self.dice.choice(list(PREDICTIONS.items()))
        lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        what, content = changed(self.dice, self.dice.choice((lines, json.dumps(rows).encode())))
        if self.dice.random() < 0.2:
            what, content = f"{what}, packed", gzip.compress(content)
        (self.place / "preds.jsonl").write_bytes(content)
        return Attack("predictions", what, (*words, "preds.jsonl"))

    def reply(self) -> Attack:
        """Make a provider answer with damaged data."""
        shutil.rmtree(self.place / "reports" / "a", ignore_errors=True)
        words = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "a")
        name = self.dice.choice(("openai_chat", "openai_responses", "anthropic_chat"))
        settings = ("--agent", name, "-A", "model=m", "-A", "max_retries=0", "-A", "timeout=5")
        return Attack("answer of a provider", name, (*words, *settings))

    def attack(self, only: str = "") -> Attack:
        """Prepare the next attack."""
        ways = {"file": 5, "zip": 2, "toml": 2, "predictions": 2, "reply": 1}
        ways = {only: 1} if only else ways
        way: Callable[[], Attack] = getattr(self, self.dice.choices(list(ways), list(ways.values()))[0])
        return way()


def call(place: Path, words: tuple[str, ...]) -> tuple[str, BaseException | None]:
    """Call a command in this process; return its output, and the error caught as a last resort."""
    caught: list[BaseException] = []
    said = io.StringIO()

    def net(error: BaseException) -> int:
        caught.append(error)
        return 1

    with (
        contextlib.chdir(place),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        mock.patch.object(cli, "_caught", net),
        mock.patch.object(sys, "argv", ["ltm-bench", *words]),
        mock.patch.object(sys, "stdin", io.StringIO()),
        warnings.catch_warnings(),
        contextlib.suppress(SystemExit),
    ):
        cli.main()
    return said.getvalue(), caught[0] if caught else None


def perform(ground: Ground, attack: Attack) -> tuple[str, BaseException | None]:
    """Execute an attack."""
    if attack.kind != "answer of a provider":
        return call(ground.place, attack.words)
    with provider() as server:
        server.edit = lambda body: replaced(ground.dice, body)
        url = server.url if attack.what == "anthropic_chat" else server.openai_url
        return call(ground.place, (*attack.words, "--base-url", url))
