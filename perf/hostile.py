"""Hostile files and answers: does any of them reach the command line's last resort, or hang it?

    python -m perf.hostile [--inputs 2000] [--seed 0] [--only zip]

Every input is a valid file, bundle, configuration or provider's answer, damaged by dice: cut, bytes changed, a value in
its JSON replaced by one of another type, size or depth, lines lost, doubled or swapped. A command that reads it is
called in this process. It may succeed, or complain in one line; it must not reach the handler in `ltm_bench.cli` that
catches unexpected errors as a last resort. The table shows how many of each kind were tried and survived, and which
were not.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from ltm_bench import cli
from ltm_bench.adapters.testing import provider

SLOW = 20.0
"""Maximum seconds of a command."""

DEEP = 3_000

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**53, 2**63, 2**64, 10**300, 10**400, -(10**400), 0.5, -0.0, 1e308, float("inf"),
    float("nan"), "", "x", "\ud800", "\x00\x1b[2J", "9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59-23:00",
    "0001-01-01T00:00:00+14:00", "2026-01-05T09:00:00", "2026-13-45", "1e999", "a/b/0", "colours/0", "../../etc",
    [], [[]], [None], [[1, 2], [3]], {}, {"": ""}, {"matcher": []}, {"matcher": "Names", "version": 10**30}, "[" * 50,
    "x" * 100_000,
)  # fmt: skip
"""Replacements for a value."""

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
tell = "I parked in the {place}."
[[messages]]
ask = "Where did I park? One word, please."
expect = { one_of = "place" }
"""


class Attack(NamedTuple):
    """A command, and a description of the damage to its input."""

    kind: str
    what: str
    words: tuple[str, ...]


def replaced(dice: random.Random, value: Any) -> Any:
    """Return a JSON value with one of its values replaced."""
    places: list[tuple[Any, Any]] = []

    def walk(each: Any) -> None:
        if isinstance(each, dict | list):
            for key in each if isinstance(each, dict) else range(len(each)):
                places.append((each, key))
                walk(each[key])

    walk(value)
    if not places:
        return dice.choice(VALUES)
    holder, key = dice.choice(places)
    if dice.random() < 0.15 and isinstance(holder, dict):
        del holder[key]
    elif dice.random() < 0.15:
        holder[key] = _DEEP
    else:
        holder[key] = dice.choice(VALUES)
    return value


_DEEP = "\ue000deep\ue000"


def dumped(dice: random.Random, value: Any) -> bytes:
    """Return JSON in which the placeholder for depth is expanded, which json itself could not write."""
    with _no_limit():
        text = json.dumps(value)
    opening = dice.choice(("[", '{"besides":[', '{"a":'))
    closing = {"[": "]", '{"besides":[': "]}", '{"a":': "}"}[opening]
    depth = dice.choice((50, 150, DEEP))
    return text.replace(json.dumps(_DEEP), opening * depth + "1" + closing * depth).encode("utf-8", "replace")


@contextlib.contextmanager
def _no_limit() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def changed(dice: random.Random, content: bytes) -> tuple[str, bytes]:
    """Damage a file; return a description and the file."""
    match dice.randrange(8):
        case 0:
            return "cut", content[: dice.randrange(len(content) + 1)]
        case 1:
            changed = bytearray(content or b"x")
            for _ in range(dice.choice((1, 3, 40))):
                changed[dice.randrange(len(changed))] = dice.randrange(256)
            return "bytes changed", bytes(changed)
        case 2:
            return "nonsense", dice.randbytes(dice.choice((0, 1, 300)))
        case 3:
            return "deep", dice.choice((b"[", b'{"a":', b'[{"b":')) * DEEP
        case 4:
            lines = content.splitlines(keepends=True) or [b""]
            for _ in range(dice.randrange(1, 4)):
                lines.insert(dice.randrange(len(lines) + 1), lines[dice.randrange(len(lines))])
            return "lines doubled", b"".join(lines)
        case _:
            lines = content.splitlines(keepends=True)
            jsonl = len(lines) > 1 and content.startswith(b'{"')
            n = dice.randrange(len(lines)) if lines and jsonl else 0
            part = lines[n] if jsonl else content
            try:
                part = dumped(dice, replaced(dice, json.loads(part)))
            except ValueError:
                return "nothing", content
            if not jsonl:
                return "a value replaced", part
            lines[n] = part + b"\n"
            return "a value replaced", b"".join(lines)


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


class Tally(NamedTuple):
    """The results of many attacks."""

    tried: Counter[str]
    fallen: list[tuple[Attack, str]]


def siege(inputs: int, seed: int, only: str = "") -> Tally:
    """Execute this many attacks."""
    tried: Counter[str] = Counter()
    fallen = []
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(
            os.environ, {"OPENAI_API_KEY": "no-key", "ANTHROPIC_API_KEY": "no-key", "NO_PROXY": "127.0.0.1"}
        ),
    ):
        ground = Ground(Path(folder), seed)
        for _ in range(inputs):
            attack = ground.attack(only)
            tried[attack.kind] += 1
            begun = time.perf_counter()
            said, caught = perform(ground, attack)
            seconds = time.perf_counter() - begun
            if caught is not None:
                last = traceback.extract_tb(caught.__traceback__)[-1]
                fallen.append(
                    (attack, f"{type(caught).__name__}: {caught!s:.100} at {last.filename}:{last.lineno}")
                )
            elif seconds > SLOW:
                fallen.append((attack, f"{seconds:.0f} s"))
            elif "Traceback (most recent" in said:
                fallen.append((attack, "a traceback"))
    return Tally(tried, fallen)


def main() -> None:
    """Print what was tried and what survived; exit with 1 if something did not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", choices=("file", "zip", "toml", "predictions", "reply"))
    options = parser.parse_args()
    tally = siege(options.inputs, options.seed, options.only)
    lost = Counter(attack.kind for attack, _ in tally.fallen)
    for kind, count in sorted(tally.tried.items()):
        print(f"{kind:22}  tried {count:5}  survived {count - lost[kind]:5}")
    print(f"{'all':22}  tried {tally.tried.total():5}  survived {tally.tried.total() - len(tally.fallen):5}")
    for attack, why in tally.fallen:
        print(f"  {attack.kind}, {attack.what}: {' '.join(attack.words)}: {why}")
    sys.exit(1 if tally.fallen else 0)


if __name__ == "__main__":
    main()
