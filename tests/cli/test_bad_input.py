"""A table of bad input: each is one line that says what, where and which value; exit code 1; nothing is written.

A row is: the words that are typed, the files that lie about, and what the line has to say.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

Files = dict[str, str | bytes]
RUN = ("run", "--span", "2k", "--agent", "perfect", "--suite", "smoke", "--examples", "1")
SUITE = (*RUN[:5], "--suite", "mine")
SCENARIO = (*RUN[:5], "--scenario", "mine")
AGENT = ("run", "--span", "2k", "--suite", "smoke", "--agent", "mine")
MANIFEST = '{"event":"manifest","format":1}\n'


def suite(text: str) -> Files:
    return {"configs/mine.toml": text}


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


GOOD = 'about = "x"\nskills = ["recall"]\n[[messages]]\nsay = "a"\nat = 0.0\n'

TABLE: list[tuple[tuple[str, ...], Files, tuple[str, ...]]] = [
    # flags
    (("run", "--span", "2q"), {}, ("--span 2q", "2k")),
    (("run", "--span", "0"), {}, ("--span 0",)),
    (("run", "--span", "-5"), {}, ("--span -5",)),
    (("run", "--span", "99999M"), {}, ("--span 99999M",)),
    (("run", "--span", "100", "--agent", "perfect"), {}, ("span", "100")),
    (("run", "--suite", "standart"), {}, ("--suite standart", "'standard'")),
    (("run", "--agent", "perfekt"), {}, ("--agent perfekt", "'perfect'")),
    (("run", "--scenario", "colors"), {}, ("colors", "'colours'")),
    (("run", "--examples", "none"), {}, ("--examples none",)),
    (("run", "--examples", "0"), {}, ("--examples 0",)),
    (("run", "--repeats", "0"), {}, ("--repeats 0",)),
    (("run", "--seed", "1.5"), {}, ("--seed 1.5",)),
    (("run", "--max-cost", "lots"), {}, ("--max-cost lots",)),
    (("run", "--max-cost", "-1"), {}, ("--max-cost -1",)),
    (("run", "--fail-under", "good"), {}, ("--fail-under good",)),
    (("run", "--max-drop", "2"), {}, ("--max-drop 2",)),
    ((*RUN, "--baseline", "nothing"), {}, ("nothing",)),
    ((*RUN, "--judge", "nobody"), {}, ("--judge nobody",)),
    ((*RUN, "--tokenizer", "cl100k"), {}, ("--tokenizer cl100k", "cl100k_base")),
    ((*RUN, "--filler", "loud"), {}, ("--filler loud",)),
    ((*RUN, "--filler", "triviaqa:none.json"), {}, ("none.json", "No such file")),
    ((*RUN, "--name", "../out"), {}, ("--name ../out",)),
    ((*RUN, "--name", "a b"), {}, ("--name a b",)),
    ((*RUN, "--name", ""), {}, ("--name",)),
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
    (SUITE, suite("[scenarios]"), ("mine.toml", "scenarios")),
    (SUITE, suite("[scenarios.colour]"), ("colour", "'colours'")),
    (SUITE, suite("[scenarios.colours]\nchangs = 1"), ("changs", "'changes'")),
    (SUITE, suite("[scenarios.colours]\nexamples = 0"), ("mine.toml", "examples = 0")),
    (SUITE, suite("examples = 'many'\n[scenarios.colours]"), ("mine.toml", "many")),
    (SUITE, suite("stagger = 2\n[scenarios.colours]"), ("mine.toml", "stagger", "2")),
    (SUITE, suite("start = 2026-01-05T09:00:00\n[scenarios.colours]"), ("mine.toml", "timezone")),
    (SUITE, suite("[scenarios.colours]\nleast_span = 'far'"), ("mine.toml", "least_span", "far")),
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
    # other files
    ((*RUN, "--filler", "triviaqa:t.json"), {"t.json": "{"}, ("t.json", "not JSON")),
    ((*RUN, "--filler", "triviaqa:t.json"), {"t.json": "[]"}, ("t.json", "no trivia")),
    ((*RUN, "--filler", "triviaqa:t.json"), {"t.json": "[" * 100_000}, ("t.json",)),
    (("check", "none.py"), {}, ("none.py",)),
    (("score", "infinitebench", "none.jsonl", "--task", "passkey"), {}, ("none.jsonl",)),
    (("score", "infinitebench", "x.jsonl"), {"x.jsonl": "{}"}, ("x.jsonl",)),
    (("score", "counting-stars", "x.jsonl"), {"x.jsonl": "{}\n"}, ("x.jsonl",)),
    (("import", "goodai", "none"), {}, ("none",)),
    (("run", "--suite", "goodai:none"), {}, ("none",)),
    (("judge", "check", "--judge", "nobody"), {}, ("nobody",)),
    (("estimate", "--agent", "nobody"), {}, ("nobody",)),
    (("new", "agent", "a b"), {}, ("a b",)),
]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose own name is no easy one."""
    place = tmp_path / "a [b] ü 'c'"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    return place


def tree(place: Path) -> dict[str, bytes]:
    """Everything that lies there, but for what Python compiles."""
    found = (path for path in place.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(place)): path.read_bytes() for path in found}


@pytest.mark.parametrize(("words", "files", "says"), TABLE, ids=range(len(TABLE)))
def test_bad_input_is_one_line_with_its_value_and_nothing_is_written(
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
    ("variable", "value"),
    [
        ("SPAN", "2q"),
        ("AGENT", "perfekt"),
        ("SEED", "x"),
        ("MAX_COST", "x"),
        ("EXAMPLES", "-1"),
        ("SUITE", "?"),
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
