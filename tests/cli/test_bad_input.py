"""Bad input gives one line that says what, where and which value, and exit code 1; nothing is written.

Each row of the table holds the words typed, the existing files, and the text that the line must contain.
"""

import errno
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

ODD = ("a/b", "..", "a\nb", "a\x00b", "[x]", "a ", "a" * 300, "\u202ea")
"""Names that no folder, file or agent here has."""

Files = dict[str, str | bytes]
RUN = ("run", "--span", "2k", "--agent", "perfect", "--suite", "smoke", "--examples", "1")
SUITE = (*RUN[:5], "--suite", "mine")
SCENARIO = (*RUN[:5], "--scenario", "mine")
AGENT = ("run", "--span", "2k", "--suite", "smoke", "--agent", "mine")
PRESET = ("run", "--span", "2k", "--suite", "smoke", "--agent", "x")
MANIFEST = '{"event":"manifest","format":1}\n'


def suite(text: str) -> Files:
    return {"configs/mine.toml": text}


def presets(text: str) -> Files:
    return {"configs/agents.toml": text}


def scenario(
    body: str, head: str = "from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario\n"
) -> Files:
    return {"scenarios/mine.py": f'"""Mine."""\n{head}{body}'}


def recipe(text: str) -> Files:
    return {"scenarios/mine.toml": text}


def agent(body: str) -> Files:
    return {"agents/mine.py": f'"""Mine."""\nfrom ltm_bench import Agent, Message, Reply\n{body}'}


def log(text: str | bytes) -> Files:
    return {"reports/r/events.jsonl": text}


def yielding(line: str) -> Files:
    """Return a scenario that yields a line before a question."""
    head = "from datetime import timedelta\nfrom ltm_bench import *\n"
    ask = "yield Ask('Which?', expect=names_only('red', among=('red', 'blue')), at=1.0)"
    return scenario(f"@scenario(skills={{'recall'}})\ndef mine(dice):\n    yield {line}\n    {ask}", head)


YIELDED = [
    ("Tell('x', at='x')", "at='x'; it must be a number from 0 to 1"),
    ("Tell('x', user=5)", "user=5; it must be a string"),
    ("Tell('x', ideal=5)", "ideal=5; it must be a string"),
    ("Tell('x', facts=5)", "facts=5; it must be a tuple"),
    ("Tell('x', facts=(5,))", "facts=(5,); each must be a Fact"),
    ("Tell(lambda at: 5)", "returns is 5; it must be a string"),
]

TOO_LATE = yielding("Tell('x', after=timedelta(days=4_000_000))")

FROM = ("new", "scenario", "mine", "--from")
CHAT = '[{"role": "user", "content": "It is red."}, {"role": "user", "content": "Which?"}]'
GOOD = 'about = "x"\nskills = ["recall"]\n[[messages]]\nsay = "a"\nat = 0.0\n'

TABLE: list[tuple[tuple[str, ...], Files, tuple[str, ...]]] = [
    # flags
    (("run", "--span", "2q"), {}, ("--span 2q", "2k")),
    (("run", "--span", "0"), {}, ("--span 0",)),
    (("run", "--span", "-5"), {}, ("--span -5",)),
    (("run", "--span", "99999M"), {}, ("--span 99999M",)),
    (("run", "--span", "100", "--agent", "perfect"), {}, ("span", "100")),
    ((*RUN, "--config", "c.toml"), {"c.toml": "seed = [1]"}, ("c.toml", "seed = [1]", "single value")),
    (("view", "--port", "99999"), {}, ("--port 99999", "65535")),
    *(
        ((*words, value), {}, (f"{words[-1]} {value}", "whole number"))
        for words in (("gateway", "--port"), (*RUN, "--gateway", "--gateway-port"))
        for value in ("65536", "-1", "http", "80.5")
    ),
    ((*RUN, "--gateway-port", "7751"), {}, ("--gateway-port", "add --gateway")),
    (("run", "--suite", "standart"), {}, ("unknown suite 'standart'", "'standard'")),
    (("run", "--agent", "perfekt"), {}, ("unknown agent 'perfekt'", "'perfect'")),
    (("run", "--scenario", "colors"), {}, ("colors", "'colours'")),
    (("run", "--examples", "none"), {}, ("--examples none",)),
    (("run", "--examples", "0"), {}, ("--examples 0",)),
    (("run", "--repeats", "0"), {}, ("--repeats 0",)),
    (("run", "--repeats", "1000000000"), {}, ("--repeats 1000000000", "at most 1,000")),
    (
        ("sweep", "--agent", "goldfish", "--repeats", "1000000000"),
        {},
        ("--repeats 1000000000", "at most 1,000"),
    ),
    (("run", "--seed", "1.5"), {}, ("--seed 1.5",)),
    (("run", "--otel", "localhost:4318"), {}, ("--otel localhost:4318", "such as http://localhost:4318")),
    (("run", "--seed", "train:x"), {}, ("--seed train:x", "train:17 for a training seed")),
    (("run", "--max-cost", "lots"), {}, ("--max-cost lots",)),
    (("run", "--max-cost", "-1"), {}, ("--max-cost -1",)),
    (("run", "--fail-under", "good"), {}, ("--fail-under good",)),
    (("run", "--max-drop", "2"), {}, ("--max-drop 2",)),
    ((*RUN, "--baseline", "nothing"), {}, ("nothing",)),
    ((*RUN, "--judge", "nobody"), {}, ("unknown judge 'nobody'",)),
    ((*RUN, "--tokenizer", "cl100k"), {}, ("--tokenizer cl100k", "cl100k_base")),
    ((*RUN, "--filler", "loud"), {}, ("--filler loud",)),
    ((*RUN, "--filler", "triviaqa:none.json"), {}, ("none.json", "No such file")),
    ((*RUN, "--name", "../out"), {}, ("--name ../out",)),
    ((*RUN, "--name", "a b"), {}, ("--name a b",)),
    ((*RUN, "--name", ".hidden"), {}, ("--name .hidden", "begin with a letter or digit")),
    ((*RUN, "--name", ""), {}, ("--name",)),
    *(((*RUN, "--name", name), {}, ("--name",)) for name in ODD),
    *((("run", "--suite", name), {}, ("unknown suite",)) for name in ODD),
    *((("run", "--agent", name), {}, ("unknown agent",)) for name in ODD),
    *((("run", "--agent", "perfect", "--scenario", name), {}, ("scenario",)) for name in ODD),
    *(((verb, name), {}, ()) for verb in ("show", "resume", "verify", "report") for name in ODD),
    ((*RUN, "--name", "ü"), {}, ("--name ü",)),
    ((*RUN, "-A", "pages"), {}, ("-A pages", "key=value")),
    ((*RUN, "-A", "pages=5"), {}, ("pages",)),
    ((*RUN, "-A", "api_key=x"), {}, ("api_key", "environment")),
    ((*RUN, "-P", "colours=1"), {}, ("-P colours=1",)),
    (("run", "--agent", "openai_chat", "-A", "model=m", "--base-url", "nowhere"), {}, ("nowhere",)),
    (("run", "--agent", "openai_chat"), {}, ("model",)),
    (("run", "--agent", "python:none:such"), {}, ("none",)),
    (("frobnicate",), {}, ("frobnicate",)),
    (("run", "--frob"), {}, ("--frob",)),
    # suites
    (SUITE, suite("about = "), ("mine.toml", "not valid TOML")),
    (SUITE, suite("abuot = 'x'\n[scenarios.colours]"), ("mine.toml", "abuot", "'about'")),
    (SUITE, suite("about = 'x'"), ("mine.toml", "scenarios")),
    (SUITE, suite("[colours]\nexamples = 2"), ("mine.toml", "unknown key 'colours'", "scenarios")),
    (SUITE, suite("[scenarios]"), ("mine.toml", "scenarios")),
    (SUITE, suite("[scenarios.colour]"), ("colour", "'colours'")),
    (SUITE, suite("[scenarios.colours]\nchangs = 1"), ("changs", "'changes'")),
    (SUITE, suite("[scenarios.colours]\nexamples = 0"), ("mine.toml", "examples = 0")),
    (SUITE, suite("examples = 'many'\n[scenarios.colours]"), ("mine.toml", "many")),
    (SUITE, suite("stagger = 2\n[scenarios.colours]"), ("mine.toml", "stagger", "2")),
    (SUITE, suite("start = 2026-01-05T09:00:00\n[scenarios.colours]"), ("mine.toml", "timezone")),
    (SUITE, suite("[scenarios.colours]\nleast_span = 'far'"), ("mine.toml", "least_span", "far")),
    (SUITE, suite("examples = true\n[scenarios.colours]"), ("mine.toml", "examples = true")),
    (SUITE, suite("start = 5\n[scenarios.colours]"), ("mine.toml", "start = 5")),
    *(
        (
            SUITE,
            suite(f"start = {start}\n[scenarios.colours]"),
            ("mine.toml: start = ", start[:10], "1000 to 8999"),
        )
        for start in ("9999-12-31T00:00:00Z", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+14:00")
    ),
    (
        SUITE,
        suite("start = 2026-01-05\n[scenarios.colours]"),
        ("start = 2026-01-05: write a time such as 2026-",),
    ),
    (SUITE, suite("start = true\n[scenarios.colours]"), ("start = true: write a time",)),
    *(
        (
            SUITE,
            suite(f"[scenarios.colours]\nchanges = {value}"),
            ("colours.changes=", "must be a whole number"),
        )
        for value in ('"x"', "true", "2.5", "[1]", "2026-01-01")
    ),
    (SUITE, suite("[scenarios.colours]\nchanges = nan"), ("colours.changes=nan: ", "a finite number")),
    (
        (*SUITE, "-P", "colours.changes=x"),
        suite("[scenarios.colours]"),
        ("colours.changes='x': ", "whole number"),
    ),
    (SUITE, suite("stagger = nan\n[scenarios.colours]"), ("mine.toml", "stagger")),
    (SUITE, suite("scenarios = 1"), ("mine.toml", "scenarios = 1", "a table")),
    (SUITE, suite("[scenarios.colours]\nexamples = 99999999"), ("colours", "99999999")),
    (SUITE, suite("[scenarios.'../x']"), ("mine.toml", "../x")),
    (SUITE, suite("[scenarios.colours]\nscenario = 1"), ("mine.toml", "scenario = 1")),
    (SUITE, suite("x = 1\nx = 2"), ("mine.toml", "not valid TOML")),
    (PRESET, presets("x = 1"), ("agents.toml", "x = 1", "a table")),
    (PRESET, presets("[x]\nadapter = 'nosuch'"), ("nosuch",)),
    (PRESET, presets("[x]\nadapter = '../../etc/passwd'"), ("../../etc/passwd",)),
    (PRESET, presets("[x]\nadapter = 'perfect'\npages = 1"), ("pages",)),
    (PRESET, presets("[x]\nadapter = 'openai_chat'\nmodel = 'm'\nwindow = 'x'"), ("window='x'",)),
    (PRESET, presets("[x]\nadapter = 'openai_chat'\nmodel = 'm'\ntimeout = nan"), ("timeout=nan",)),
    (PRESET, presets("[x]\nadapter = 'openai_chat'\nmodel = 'm'\ntemperature = inf"), ("temperature=inf",)),
    (PRESET, presets("[x]\nadapter = 'openai_chat'\nmodel = 'm'\napi_key = 'sk-planted'"), ("api_key",)),
    (PRESET, presets("[x]\nadapter = 'http'\nurl = 'http://u:sk-planted@h/'"), ("url", "environment")),
    (PRESET, presets("[x]\nadapter = 'command'\ncommand = ''"), ("command is empty",)),
    (SUITE, {"configs/mine.toml": b"\xff\xfe"}, ("mine.toml", "not valid TOML")),
    (RUN, {"configs/agents.toml": "[x]\nmodel = 'm'"}, ("agents.toml", "x.adapter")),
    (RUN, {"configs/standard.toml": "[scenarios.colours]"}, ("standard", "rename yours")),
    # scenarios
    (SCENARIO, scenario("def mine(dice: oops"), ("mine.py", ":3")),
    (SCENARIO, scenario("x = 1 / 0"), ("mine.py:3", "ZeroDivisionError")),
    (SCENARIO, scenario("pass"), ("mine.py", "@scenario")),
    (
        SCENARIO,
        scenario("@scenario(skills={'a'})\ndef other(dice):\n    yield Tell('x')"),
        ("mine.py", "'mine'"),
    ),
    (SCENARIO, scenario("@scenario(skills={'a'})\ndef mine():\n    yield Tell('x')"), ("mine", "dice")),
    (SCENARIO, scenario("@scenario(skills={'a'})\ndef mine(dice, n):\n    yield Tell('x')"), ("mine", "n")),
    (SCENARIO, scenario("@scenario(skills={'a'})\ndef mine(dice):\n    yield 'x'"), ("mine", "str")),
    (
        SCENARIO,
        scenario("@scenario(skills={'a'})\ndef mine(dice):\n    yield Tell('x', at=2.0)"),
        ("mine", "at=2.0"),
    ),
    (
        SCENARIO,
        scenario("@scenario(skills={'a'})\ndef mine(dice):\n    yield Ask('x', 'y')"),
        ("mine", "matcher"),
    ),
    (
        SCENARIO,
        scenario("@scenario(skills={'a'})\ndef mine(dice):\n    {}['k']\n    yield Tell('x')"),
        ("mine", "KeyError"),
    ),
    (
        SCENARIO,
        scenario("@scenario(skills={'a'})\ndef mine(dice):\n    yield Tell('x')"),
        ("mine", "asks nothing"),
    ),
    (SCENARIO, scenario("@scenario(skills={'a'})\ndef mine(dice):\n    yield None"), ("mine", "NoneType")),
    (SCENARIO, scenario("@scenario(skills={'a'})\ndef mine(dice):\n    return"), ("mine",)),
    (SCENARIO, scenario("raise SystemExit(3)"), ("mine.py:3", "SystemExit: 3")),
    (SCENARIO, TOO_LATE, ("4,000,000 days after", "`after`", "`start` of the suite")),
    *((SCENARIO, yielding(line), ("scenario mine: ", says)) for line, says in YIELDED),
    *(
        (
            SCENARIO,
            scenario(f"@scenario(skills={{'a'}}, {said})\ndef mine(dice):\n    yield Tell('x')"),
            (says,),
        )
        for said, says in (
            ("version='x'", "version='x'; write a whole number"),
            ("topics=5", "topics=5; write texts in braces"),
            ("topics='abc'", "topics='abc'; write texts in braces"),
            ("forget=5", "forget=5; it must be a string, or a list of strings"),
            ("forget=lambda _: []", "forget=[]; it must be a string, or a list of strings"),
        )
    ),
    (SCENARIO, {"scenarios/mine.py": b"\x00\x01"}, ("mine.py",)),
    (SCENARIO, recipe(""), ("mine.toml",)),
    (SCENARIO, {"scenarios/mine.toml": b"\xff"}, ("mine.toml",)),
    (SCENARIO, scenario("import nonesuch"), ("mine.py:3", "nonesuch")),
    (SCENARIO, recipe("mesages = []\n" + GOOD), ("mine.toml", "mesages")),
    (
        SCENARIO,
        recipe(GOOD + "[[messages]]\nask = 'b'\nat = 1.0\nexpect = { naems = 'a' }"),
        ("mine.toml", "naems"),
    ),
    (
        SCENARIO,
        recipe(GOOD + "[[messages]]\nask = '{who}'\nat = 1.0\nexpect = { says = 'a' }"),
        ("mine.toml", "who"),
    ),
    (SCENARIO, recipe(GOOD + "[[messages]]\nsay = 'b'\nafter = 'soon'"), ("mine.toml", "soon")),
    # adapters
    (AGENT, agent("class Mine(Agent): pass\nclass Yours(Agent): pass"), ("mine.py", "2")),
    (AGENT, agent("x = 1"), ("mine.py", "Agent")),
    (AGENT, agent("import nonesuch"), ("mine.py:3", "nonesuch")),
    (
        AGENT,
        agent("class Mine(Agent):\n    def __init__(self):\n        raise ValueError('no luck')"),
        ("no luck",),
    ),
    # logs
    (("rescore", "r"), log(""), ("r",)),
    (("rescore", "r"), log("nonsense\n"), ("events.jsonl:1",)),
    (("rescore", "r"), log('{"event": "sent"}\n'), ("events.jsonl",)),
    (("rescore", "r"), log(MANIFEST), ("events.jsonl",)),
    (("rescore", "r"), log(MANIFEST.replace("1}", "99}")), ("events.jsonl", "99")),
    (("rescore", "r"), log(b"\xff\x00\n"), ("events.jsonl:1",)),
    (("rescore", "r"), log("[" * 100_000 + "\n"), ("events.jsonl:1",)),
    (("resume", "none"), {}, ("none",)),
    (("show", "../../etc"), {}, ("../../etc",)),
    (("compare", "none"), {}, ("none",)),
    (("verify", "none.zip"), {}, ("none.zip",)),
    (("verify", "bad.zip"), {"bad.zip": b"PK nonsense"}, ("bad.zip",)),
    (("export", "none", "--format", "csv"), {}, ("none",)),
    (("compare", "r", "-o", ""), log(""), ("-o", "name a file")),
    (("compare", "r", "-o", "reports"), log(""), ("-o reports", "name a file")),
    (("compare", "r", "-o", "reports/r/events.jsonl"), log(""), ("events.jsonl", "own record")),
    (("export", "r", "-o", "reports/r/events.jsonl"), log(""), ("events.jsonl", "own record")),
    (
        ("export", "r", "--format", "inspect", "-o", "r.eval"),
        log(""),
        ("r.eval", "name it r.json", "--to eval"),
    ),
    (("bundle", "r", "-o", "reports/r/events.jsonl"), log(""), ("events.jsonl", "own record")),
    (("plot", "r", "-o", "reports/r/events.jsonl"), log(""), ("events.jsonl", "own record")),
    # other files
    ((*RUN, "--filler", "triviaqa:t.json"), {"t.json": "{"}, ("t.json", "not JSON")),
    ((*RUN, "--filler", "triviaqa:t.json"), {"t.json": "[]"}, ("t.json", "no trivia")),
    ((*RUN, "--filler", "triviaqa:t.json"), {"t.json": "[" * 100_000}, ("t.json",)),
    (("check", "none.py"), {}, ("none.py",)),
    (("score", "infinitebench", "none.jsonl", "--task", "passkey"), {}, ("none.jsonl",)),
    (("score", "infinitebench", "x.jsonl"), {"x.jsonl": "{}"}, ("x.jsonl",)),
    (("score", "counting-stars", "x.jsonl"), {"x.jsonl": "{}\n"}, ("x.jsonl",)),
    (("score", "panel", "none.json"), {}, ("none.json",)),
    (
        ("score", "panel", "x.json"),
        {"x.json": '[{"question_id": "q", "hypothesis": "a"}]'},
        ("x.json", "--judge"),
    ),
    (("score", "published", "none.json"), {}, ("none.json", "No such file")),
    (
        ("score", "published", "x.json"),
        {"x.json": '{"question_id": "q", "hypothesis'},
        ("x.json:1", "not JSON", "cut"),
    ),
    (("import", "goodai", "none"), {}, ("none",)),
    (("run", "--suite", "goodai:none"), {}, ("none",)),
    (("judge", "check", "--judge", "nobody"), {}, ("nobody",)),
    (("estimate", "--agent", "nobody"), {}, ("nobody",)),
    (("new", "agent", "a b"), {}, ("a b",)),
    # transcripts
    ((*FROM, "x.json"), {}, ("--from x.json", "no such file")),
    ((*FROM, "x"), {}, ("no run is called 'x'",)),
    ((*FROM, "x.json"), {"x.json": b"\xff\xfe{"}, ("--from x.json",)),
    ((*FROM, "x.json"), {"x.json": "[]"}, ("--from x.json", "no message of a user")),
    ((*FROM, "x.json"), {"x.json": CHAT}, ("no terminal", "--told N")),
    ((*FROM, "x.json", "--told", "x"), {"x.json": CHAT}, ("--told x", "whole number")),
    (
        (*FROM, "x.json", "--told", "0", "--asked", "7", "--right", "a"),
        {"x.json": CHAT},
        ("turn 7", "0 to 1"),
    ),
    (
        (*FROM, "x.json", "--told", "0", "--asked", "1"),
        {"x.json": CHAT},
        ("turn 1", "right answer is missing"),
    ),
    (
        (*FROM, "x.json", "--told", "0", "--asked", "1", "--right", "…"),
        {"x.json": CHAT},
        ("no matcher takes '…'",),
    ),
    ((*FROM, "x.json", "--told", "0", "--asked", "1", "--right", "Okay."), {"x.json": CHAT}, ("'Okay.'",)),
    (
        (*FROM, "x.json", *"--told 0 --asked 1 --right red --told 2 --asked 3 --right blue".split()),
        {"x.json": CHAT.replace("]", f", {CHAT[1:]}").replace("red", "blue")},
        ("would not pass `check`",),
    ),
    ((*FROM, "x.json", "--told", "0", "--right", "a"), {"x.json": CHAT}, ("no turn is marked as asked",)),
    (
        (*FROM, "x.json", "--told", "0", "--asked", "1", "--asked", "2", "--right", "a"),
        {"x.json": CHAT},
        ("2 turns are --asked, with 1 --right",),
    ),
    (("new", "scenario", "mine", "--told", "0"), {}, ("--from",)),
    (("new", "scenario", "colours", "--from", "x.json"), {"x.json": CHAT}, ("this name is taken",)),
]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with an awkward name."""
    place = tmp_path / "a [b] ü 'c'"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    return place


def tree(place: Path) -> dict[str, bytes]:
    """Return all files there, except Python's compiled ones."""
    found = (path for path in place.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(place)): path.read_bytes() for path in found}


@pytest.mark.parametrize(("words", "files", "says"), TABLE, ids=range(len(TABLE)))
def test_bad_input_is_reported_in_one_line_and_nothing_is_written(
    command: "Command", place: Path, words: tuple[str, ...], files: Files, says: tuple[str, ...]
) -> None:
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content.encode() if isinstance(content, str) else content)
    before = tree(place)
    done = command(*words)
    assert done.exit_code == 1
    lines = [line for line in done.err.splitlines() if line.startswith("ltm-bench: ")]
    assert len(lines) == 1, done.err
    assert "Traceback" not in done.output
    assert "sk-planted" not in done.output
    assert [each for each in says if each not in lines[0]] == [], lines[0]
    assert {name: content for name, content in tree(place).items() if not name.endswith(".lock")} == before


@pytest.mark.parametrize(
    "words", [("gateway", "--port"), (*RUN, "--gateway", "--gateway-port")], ids=["gateway", "run"]
)
def test_a_port_that_cannot_be_had_is_named_and_nothing_is_written(
    command: "Command", monkeypatch: pytest.MonkeyPatch, place: Path, words: tuple[str, ...]
) -> None:
    def said(port: int) -> str:
        done = command(*words, str(port))
        assert (done.exit_code, "Traceback" in done.output, tree(place)) == (1, False, {})
        (line,) = [line for line in done.err.splitlines() if line.startswith("ltm-bench: ")]
        assert f"port {port}" in line
        return line

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "already in use" in said(taken.getsockname()[1])

    def forbidden(*_: object) -> None:  # as for anybody but root
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(socket.socket, "bind", forbidden)
    assert "Permission denied" in said(80)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SPAN", "2q"),
        ("AGENT", "perfekt"),
        ("SEED", "x"),
        ("MAX_COST", "x"),
        ("EXAMPLES", "-1"),
        ("SUITE", "?"),
        ("REPEATS", "0"),
        ("TOKENIZER", "none"),
        ("NAME", "../x"),
        ("MAX_COST", "nan"),
        ("SETTING", "x"),
        ("PARAMETER", "colours"),
        ("TIMEOUT", "nan"),
        ("MAX_RETRIES", "-1"),
        ("FAIL_UNDER", "nan"),
        ("JUDGE", "nobody"),
        ("BASELINE", "nothing"),
        ("MAX_DROP", "2"),
        ("SCENARIO", "../x"),
    ],
)
def test_a_bad_variable_is_bad_input_like_any_other(
    command: "Command", monkeypatch: pytest.MonkeyPatch, place: Path, variable: str, value: str
) -> None:
    monkeypatch.setenv(f"LTM_BENCH_{variable}", value)
    done = command("run")
    assert (done.exit_code, len(done.err.splitlines())) == (1, 1)
    assert value in done.err
    assert tree(place) == {}


READERS = ("show", "report", "rescore", "verify", "compare", "export", "resume", "bundle")
"""Commands that read a run; all of them must report a damaged one in the same way."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The lines of the log of a run of one example that was not finished."""
    place = tmp_path_factory.mktemp("whole")
    words = ["run", "--span", "2k", "--agent", "perfect", "--scenario", "colours", "--examples", "1"]
    subprocess.run([sys.executable, "-m", "ltm_bench", *words, "--name", "r"], cwd=place, check=True)
    return (place / "reports" / "r" / "events.jsonl").read_bytes().splitlines(keepends=True)[:-1]


def edited(lines: list[bytes], kind: str, /, **changes: object) -> list[bytes]:
    """Change fields of the first event of a kind (`sent/ask` is a question); None takes a field away."""
    name, _, which = kind.partition("/")
    events = [json.loads(line) for line in lines]
    found = next(e for e in events if e["event"] == name and which in ("", e.get("kind")))
    found.update(changes)
    for key in [key for key, value in changes.items() if value is None]:
        del found[key]
    return [json.dumps(event).encode() + b"\n" for event in events]


DAMAGE: list[tuple[Callable[[list[bytes]], list[bytes]], str]] = [
    (lambda a: [*a[:2], b'{"event": "sent", \n', *a[2:]], "events.jsonl:3: damaged line"),
    (lambda a: [*a[:2], b"[1]\n", *a[2:]], "events.jsonl:3: not an event"),
    (lambda a: [*a[:2], b"\xff\xfe\x00\n", *a[2:]], "events.jsonl:3: damaged line"),
    (lambda a: [*a[:2], b'{"x": "' + b"a" * 3_000_000 + b'"}\n', *a[2:]], "events.jsonl:3: not an event"),
    (lambda a: [*a[:2], b'{"event": "flown"}\n', *a[2:]], "'flown': there is no such event"),
    (lambda a: [*a[:2], a[0], *a[2:]], "'manifest': there is no such event here"),
    (lambda a: [a[0], *a[2:]], "no message of that turn is waiting"),
    (lambda a: [a[0], b'{"event":"ended","example":"x/0","span":1,"overrun":0}\n'], "it is not under way"),
    (lambda a: edited(a, "sent", turn=None), "turn is missing"),
    (lambda a: edited(a, "sent", turn="x"), "turn = 'x'"),
    (lambda a: edited(a, "sent", tokens=-1), "tokens = -1"),
    (lambda a: edited(a, "sent", tokens=10**400), "tokens = 1000"),
    (lambda a: edited(a, "sent", at="2026-01-05T09:00:00"), "at = '2026-01-05T09:00:00'"),
    (lambda a: edited(a, "sent", kind="sung"), "kind = 'sung'"),
    (lambda a: edited(a, "sent", message=[1]), "message = [1]"),
    (lambda a: edited(a, "sent/ask", expect=None), "expect is missing"),
    (lambda a: edited(a, "sent/ask", expect=5), "expect = 5"),
    (lambda a: edited(a, "replied", finish="x"), "finish = 'x'"),
    (lambda a: edited(a, "replied", usage={"tokens": 1}), "usage.tokens = 1"),
    (lambda a: edited(a, "replied", reply=5), "reply = 5"),
    (lambda a: edited(a, "manifest", span=10**30), "span"),
    (lambda a: edited(a, "manifest", suite=5), "suite"),
    (lambda a: edited(a, "manifest", seed=None), "seed"),
    (lambda a: edited(a, "manifest", format=2), "log format 2"),
    (lambda a: a[1:], "not a manifest"),
]


@pytest.mark.unkept
@pytest.mark.parametrize(("damage", "says"), DAMAGE, ids=range(len(DAMAGE)))
def test_every_command_that_reads_a_damaged_log_says_where_and_writes_nothing(
    command: "Command",
    place: Path,
    whole: list[bytes],
    damage: Callable[[list[bytes]], list[bytes]],
    says: str,
) -> None:
    (place / "reports" / "r").mkdir(parents=True)
    (place / "reports" / "r" / "events.jsonl").write_bytes(b"".join(damage(whole)))
    before = tree(place)
    for verb in READERS:
        done = command(verb, "r")
        # Comparing with stated results needs no log, and `bundle` works on a copy.
        stated = "r" if verb == "verify" or (verb == "bundle" and "damaged line" in says) else says
        assert (done.exit_code, done.err.count("ltm-bench: "), "Traceback" in done.output) == (1, 1, False), (
            verb
        )
        assert stated in done.err, verb
        assert tree(place) == before, verb


@pytest.mark.unkept
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("judgements.jsonl", b'{"x": 1}\n', "judgements.jsonl:1: example"),
        ("judgements.jsonl", b"[" * 100_000 + b"\n", "judgements.jsonl:1: not JSON"),
        ("judgements.jsonl", b"\xff\n", "judgements.jsonl:1: not JSON"),
        (
            "overrides.jsonl",
            b'{"example":"colours/0","turn":1,"reply":"x","outcome":"correct","score":99,"reviewer":"a",'
            b'"reason":"b","was":"wrong","was_score":0}\n',
            "overrides.jsonl:1: score",
        ),
    ],
)
def test_damaged_judgements_are_reported_by_every_command_that_needs_them(
    command: "Command", place: Path, whole: list[bytes], name: str, content: bytes, says: str
) -> None:
    run = place / "reports" / "r"
    run.mkdir(parents=True)
    (run / "events.jsonl").write_bytes(b"".join(whole))
    (run / name).write_bytes(content)
    before = tree(place)
    for verb in ("report", "rescore", "compare", "export", "resume"):
        done = command(verb, "r")
        assert (done.exit_code, done.err.count("\n")) == (1, 1), done.err
        assert says in done.err
        assert {k: v for k, v in tree(place).items() if not k.endswith(".lock")} == before


@pytest.mark.unkept
def test_a_judgement_of_another_reply_does_not_count(
    command: "Command", place: Path, whole: list[bytes]
) -> None:
    run = place / "reports" / "r"
    run.mkdir(parents=True)
    (run / "events.jsonl").write_bytes(b"".join(whole))
    turn = next(e["turn"] for e in map(json.loads, whole) if e.get("kind") == "ask")
    forged = {"example": "colours/0", "turn": turn, "reply": "0" * 16, "outcome": "wrong", "score": 0.0}
    forged |= {"reviewer": "a", "reason": "b", "was": "correct", "was_score": 1.0}
    (run / "overrides.jsonl").write_text(json.dumps(forged) + "\n", "utf-8")
    assert command("rescore", "r").exit_code == 0
    assert json.loads((run / "results.json").read_bytes())["overridden"] == 0


@pytest.mark.unkept
def test_side_files_of_any_shape_are_ignored(command: "Command", place: Path, whole: list[bytes]) -> None:
    run = place / "reports" / "r"
    run.mkdir(parents=True)
    (run / "events.jsonl").write_bytes(b"".join(whole))
    (run / "timings.jsonl").write_bytes(
        b'{"seconds":"x"}\n{"seconds":1,"attempts":5}\n[1]\n\xff\n{"turn":1,"seconds":1e999}\n{"seconds":NaN}\n'
        b'{"seconds":-1}\n' + b"[" * 99_999
    )
    (run / "events.recalls").write_bytes(b'{"turn":1,"needles":[5]}\n{"turn":2,"needles":"x"}\n{"turn":3}\n')
    (run / "environment.json").write_bytes(b'{"started": 5}')
    (run / "results.json").write_bytes(b"[1]")
    (run / "verdicts.jsonl").write_bytes(b"\xff")
    for words in (("show", "r"), ("compare", "r"), ("export", "r"), ("report", "r")):
        assert (words, command(*words).exit_code) == (words, 0)
    assert json.loads((run / "results.json").read_bytes())["latency"]["total"] == 1.0
    done = command("verify", "r")  # which vouches for all of them
    assert (done.exit_code, done.err.count("\n"), "r: environment.json: started: " in done.err) == (
        1,
        1,
        True,
    )


@pytest.mark.unkept
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes pipes")
@pytest.mark.parametrize("name", ["timings.jsonl", "environment.json", "forks.jsonl", "judgements.jsonl"])
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/full", "pipe"])
def test_a_device_in_the_place_of_a_side_file_is_named(
    command: "Command", place: Path, whole: list[bytes], name: str, target: str
) -> None:
    run = place / "reports" / "r"
    run.mkdir(parents=True)
    (run / "events.jsonl").write_bytes(b"".join(whole[:10]))
    os.mkfifo(place / "pipe")
    (run / name).symlink_to(place / target)
    for words in (("resume", "r"), ("verify", "r")):
        done = command(*words)
        assert (words, done.exit_code, done.err.count("ltm-bench: ")) == (words, 1, 1), done.err
    assert f"r/{name}: it is not an ordinary file; move it away" in command("resume", "r").err


@pytest.mark.parametrize("kind", ["folder", "dangling", "loop", "self", "file"])
def test_anything_in_the_place_of_a_run_is_named(command: "Command", place: Path, kind: str) -> None:
    run = place / "reports" / "r"
    run.parent.mkdir()
    if kind == "loop":
        run.symlink_to("r")
    elif kind == "file":
        run.write_text("x", "utf-8")
    else:
        run.mkdir()
        log = run / "events.jsonl"
        log.mkdir() if kind == "folder" else log.symlink_to(
            "nowhere" if kind == "dangling" else "events.jsonl"
        )
    begun = [(*RUN, "--name", "r")] if kind != "dangling" else []  # a user's own link is followed
    for words in (*((verb, "r") for verb in READERS), *begun):
        done = command(*words)
        assert (done.exit_code, done.err.count("ltm-bench: ")) == (1, 1), (words, done.err)
        assert not (place / "nowhere").exists()
    assert command("list", "runs").exit_code == 0


def test_a_file_in_the_place_of_the_runs_folder_is_named(command: "Command", place: Path) -> None:
    (place / "reports").write_text("x", "utf-8")
    done = command(*RUN)
    assert (done.exit_code, done.err.count("ltm-bench: ")) == (1, 1)
    assert (place / "reports").read_text("utf-8") == "x"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_named(command: "Command", place: Path) -> None:
    place.chmod(0o555)
    done = command(*RUN)
    place.chmod(0o755)
    assert (done.exit_code, done.err.count("ltm-bench: ")) == (1, 1)
    assert "reports" in done.err


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("async def reply(self, m): return None", "NoneType, not a Reply"),
        ("async def reply(self, m): return Reply(None)", "text is NoneType"),
        ("async def reply(self, m): return Reply('x', usage=5)", "usage is 5"),
        ("async def reply(self, m): return Reply('x', finish='done')", "finish is 'done'"),
        ("async def reply(self, m): return Reply('x', usage=Usage(output=-1))", "whole numbers"),
        ("async def open(self, home): 1 / 0", "ZeroDivisionError"),
    ],
)
def test_an_adapter_that_returns_nonsense_leaves_a_run_that_can_be_resumed(
    command: "Command", place: Path, body: str, says: str
) -> None:
    (place / "agents").mkdir()
    code = f"from ltm_bench import Agent, Reply, Usage\nclass Mine(Agent):\n    free = True\n    {body}\n"
    (place / "agents" / "mine.py").write_text(code, "utf-8")
    done = command(*AGENT, "--name", "r")
    assert (done.exit_code, done.err.count("ltm-bench: ")) == (3, 1)
    assert says in done.err
    assert command("rescore", "r").exit_code == 0
