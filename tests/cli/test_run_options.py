"""Options of `run` for its input and output: a file of options, tags, quiet, logs."""

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.log.reader import read_manifest

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

SMALL = ("--span", "2k", "--scenario", "colours", "--name", "r")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


CONFIG = """
agent = "vector_memory"
span = "2k"
scenario = ["colours"]
examples = 2
name = "r"
isolated = true

[settings]
memories = 9

[parameters.colours]
changes = 4
"""


def test_a_file_gives_the_options_that_nobody_types(command: "Command") -> None:
    Path("nightly.toml").write_text(CONFIG, "utf-8")
    done = command("run", "--config", "nightly.toml")
    assert done.exit_code == 0, done.err
    manifest = read_manifest(Path("reports/r"))
    (scenario,) = manifest.suite.scenarios
    assert (scenario.examples, scenario.parameters["changes"]) == (2, 4)
    assert manifest.agent.settings == {"memories": 9}
    assert manifest.suite.isolated


def test_a_file_from_windows_is_read(command: "Command") -> None:
    Path("nightly.toml").write_bytes(b"\xef\xbb\xbf" + CONFIG.replace("\n", "\r\n").encode())
    done = command("run", "--config", "nightly.toml")
    assert done.exit_code == 0, done.err
    assert read_manifest(Path("reports/r")).agent.settings == {"memories": 9}


def test_a_file_in_another_encoding_is_told_the_byte_and_the_line(command: "Command") -> None:
    Path("nightly.toml").write_bytes('seed = 7\nname = "Grüße"\n'.encode("latin-1"))
    done = command("run", "--config", "nightly.toml")
    assert done.exit_code == 1
    assert (
        "nightly.toml: not valid TOML: byte 0xfc at line 2 is not UTF-8; save the file as UTF-8" in done.err
    )


SETTINGS = r"""
[settings]
text = "a \"quoted\" 😀\u007f\n = #"
number = -0.5
flag = true
rows = [1, ["x", 2.5], []]
table = { "a b" = { c = "😀" }, d = [1] }
"""


def test_settings_in_the_file_are_the_values_that_toml_gives(command: "Command", place: Path) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "mine.py").write_text(
        "from ltm_bench import Agent, Reply\n\n\nclass Mine(Agent):\n    free = True\n\n"
        "    def __init__(self, *, text='', number=0, flag=False, rows=(), table=None): ...\n\n"
        "    async def reply(self, message):\n        return Reply('')\n",
        "utf-8",
    )
    Path("nightly.toml").write_text(SETTINGS, "utf-8")
    done = command("run", *SMALL, "--agent", "mine", "--config", "nightly.toml")
    assert done.exit_code == 0, done.err
    assert read_manifest(Path("reports/r")).agent.settings == tomllib.loads(SETTINGS)["settings"]


def test_typed_options_and_variables_override_the_file(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("nightly.toml").write_text(CONFIG, "utf-8")
    monkeypatch.setenv("LTM_BENCH_SEED", "7")
    done = command("run", "--config", "nightly.toml", "--examples", "1", "-A", "memories=3")
    assert done.exit_code == 0, done.err
    manifest = read_manifest(Path("reports/r"))
    assert (manifest.seed, manifest.suite.scenarios[0].examples) == (7, 1)
    assert manifest.agent.settings == {"memories": 3}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("exampels = 2", "nightly.toml: unknown key 'exampels'; did you mean 'examples'?"),
        ("span = {a = 1}", "nightly.toml: span is a table; write a value, as for --span"),
        ("examples = 0", "--examples 0: write a whole number, 1 or more"),
        ("span = ", "nightly.toml: not valid TOML"),
        ("settings = 'memories=3'", "nightly.toml: settings = 'memories=3': expected a table"),
        ("[parameters]\ncolours = 4", "nightly.toml: parameters.colours = 4: expected a table"),
        (
            "[parameters.colours]\nchanges = 2026-01-05",
            "parameters.colours.changes = 2026-01-05: write dates",
        ),
        (
            "[settings]\nmemories = [09:00:00]",
            "settings.memories = 09:00:00: write dates and times in quotes",
        ),
        ("seed = true", "nightly.toml: seed = True: write a text or a number, as for --seed"),
        ("isolated = 'no'", "nightly.toml: isolated = 'no': write true or false"),
        ("scenario = [['colours']]", "nightly.toml: scenario = ['colours']: write a text or a number"),
    ],
)
def test_a_mistake_in_the_file_is_named(command: "Command", content: str, complaint: str) -> None:
    Path("nightly.toml").write_text(content, "utf-8")
    done = command("run", "--config", "nightly.toml")
    assert done.exit_code == 1
    assert complaint in done.err
    assert not Path("reports").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [("nightly.yaml", "seed: 7\nagent: parrot\n"), ("nightly.json", '{"seed": 7}'), ("nightly", "- seed")],
)
def test_a_file_in_another_format_is_told_what_to_write(command: "Command", name: str, content: str) -> None:
    Path(name).write_text(content, "utf-8")
    done = command("run", "--config", name)
    assert done.exit_code == 1
    assert f"ltm-bench: {name}: not valid TOML" in done.err
    assert "write it as TOML: one value a line, such as seed = 7" in " ".join(done.err.split())


def test_an_estimate_takes_the_same_file(command: "Command") -> None:
    Path("nightly.toml").write_text(CONFIG, "utf-8")
    assert "colours · span 2k · 2 examples" in command("estimate", "--config", "nightly.toml").out


def tags() -> object:
    return json.loads(Path("reports/r/results.json").read_text())["environment"].get("tags")


def test_tags_are_kept_beside_the_log_and_can_be_added_later(command: "Command") -> None:
    run = ("run", *SMALL, "--agent", "perfect")
    assert command(*run, "--tag", "commit=1a2b3c", "--tag", "who=Ada").exit_code == 0
    log = Path("reports/r/events.jsonl").read_bytes()
    assert tags() == {"commit": "1a2b3c", "who": "Ada"}
    assert command(*run, "--tag", "who=Grace").exit_code == 0
    assert tags() == {"commit": "1a2b3c", "who": "Grace"}
    assert Path("reports/r/events.jsonl").read_bytes() == log
    assert "--tag x: write it as key=value" in command(*run, "--tag", "x").err


def test_quiet_prints_only_the_result_and_errors(command: "Command") -> None:
    done = command("run", *SMALL, "--agent", "perfect", "--quiet")
    assert done.err == ""
    assert "above chance" in done.out
    assert "unknown agent 'nobody'" in command("run", *SMALL, "--agent", "nobody", "--quiet").err
    assert "is finished already" in command("run", *SMALL, "--agent", "perfect").err


@pytest.mark.unkept
def test_the_log_names_every_request(server: Provider, key: str, place: Path) -> None:
    words = ("run", *SMALL, "--agent", "openai:some-model", "--base-url", server.openai_url)
    done = subprocess.run(
        [sys.executable, "-m", "ltm_bench", *words, "--log-level", "debug", "--quiet"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ},
        cwd=place,
    )
    assert "DEBUG ltm_bench" in done.stderr
    assert done.stderr.count("HTTP 200") == len(server.chats)
    assert key not in done.stderr


def test_an_unknown_log_level_is_refused(command: "Command") -> None:
    done = command("run", *SMALL, "--log-level", "loud")
    assert done.exit_code == 1
    assert "--log-level loud: must be debug, info, warning or error" in done.err


def test_the_version_is_printed(command: "Command") -> None:
    assert command("--version").out == f"ltm-bench {version('ltm-bench')}\n"


@pytest.mark.unkept
def test_a_shell_completes_commands_and_options() -> None:
    def completed(words: str) -> list[str]:
        env = {
            **os.environ,
            "_LTM_BENCH_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
        }
        done = subprocess.run([sys.executable, "-m", "ltm_bench"], env=env, capture_output=True, text=True)
        return done.stdout.split()

    assert {"run", "sweep", "compare"} <= set(completed("ltm-bench "))
    assert "--scenario" in completed("ltm-bench run --sc")


COUNTING = """
import asyncio

from ltm_bench import Agent, Message, Reply, Turn

under_way, most = 0, 0


class Counting(Agent):
    def __init__(self, *, expected: int) -> None:
        self.expected = expected

    async def reply(self, message: Message) -> Reply:
        global under_way, most
        under_way += 1
        most = max(most, under_way)
        for _ in range(1000):  # until the others have come, however slow the machine is
            if most >= self.expected:
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        under_way -= 1
        return Reply(str(most))

    async def observe(self, turn: Turn) -> None:
        return
"""


@pytest.mark.parametrize("connections", [1, 3])
def test_max_connections_limits_the_calls_under_way(command: "Command", connections: int) -> None:
    Path("agents").mkdir()
    Path("agents/counting.py").write_text(f'"""Counting."""\n{COUNTING}', "utf-8")
    agent = ("--agent", "counting", "-A", f"expected={connections}")
    words = ("--isolated", "--examples", "6", "--max-connections", str(connections))
    done = command("run", *SMALL, *agent, *words)
    assert done.exit_code == 0, done.err
    rows = [
        json.loads(line)
        for path in Path("reports/r/isolated").glob("*.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    assert max(int(row["reply"]) for row in rows if row["event"] == "replied") == connections
    assert "--max-connections 0" in command("run", *SMALL, "--max-connections", "0").err
