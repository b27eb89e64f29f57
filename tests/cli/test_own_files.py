"""A user's own files that cannot be used: one line with file and line, whatever raised, and never a traceback."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.runner.checking import check_file

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

HEAD = '"""Mine: it is broken."""\nfrom ltm_bench import Agent, Ask, Reply, Tell, names_only, scenario\n'
TINY = ("--span", "2k", "--suite", "smoke")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("agents", "scenarios", "configs"):
        (tmp_path / folder).mkdir()
    return tmp_path


def scenario(*lines: str, decorator: str = '@scenario(skills={"recall"})') -> str:
    return "\n".join([HEAD, decorator, "def mine(dice):", *(f"    {line}" for line in lines), ""])


ASK = 'yield Ask("x?", expect=names_only("a", among=("a", "b")))'


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("def x(:", "mine.py:1: SyntaxError: invalid syntax"),
        (scenario("return 3"), "scenario mine: its script fails"),
        (scenario('yield "hello"'), "scenario mine: its script yields str 'hello'; a script yields Tell, Ask or Chat"),
        (scenario('yield Ask("x?", expect="blue")'), "an Ask expects a matcher"),
        (scenario("yield Tell(7)"), "text of type int; it must be a string, or a function of the time"),
        (scenario('yield Tell("x", after=60)', ASK), "its script yields after=60; it must be a timedelta"),
        (scenario('yield Tell("x", at=0.5)', "yield 1 / 0"), "mine.py:7: ZeroDivisionError: division by zero"),
        (scenario("open('nowhere.txt')", ASK), "mine.py:6: FileNotFoundError"),
        (scenario(ASK, decorator="@scenario"), "mine.py:4: TypeError"),
        (scenario(ASK, decorator="import sys; sys.exit(7)"), "mine.py:4: SystemExit: 7"),
        (scenario(f"reply = {ASK}", "assert reply.text.startswith('It is')"), "mine.py:7: AssertionError"),
        ('"""X."""', "the function under @scenario must be called 'mine', like its file (found: none)"),
    ],
)  # fmt: skip
def test_a_scenario_that_fails_is_named_with_its_line(
    command: "Command", place: Path, code: str, complaint: str
) -> None:
    (place / "scenarios" / "mine.py").write_text(code, "utf-8")
    done = command("run", "--span", "2k", "--agent", "goldfish", "--scenario", "mine")
    assert done.exit_code == 1
    assert complaint in done.err
    assert done.err.splitlines()[-1].startswith("ltm-bench: ")
    assert "Traceback" not in done.err


def test_check_finds_a_position_outside_the_span(command: "Command", place: Path) -> None:
    (place / "scenarios" / "mine.py").write_text(scenario('yield Tell("x", at=7)', ASK), "utf-8")
    done = command("check", "scenarios/mine.py")
    assert done.exit_code == 1
    assert "FAIL scenario mine: its script yields at=7, which lies outside 0..1" in done.output
    assert done.err.endswith("mine.py: 1 rule is broken; see the lines marked FAIL\n")


@pytest.mark.parametrize(
    "lines",
    [
        ["yield Tell(' '.join({'one', 'two', 'three'}), at=0.0)", ASK],
        [
            "words = tuple({'one', 'two', 'three'})",
            "yield Ask('x?', expect=names_only(words[0], among=words))",
        ],
        ["yield Tell(str(hash('one')), at=0.0)", ASK],
    ],
)
def test_check_finds_a_script_that_depends_on_the_hash_seed(place: Path, lines: list[str]) -> None:
    path = place / "scenarios" / "mine.py"
    path.write_text(scenario(*lines), "utf-8")
    said = "says the same in another process"
    assert not next(
        found for found in check_file(path, {}) if found.text.startswith(said)
    ).ok  # the rest is not tried


AGENT = "class Mine(Agent):\n    free = True\n"


@pytest.mark.parametrize(
    ("code", "exit_code", "complaint"),
    [
        ("def agent(message", 1, "mine.py:3: SyntaxError: '(' was never closed"),
        ("x = 1", 1, "it has no subclass of ltm_bench.Agent, and no function `agent`"),
        (AGENT + AGENT.replace("Mine", "Yours"), 1, "a file holds one adapter, but this one holds 2: Mine, Yours"),
        ("import sys; sys.exit(7)", 1, "mine.py:3: SystemExit: 7"),
        ("1 / 0", 1, "mine.py:3: ZeroDivisionError"),
        (AGENT + "    def __init__(self): self.x = {}['x']", 1, "mine.py:5: KeyError: 'x'"),
        (AGENT, 3, "the adapter Mine does not define reply()"),
        (AGENT + "    def reply(self, message): return Reply('x')", 3, "TypeError: object Reply can't be used"),
        ("def agent(message): return 3", 3, "the function returned int, not a string"),
        ("def agent(message): raise RuntimeError('one\\ntwo')", 3, "RuntimeError: one two"),
        ("import sys\ndef agent(message): sys.exit(7)", 3, "SystemExit: 7"),
    ],
)  # fmt: skip
def test_an_adapter_that_fails_is_named_with_its_line(
    command: "Command", place: Path, code: str, exit_code: int, complaint: str
) -> None:
    (place / "agents" / "mine.py").write_text(HEAD + code, "utf-8")
    for words in (("run", *TINY, "--agent", "mine"), ("check", "agents/mine.py")):
        done = command(*words)
        assert done.exit_code == (exit_code if words[0] == "run" else 1)
        assert done.err.splitlines()[-1].startswith("ltm-bench: ")
        assert "Traceback" not in done.output
        if words[0] == "run":
            assert complaint in done.err


def test_an_adapter_with_the_name_of_a_preset_is_refused(command: "Command", place: Path) -> None:
    (place / "agents" / "gpt-4o.py").write_text(HEAD, "utf-8")
    done = command("run", *TINY, "--agent", "gpt-4o")
    assert done.exit_code == 1
    assert "both a preset and" in done.err


def test_a_preset_may_have_the_name_of_its_adapter(command: "Command", place: Path) -> None:
    (place / "configs" / "agents.toml").write_text('[perfect]\nadapter = "perfect"\n', "utf-8")
    assert command("run", *TINY, "--agent", "perfect").exit_code == 0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("mine = 3", "agents.toml: mine = 3: expected a table"),
        ("[mine]\nmodel = 'x'", "agents.toml: mine.adapter is missing"),
        ("[mine]\nadapter = 3", "agents.toml: mine.adapter = 3: should be a valid string"),
        ("[mine]\nadapter = 'perfct'", "no agent is called 'perfct'; did you mean 'perfect'?"),
        ("[mine]\nadapter = 'perfect'\nx = 1", "agent perfect: no setting 'x' (it has: max_bytes)"),
        ("[mine]\nadapter = 'openai_chat'\nmodel = 'm'\napi_key = 'x'", "api_key looks like a secret"),
        ("[gpt-4o]\nadapter = 'perfect'", "there already is a preset 'gpt-4o'; rename yours"),
        ("[mine", "agents.toml: not valid TOML"),
    ],
)
def test_a_mistake_in_a_preset_is_named_with_file_and_key(
    command: "Command", place: Path, content: str, complaint: str
) -> None:
    (place / "configs" / "agents.toml").write_text(content, "utf-8")
    done = command("run", *TINY, "--agent", "mine")
    assert done.exit_code == 1
    assert complaint in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("window=abc", "window='abc': this setting must be a whole number"),
        ("window=1.5", "window=1.5: this setting must be a whole number"),
        ("window=true", "window=True: this setting must be a whole number"),
        ("timeout=soon", "timeout='soon': this setting must be a number"),
        ("model=3", "model=3: this setting must be a text; write -A 'model=\"3\"'"),
        ("effort=[]", "effort=[]: this setting must be a text"),
        ("base_url=nonsense", "base_url 'nonsense' is not a URL"),
        ("window=100", "window=100"),
    ],
)
def test_a_setting_of_the_wrong_type_is_named_with_its_value(
    command: "Command", key: str, setting: str, complaint: str
) -> None:
    done = command("run", *TINY, "--agent", "gpt-4o", "-A", setting)
    assert done.exit_code == 1
    assert complaint in done.err


def test_when_a_page_cannot_be_written_the_log_stays_and_the_remedy_is_shown(
    command: "Command", place: Path
) -> None:
    words = ["run", "--span", "2k", "--agent", "perfect", "--scenario", "colours", "--examples", "1"]
    assert command(*words, "--name", "r").exit_code == 0
    page = place / "reports" / "r" / "transcript.html"
    page.unlink()
    page.mkdir()
    done = command("report", "r")
    assert done.exit_code == 1
    said = " ".join(done.err.split())
    assert "cannot be written" in said
    assert "the log is unharmed" in said
    assert "`ltm-bench report r`" in said
    page.rmdir()
    assert command("report", "r").exit_code == 0


TABLE = """about = "A town"
skills = [{skill}]
topics = ["towns"]
[choices]
town = {values}
[[messages]]
say = "She lives in {{town}}."
[[messages]]
ask = "Where does she live?"
expect = {{ names = "{{town}}", among = "town" }}
"""


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ('["Ghent"]', "town has a single one, 'Ghent': write it into the texts"),
        ('["Ghent", "Lima", "Ghent"]', "town has 'Ghent' twice"),
        ('["Ghent", " ghent"]', "town has ' ghent' twice"),
        ('[{ a = "x" }, { a = "x" }]', "town has {'a': 'x'} twice"),
    ],
)
def test_check_says_which_values_of_a_choice_are_no_choice_and_nothing_that_follows_from_it(
    place: Path, values: str, said: str
) -> None:
    path = place / "scenarios" / "mine.toml"
    text = TABLE.format(skill='"recall"', values=values)
    path.write_text(
        text.replace("{town}", "{town.a}").replace('"town"', '"town.a"') if "{ a" in values else text
    )
    wrong = [found.text for found in check_file(path, {}) if not found.ok]
    assert len(wrong) == 1
    assert said in wrong[0]


@pytest.mark.parametrize(
    ("skill", "said"),
    [
        ("telepathy", "note: no scenario that ships has the skill 'telepathy'"),
        ("recal", "note: no scenario that ships has the skill 'recal'; did you mean 'recall'?"),
        ("recall", ""),
    ],
)
def test_check_says_whether_a_skill_is_known(place: Path, skill: str, said: str) -> None:
    path = place / "scenarios" / "mine.toml"
    path.write_text(TABLE.format(skill=f'"{skill}"', values='["a"]'), "utf-8")
    assert [found.text for found in check_file(path, {}) if "skill '" in found.text] == [said] * bool(said)
