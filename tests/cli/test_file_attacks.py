"""Files that say what nobody writes: each command ends with an ordinary code, in its own words.

A case is a file, a way to spoil it, and a command that reads it, drawn by number. All of them take minutes; the quick
test takes one in nine.
"""

import gzip
import json
import os
import random
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests import sets
    from tests.attacks import complaint
    from tests.conftest import Command
    from tests.finished import Finished
else:
    import sets
    from attacks import complaint

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

CASES = 400
SECONDS = 20.0
"""Processor time that one command may take: what else the machine does is not counted."""

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 10**400, -(10**25), 1e308, float("nan"), float("inf"), "", " ", "\u0000", "\ud800",
    "\u202e", "\x1b[2J", "../../../etc/passwd", "9999-12-31T23:59:59Z", "-0001-01-01", "{0.__class__}", "%s%n",
    [], {}, [[]], {"": {}}, ["x"] * 1000, {"a": [None]}, "x" * 70_000, "１２", "sk-0123456789abcdefghijklmn",
]  # fmt: skip
DEEP = "[" * 4000 + "]" * 4000

Spoil = Callable[[bytes, random.Random], bytes]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of everything inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, each in inner for found in ((*at, key), *places(each, (*at, key)))]


def documents(content: bytes) -> tuple[list[Any], bool]:
    """Return the values in a file of JSON, and whether each has a line of its own."""
    text = content.decode()
    try:
        return [json.loads(text)], False
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()], True


def written(values: list[Any], lines: bool) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" * lines for each in values)


def change(content: bytes, dice: random.Random, how: Callable[[Any, Any], None]) -> bytes:
    """Do something to one place of one value."""
    values, lines = documents(content)
    value = dice.choice(values)
    if found := places(value):
        *way, last = dice.choice(found)
        for key in way:
            value = value[key]
        how(value, last)
    return written(values, lines)


def _other(content: bytes, dice: random.Random) -> bytes:
    return change(content, dice, lambda inside, key: inside.__setitem__(key, dice.choice(ODD)))


def _missing(content: bytes, dice: random.Random) -> bytes:
    return change(content, dice, lambda inside, key: inside.__delitem__(key))


def _wrapped(content: bytes, dice: random.Random) -> bytes:
    return change(content, dice, lambda inside, key: inside.__setitem__(key, [inside[key]]))


def _as_text(content: bytes, dice: random.Random) -> bytes:
    return change(content, dice, lambda inside, key: inside.__setitem__(key, json.dumps(inside[key])))


def _surplus(content: bytes, dice: random.Random) -> bytes:
    def add(inside: Any, key: Any) -> None:
        if isinstance(inside, dict):
            inside["__class__"] = inside[f"{key} "] = dice.choice(ODD)
        else:
            inside.append(dice.choice(ODD))

    return change(content, dice, add)


def _all_of_a_name(content: bytes, dice: random.Random) -> bytes:
    """Every value of one name is something else."""
    values, lines = documents(content)
    names = [way[-1] for each in values for way in places(each) if isinstance(way[-1], str)] or [""]
    name, odd = dice.choice(names), dice.choice(ODD)

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: odd if key == name else walk(each) for key, each in value.items()}
        return [walk(each) for each in value] if isinstance(value, list) else value

    return written([walk(each) for each in values], lines)


def _deep(content: bytes, dice: random.Random) -> bytes:
    mark = "a mark that is replaced"
    spoilt = change(content, dice, lambda inside, key: inside.__setitem__(key, mark))
    return spoilt.replace(f'"{mark}"'.encode(), DEEP.encode(), 1)


def _twice(content: bytes, dice: random.Random) -> bytes:
    """A key comes twice in one object."""
    at = [place for place in range(len(content)) if content[place : place + 2] == b'{"'] or [0]
    place = dice.choice(at)
    return content[: place + 1] + b'"format": 7, "id": [], "event": "asked", ' + content[place + 1 :]


def _lines(content: bytes, dice: random.Random) -> bytes:
    """Lines that are moved, doubled or left out."""
    lines = content.splitlines(keepends=True)
    for _ in range(3):
        one, two = dice.randrange(len(lines)), dice.randrange(len(lines))
        match dice.randrange(3):
            case 0:
                lines[one], lines[two] = lines[two], lines[one]
            case 1:
                lines.insert(two, lines[one])
            case _:
                lines = lines[:one] + lines[one + 1 :] or [b"\n"]
    return b"".join(lines)


def _bits(content: bytes, dice: random.Random) -> bytes:
    spoilt = bytearray(content)
    for _ in range(dice.choice((1, 8, 64))):
        spoilt[dice.randrange(len(spoilt))] ^= 1 << dice.randrange(8)
    return bytes(spoilt)


SPOILT: dict[str, Spoil] = {
    "another value": _other,
    "a value is missing": _missing,
    "a value in a list": _wrapped,
    "a value as text": _as_text,
    "a surplus key": _surplus,
    "one name throughout": _all_of_a_name,
    "nested": _deep,
    "a key twice": _twice,
    "other lines": _lines,
    "bits": _bits,
    "cut": lambda content, dice: content[: dice.randrange(len(content))],
    "cut at the front": lambda content, dice: content[dice.randrange(len(content)) :],
    "empty": lambda _, dice: dice.choice((b"", b"\n", b" ", b"\0", b"null", b"[]", b"{}", b'""', b"0")),
    "UTF-16": lambda content, dice: content.decode().encode(dice.choice(("utf-16", "utf-16-be", "utf-32"))),
    "Latin-1": lambda content, _: content.replace(b'": "', b'": "\xe9\xff', 5),
    "marks and ends of lines": lambda content, dice: dice.choice(
        (
            b"\xef\xbb\xbf" + content,
            content.replace(b"\n", b"\r"),
            content.replace(b"\n", b"\r\n"),
            content.replace(b"\n", "\u2028".encode()),
            content.replace(b", ", b",\0"),
        )
    ),
    "packed": lambda content, _: gzip.compress(content),
    "a zip": lambda content, _: b"PK\x03\x04" + content,
    "one line": lambda content, _: content.replace(b"\n", b" "),
    "digits": lambda content, dice: content.replace(
        str(dice.randrange(10)).encode(), dice.choice((b"1" * 5000, b"-", b"1e999", b"0x1", "٣".encode()))
    ),
}


def _as_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_a_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _as_a_link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("../nothing/here")


def _as_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _as_a_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


PUT: dict[str, Callable[[Path], None]] = {
    "a folder": _as_a_folder,
    "a loop of links": _as_a_loop,
    "a link to nothing": _as_a_link_to_nothing,
    "a pipe": _as_a_pipe,
    "a device": _as_a_device,
}

RUN_FILES = (
    "events.jsonl events.jsonl results.json asked.json timings.jsonl environment.json verdicts.jsonl "
    "judgements.jsonl overrides.jsonl audit.jsonl blind.jsonl gateway.jsonl calls.jsonl"
).split()
RUN_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("report", "r"),
    ("show", "r"),
    ("compare", "r", "--json"),
    ("export", "r", "--format", "csv"),
    ("export", "r", "--format", "inspect"),
    ("export", "r", "--format", "otel"),
    ("export", "r", "--format", "junit"),
    ("export", "r", "--format", "operations"),
    ("verify", "r"),
    ("bundle", "r"),
    ("rescore", "r"),
    ("list", "runs"),
    ("resume", "r"),
    ("control", "r", "--control", "blind"),
    ("compare", "r", "-o", "page.html"),
    ("plot", "r", "-o", "r.svg"),
)
ABOUT = {"example": "colours/0", "turn": 3, "reply": "0123456789abcdef"}
SAID = {
    "judge": "j",
    "key": "k",
    "rubric": "r",
    "prompt": "p",
    "answer": "a",
    "outcome": "correct",
    "reason": "y",
    "score": 1,
}
SIDE: dict[str, dict[str, Any]] = {
    "judgements.jsonl": {**ABOUT, "opinions": [SAID]},
    "overrides.jsonl": {
        **ABOUT, "outcome": "correct", "score": 1, "reviewer": "z", "reason": "y", "was": "wrong", "was_score": 0
    },
    "blind.jsonl": {**ABOUT, "opinions": [SAID], "form": "names", "version": 1},
    "audit.jsonl": {**ABOUT, "line": "reading", "auditor": "z", "key": "k", "outcome": "correct", "reason": "y"},
    "gateway.jsonl": {"call": 1, "conversation": "r", "model": "gpt-6-luna", "reserved": 0.1, "status": 200},
    "calls.jsonl": {
        "turn": 3, "role": "agent", "ending": "stop", "usage": {"output": 5, "model": "m"}, "dollars": 0.1, "sent": 9
    },
}  # fmt: skip
ANSWERS = [
    {
        "question_id": f"q{number:03}",
        "question": f"Which flowers did I plant in garden {number}?",
        "hypothesis": "Roses.",
    }
    for number in range(6)
]  # fmt: skip
VOTES = [
    {
        "question": f"What is boat {number} called?",
        "answer": "Heron",
        "category": number % 4 + 1,
        "prediction": "The Heron.",
        "label": "CORRECT",
        "judgment": True,
        "human": 1,
    }
    for number in range(6)
]
COUNTS = [{"answer": "[1, 2]", "reference_counting_results": [1, 2], "context_size": 1000} for _ in range(3)]
PASSKEYS = [{"id": n, "prediction": "71432", "ground_truth": ["71432"]} for n in range(3)]
GOODAI = {
    "definitions/2k/Colours/0.def.json": {
        "script": ["I like red.", "What do I like?"], "is_question": [False, True], "expected_responses": ["Red"]
    },
    "results-2k.jsonl": {
        "benchmark": "2k", "agent": "x", "scenario": "Colours", "example": "0", "expected": ["Red"], "score": 1,
        "turns": [
            [("User", "Agent")[n % 2], "2026-01-01", text]
            for n, text in enumerate(("I like red.", "Fine.", "What do I like?", "Red."))
        ],
    },
}  # fmt: skip
MARKED = ("--told", "0", "--asked", "1", "--right", "Ghent", "--wrong", "Lima")
TALK = ("I live in Ghent.", "Noted.", "Where do I live?", "In Lima.")
CHAT = [{"role": role, "content": text} for role, text in zip(("user", "assistant") * 2, TALK, strict=True)]
SUITE = b"examples = 2\n[scenarios.colours]\nexamples = 1\n[scenarios.jokes]\n[scenarios.shopping_list]\n"
CONFIG = b'agent = "parrot"\nsuite = "smoke"\nspan = "2k"\nexamples = 1\n[settings]\n[parameters.colours]\n'
SWEEP = b'agents = ["parrot"]\nspans = ["2k"]\nseeds = [0]\nsuites = ["smoke"]\nexamples = 1\n'
PRESETS = b'[mine]\nadapter = "openai_chat"\nmodel = "gpt-6-luna"\nmax_retries = 1\nwindow = 16000\n'
TOWN = min((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
RUN = ("run", "--span", "2k", "--examples", "1", "--agent")


LONG = (
    "a = " + "[" * 3000,
    "a = " + "{a=" * 3000,
    "a = " + "9" * 50_000,
    ".".join(["a"] * 50_000) + " = 1",
    "[" + ".".join(["a"] * 5000) + "]",
    "a = '''" + "x" * 2_000_000 + "'''",
    "[[a]]\n" * 5000,
)
"""Ends of a TOML file that are deep or long."""


def toml(content: bytes, dice: random.Random) -> bytes:
    """Spoil TOML: another value, a key twice, or what bytes allow."""
    lines = content.decode().splitlines()
    at = dice.randrange(len(lines))
    key = lines[at].partition(" = ")[0]
    odd = dice.choice(
        ("[]", "{}", "-1", "1e999", "nan", "inf", '""', "1979-05-27", "07:32:00", "[[1]]", "true", "9" * 30,
         '"\\u0000"',
         "'../../x'", '"' + "y" * 60_000 + '"', "[" * 900 + "]" * 900, "{a.b.c = 1}", '"\\u202e"', "= ", "0x10")
    )  # fmt: skip
    match dice.randrange(7):
        case 0 | 1 | 2:
            lines[at] = (
                f"{key} = {odd}" if "=" in lines[at] else lines[at].replace("[", "[[").replace("]", "]]")
            )
        case 3:
            lines.insert(at, lines[at])
        case 4:
            lines.insert(at, f"{dice.choice(('unknown', '__class__', '%s'))} = {odd}")
        case 5:
            lines.append(dice.choice(LONG))
        case _:
            return _bits(content, dice)
    return "\n".join(lines).encode()


class Place:
    """A folder with one of each file that somebody may spoil."""

    def __init__(self, home: Path, finished: Path, bundle: bytes) -> None:
        self.home = home
        shutil.copytree(finished, home / "reports" / "r", copy_function=shutil.copyfile)
        for path in (home / "reports" / "r", *(home / "reports" / "r").rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        for name, row in SIDE.items():
            (home / "reports" / "r" / name).write_text(json.dumps(row) + "\n", "utf-8")
        for folder in ("configs", "scenarios"):
            (home / folder).mkdir()
        (home / "configs" / "mine.toml").write_bytes(SUITE)
        (home / "configs" / "agents.toml").write_bytes(PRESETS)
        shutil.copyfile(TOWN, home / "scenarios" / "town.toml")
        (home / "run.toml").write_bytes(CONFIG)
        (home / "sweep.toml").write_bytes(SWEEP)
        (home / "bundle.zip").write_bytes(bundle)
        (home / "chat.json").write_text(json.dumps(CHAT), "utf-8")
        for name, rows in (("answers", ANSWERS), ("counts", COUNTS), ("passkeys", PASSKEYS)):
            (home / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
        for name, content in GOODAI.items():
            (home / "goodai" / name).parent.mkdir(parents=True, exist_ok=True)
            (home / "goodai" / name).write_text(json.dumps(content) + "\n", "utf-8")
        (home / "votes.json").write_text(json.dumps(VOTES), "utf-8")
        sets.locomo(home / "locomo.json")
        sets.longmemeval(home / "longmemeval.json", 6)
        sets.facts(home / "facts.json")
        for name, write in (("beam", sets.beam), ("gatemem", sets.gatemem), ("personamem", sets.personamem)):
            (home / name).mkdir()
            write(home / name)

    def case(self, number: int) -> tuple[str, tuple[str, ...]]:
        """Spoil something; return its name and the command that reads it."""
        dice = random.Random(f"files {number}")
        kind = number % 10
        if kind < 5:
            name = RUN_FILES[number // 10 % len(RUN_FILES)]
            path, words = self.home / "reports" / "r" / name, dice.choice(RUN_COMMANDS)
            if words[0] == "resume":  # there is something left to do
                log = self.home / "reports" / "r" / "events.jsonl"
                log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:60]))
        elif kind < 8:
            file, words = dice.choice(self._others())
            path = self.home / file
            if path.is_dir():
                path = dice.choice(sorted(each for each in path.rglob("*") if each.is_file()))
        elif kind == 8:
            file, words = dice.choice(self._tomls())
            (self.home / file).write_bytes(toml((self.home / file).read_bytes(), dice))
            return f"{file}: TOML", words
        else:
            return self._bundle(dice), ("verify", "bundle.zip")
        if dice.random() < 0.12:
            how, put = dice.choice(list(PUT.items()))
            put(path)
        else:
            how, spoil = dice.choice(list(SPOILT.items()))
            try:
                path.write_bytes(spoil(path.read_bytes(), dice))
            except (ValueError, TypeError):  # this file is not JSON: its bytes are spoilt instead
                how = "bits"
                path.write_bytes(_bits(path.read_bytes(), dice))
        return f"{path.relative_to(self.home)}: {how}", words

    def _others(self) -> list[tuple[str, tuple[str, ...]]]:
        answers = "answers.jsonl"
        return [
            ("locomo.json", ("datasets", "show", "locomo", "--data", "locomo.json")),
            ("locomo.json", ("datasets", "audit", "locomo.json")),
            ("locomo.json", (*RUN, "parrot", "--suite", "locomo", "--data", "locomo.json")),
            ("longmemeval.json", ("datasets", "show", "longmemeval-oracle", "--data", "longmemeval.json")),
            ("longmemeval.json", ("score", "longmemeval", answers, "--data", "longmemeval.json")),
            (answers, ("score", "longmemeval", answers, "--data", "longmemeval.json", "--json")),
            (answers, ("score", "panel", answers, "--data", "longmemeval.json")),
            (answers, ("score", "published", answers, "--data", "longmemeval.json")),
            ("votes.json", ("score", "locomo", "votes.json")),
            ("votes.json", ("score", "panel", "votes.json")),
            ("locomo.json", ("score", "locomo", "votes.json", "--data", "locomo.json")),
            ("votes.json", ("score", "panel", "votes.json", "--wrong", "votes.json", "--json")),
            ("facts.json", ("datasets", "audit", "facts.json")),
            ("facts.json", ("score", "factconsolidation", answers, "--data", "facts.json")),
            ("beam", ("datasets", "audit", "beam")),
            ("beam", ("datasets", "show", "beam-100k", "--data", "beam")),
            ("gatemem", (*RUN, "parrot", "--suite", "gatemem", "--data", "gatemem")),
            ("gatemem", ("datasets", "audit", "gatemem")),
            ("personamem", ("datasets", "show", "personamem-32k", "--data", "personamem")),
            ("counts.jsonl", ("score", "counting-stars", "counts.jsonl")),
            ("passkeys.jsonl", ("score", "infinitebench", "--task", "passkey", "passkeys.jsonl")),
            ("goodai", ("import", "goodai", "goodai")),
            ("chat.json", ("new", "scenario", "mine", "--from", "chat.json", *MARKED)),
        ]  # fmt: skip

    def _tomls(self) -> list[tuple[str, tuple[str, ...]]]:
        return [
            ("configs/mine.toml", (*RUN, "parrot", "--suite", "mine")),
            ("configs/mine.toml", ("list", "suites")),
            ("configs/agents.toml", ("list", "agents")),
            ("configs/agents.toml", ("estimate", "--agent", "mine", "--span", "2k", "--suite", "smoke")),
            ("scenarios/town.toml", ("check", "scenarios/town.toml")),
            ("scenarios/town.toml", (*RUN, "parrot", "--scenario", "town")),
            ("run.toml", ("run", "--config", "run.toml")),
            ("sweep.toml", ("sweep", "sweep.toml")),
        ]

    def _bundle(self, dice: random.Random) -> str:
        path = self.home / "bundle.zip"
        if dice.random() < 0.3:
            path.write_bytes(
                dice.choice((_bits, SPOILT["cut"], SPOILT["cut at the front"]))(path.read_bytes(), dice)
            )
            return "bundle.zip: its bytes"
        with zipfile.ZipFile(path) as old:
            members = {each.filename: old.read(each) for each in old.infolist()}
        name = dice.choice(sorted(members))
        try:
            how, spoil = dice.choice(list(SPOILT.items()))
            members[name] = spoil(members[name], dice)
        except (ValueError, TypeError, UnicodeDecodeError):
            how = "bits"
            members[name] = _bits(members[name], dice)
        with zipfile.ZipFile(path, "w", dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as new:
            for each, content in members.items():
                new.writestr(each, content)
            if dice.random() < 0.2:
                new.writestr(
                    dice.choice(("../../x", "/etc/x", "C:\\x", "a" * 300, "events.jsonl/x", "")) or "x", b"y"
                )
        return f"bundle.zip, {name}: {how}"


@pytest.fixture
def assault(
    command: "Command", finished: "Finished", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], str]:
    """Carry out a case; return what was wrong, or nothing."""
    run = finished("parrot", suite="smoke", examples=1)
    (tmp_path / "first").mkdir()
    monkeypatch.chdir(tmp_path / "first")
    shutil.copytree(run, "reports/r", copy_function=shutil.copyfile)
    for path in (Path("reports/r"), *Path("reports/r").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert command("bundle", "r", "-o", "b.zip").exit_code == 0
    bundle = Path("b.zip").read_bytes()
    monkeypatch.setenv("OPENAI_API_KEY", "no-key")

    def one(number: int) -> str:
        home = tmp_path / f"case{number}"
        home.mkdir()
        monkeypatch.chdir(home)
        name, words = Place(home, run, bundle).case(number)
        begun = time.process_time()
        done = command(*words)
        took = time.process_time() - begun
        found = complaint(done.exit_code, done.out, done.err) or (
            f"{took:.0f} CPU s" if took > SECONDS else ""
        )
        if (tmp_path / "x").exists() or (tmp_path.parent / "x").exists():
            found = "a file outside of its folder"
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(home)
        return f"{number} {' '.join(words)}, {name}: {found}" if found else ""

    return one


@pytest.mark.slow
def test_one_in_nine_spoilt_files_is_survived_in_our_own_words(assault: Callable[[int], str]) -> None:
    assert [found for number in range(0, CASES, 9) if (found := assault(number))] == []


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_four_hundred_spoilt_files_are_survived_in_our_own_words(assault: Callable[[int], str]) -> None:
    assert [found for number in range(CASES) if (found := assault(number))] == []
