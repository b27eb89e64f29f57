"""What was asked of a run stands beside its log, and whoever continues the run goes on as it was asked."""

import asyncio
import json
import re
import shlex
import signal
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ltm_bench
from ltm_bench.api import Options, running
from ltm_bench.api.continuing import KEPT, asking, continued, resuming
from ltm_bench.core.errors import BudgetReached, ConfigError, LogError, RunIncomplete
from ltm_bench.log import lines
from ltm_bench.log.asked import ASKED, AskedFor, read_asked, write_asked
from ltm_bench.log.calls import read_calls
from ltm_bench.plan.declaring import Given, arguments
from ltm_bench.plan.planning import Plan, make_plan, plan_of
from ltm_bench.plan.request import RUN, UNKEPT, Conduct, Request

if TYPE_CHECKING:
    from ltm_bench.adapters.testing import Provider
    from tests import zygote
    from tests.conftest import Command
else:
    import zygote

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

KEY = "sk-planted-0123456789abcdefgh"
SECRET = "s3cret-Passw0rd-Xy"
TINY = ("--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")
BESIDES = {"format", "together", "forwards"}

FRAIL = '''"""Costs a little, forgets everything, and is gone at its third reply while there is no file `alive`."""
from pathlib import Path
from ltm_bench import Agent, AgentError, Message, Reply, Usage

class Frail(Agent):
    free = False

    def __init__(self, *, timeout: float = 30.0, max_retries: int = 2) -> None:
        self.timeout, self.max_retries = timeout, max_retries

    async def reply(self, message: Message) -> Reply:
        with open("calls.txt", "a") as file:
            file.write(f"{self.timeout} {self.max_retries}\\n")
        if message.turn >= 2 and Path("kill").exists():
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
        if message.turn >= 2 and Path("interrupt").exists():
            raise KeyboardInterrupt
        if message.turn >= 2 and not Path("alive").exists():
            raise AgentError("gone")
        return Reply("I do not know.", Usage(uncached=100, output=1, model="gpt-4o", provider="openai"))

    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=100, output=1, model="gpt-4o", provider="openai")
'''

BOT = '''"""A program that calls a model, and writes down what it knows of the provider's key."""
import json, os, sys
from urllib.error import URLError
from urllib.request import Request, urlopen

with open("seen.txt", "a") as file:
    file.write(repr(sorted(os.environ.items())))
for line in sys.stdin:
    message = json.loads(line)["message"]
    body = {"model": "gpt-6-luna", "messages": [{"role": "user", "content": message}], "max_tokens": 50}
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    try:
        with urlopen(Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), headers)):
            said = "I do not know."
    except URLError:
        said = "Sorry."
    print(json.dumps({"reply": said}), flush=True)
'''


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("ANTHROPIC", "GROQ"):  # an upstream needs a key of its own
        monkeypatch.setenv(f"{name}_API_KEY", f"{name.lower()}-{KEY}")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "frail.py").write_text(FRAIL, "utf-8")
    (tmp_path / "bot.py").write_text(BOT, "utf-8")
    return tmp_path


def asked(name: str = "r") -> AskedFor:
    found = read_asked(Path("reports", name))
    assert found is not None
    return found


def hinted(text: str) -> list[str]:
    """Return the words of the command that a text hints at, without the program's own name."""
    (command,) = set(re.findall(r"ltm-bench (resume .*?)(?:`|\n|$)", text))
    return shlex.split(command)


# --- what is kept ---


def test_every_option_of_a_run_is_part_of_it_or_kept_beside_it_or_says_why_not() -> None:
    declared = {name: (kind, each) for kind in RUN for name, each in arguments(kind).items()}
    for name, (kind, each) in declared.items():
        kept, why = name in AskedFor.model_fields, UNKEPT.get(name)
        assert kept + bool(why) == (kind is not Request), f"{name}: keep it, or say why not"
        assert not kept or kind is Conduct, name
        assert not kept or AskedFor.model_fields[name].default in (each.default, None), name
    assert set(AskedFor.model_fields) - BESIDES == set(KEPT)
    assert set(UNKEPT) <= set(declared)


REQUESTS: Mapping[str, Any] = {
    "agent": "perfect",
    "span": "4k",
    "suite": "abilities",
    "data": None,  # needs a public set: what is read of it stands in the manifest as parameters
    "scenarios": ["jokes"],
    "examples": 3,
    "seed": 7,
    "isolated": True,
    "filler": "live",
    "questions": "forked",
    "acknowledge": "scripted",
    "quick": True,
    "pace": True,
    "tokenizer": "cl100k_base",
    "settings": {"memories": 3},
    "parameters": {"colours": {"changes": 4}},
    "base_url": "http://localhost:1/v1",
}


@pytest.mark.parametrize("name", REQUESTS)
def test_what_is_run_is_read_from_the_log_whatever_was_asked(name: str, place: Path) -> None:
    assert set(REQUESTS) == set(arguments(Request))
    agents = {"settings": "vector_memory", "base_url": "openai_chat"}
    agents |= dict.fromkeys(("questions", "quick", "acknowledge"), "perfect")
    common = Request(agents.get(name, "parrot"), "2k", scenarios=("colours",), examples=1)
    if name in ("suite", "pace"):
        common = replace(common, scenarios=(), examples=None, span="8k")
    if name == "base_url":
        common = replace(common, settings={"model": "m"})
    request = replace(common, **{name: REQUESTS[name]})
    plan = make_plan(request)
    lines.write_whole(_made(place / "r") / "events.jsonl", plan.manifest.line())
    there = plan_of(place / "r")
    assert there.manifest == plan.manifest
    assert [each.id for each in there.examples] == [each.id for each in plan.examples]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


texts = st.sampled_from(["parrot", "perfect", "goldfish", "self", "gpt-6-luna", "with space"])
seconds = st.floats(0.1, 1e6)
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "max_cost": st.none() | st.decimals("0", "1000", places=6),
    "reader": st.none() | texts,
    "judges": st.lists(texts, max_size=3).map(tuple),
    "controls": st.sets(st.sampled_from(["blind", "evidence", "near"])).map(
        lambda names: tuple(each for each in ("blind", "evidence", "near") if each in names)
    ),
    "ladder": st.booleans(),
    "timeout": st.none() | seconds,
    "max_retries": st.none() | st.integers(0, 99),
    "run_timeout": st.none() | seconds,
    "cache": st.booleans(),
    "gateway": st.booleans(),
    "upstream": st.sampled_from(
        [(), ("https://a.example/v1",), ("groq=https://b.example", "anthropic=http://c")]
    ),
    "gateway_port": st.integers(0, 65535),
    "gateway_env": st.sampled_from([(), ("TEAM_KEY",)]),
    "connections": st.integers(1, 64),
}


@cache
def plan() -> Plan:
    return make_plan(Request("parrot", "2k", scenarios=("colours",), examples=1))


def begin(folder: Path, options: Options) -> None:
    """Leave a folder as a run that was killed after its first line leaves it."""
    kept = asking(plan(), folder, replace(options, timeout=None, max_retries=None)).asked
    assert kept is not None
    write_asked(_made(folder), kept.model_copy(update=options.calls))
    (folder / "events.jsonl").write_bytes(plan().manifest.line())


def told(options: Options) -> dict[str, Any]:
    found = {name: getattr(options, name) for name in VALUES}
    return found | {"max_cost": options.budget.limit}


@pytest.mark.unkept
@given(st.fixed_dictionaries(VALUES), st.fixed_dictionaries(VALUES), st.sets(st.sampled_from(sorted(VALUES))))
def test_whatever_was_asked_is_asked_by_whoever_resumes_but_for_what_is_said_then(
    tmp_path_factory: pytest.TempPathFactory, first: Any, then: Any, said: set[str]
) -> None:
    assert set(VALUES) == set(KEPT)
    folder = tmp_path_factory.mktemp("kept") / "r"
    begin(folder, Options(**first))
    assert told(continued(Options(), folder)) == first
    new = {name: then[name] for name in said}
    options = Options(**new, said=Given(new))
    merged = first | new
    weaker = [
        first["max_cost"] is not None and merged["max_cost"] is None,
        first["gateway"] and not merged["gateway"],
        first["gateway"] and merged["upstream"] != first["upstream"],
    ]
    if any(weaker):
        with pytest.raises(ConfigError, match="--without"):
            continued(options, folder)
    else:
        assert told(continued(options, folder)) == merged


@pytest.mark.unkept
@given(st.fixed_dictionaries(VALUES), st.sets(st.sampled_from(sorted(VALUES))))
def test_what_is_named_by_without_is_as_if_it_had_never_been_asked(
    tmp_path_factory: pytest.TempPathFactory, first: Any, names: set[str]
) -> None:
    folder = tmp_path_factory.mktemp("kept") / "r"
    begin(folder, Options(**first))
    flags = [KEPT[name].flag.removeprefix("--") for name in sorted(names)]
    if "gateway" in names:
        names |= {"upstream", "gateway_port", "gateway_env"}
    if "upstream" in names and "gateway" not in names and first["gateway"]:
        first["upstream"] = ()
    usual = told(Options())
    options = continued(Options(without=flags), folder)
    assert told(options) == {name: usual[name] if name in names else first[name] for name in VALUES}
    once_more = asking(plan(), folder, replace(options, timeout=None, max_retries=None)).asked
    assert once_more is not None
    assert not (names - {"connections"}) & set(once_more.model_dump(exclude_defaults=True))


# --- a run, killed and resumed ---

ASKED_FOR: Mapping[str, tuple[tuple[str, ...], Any]] = {
    "max_cost": (("--max-cost", "3"), Decimal("3")),
    "reader": (("--reader", "parrot"), "parrot"),
    "judges": (("--judge", "parrot", "--judge", "goldfish"), ("parrot", "goldfish")),
    "controls": (("--control", "blind,near"), ("blind", "near")),
    "ladder": (("--ladder",), True),
    "timeout": (("--timeout", "77"), 77.0),
    "max_retries": (("--max-retries", "5"), 5),
    "run_timeout": (("--run-timeout", "500"), 500.0),
    "cache": (("--cache",), True),
    "gateway": (("--gateway",), True),
    "upstream": (("--gateway", "--upstream", "groq=http://127.0.0.1:9"), ("groq=http://127.0.0.1:9",)),
    "gateway_port": (("--gateway", "--gateway-port", "17751"), 17751),
    "gateway_env": (("--gateway", "--gateway-env", "TEAM_KEY"), ("TEAM_KEY",)),
    "connections": (("--max-connections", "3"), 3),
}


@pytest.mark.parametrize("name", ASKED_FOR)
def test_a_run_that_stopped_is_resumed_by_its_hint_as_it_was_asked_for(
    command: "Command", monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert set(ASKED_FOR) == set(KEPT)
    used: list[Options] = []

    def equipped(options: Options) -> Any:
        used.append(options)
        return nullcontext()

    monkeypatch.setattr(running, "equipped", equipped)
    flags, value = ASKED_FOR[name]
    stopped = command("run", "--agent", "frail", *TINY, *flags)
    assert stopped.exit_code == 3, stopped.output
    before = Path("reports/r", ASKED).read_bytes()
    Path("alive").touch()
    done = command(*hinted(stopped.err))
    assert done.exit_code == 0, done.output
    assert "r goes on as it was begun" in done.err
    first, again = map(told, used)
    assert first == again
    assert again[name] == value
    assert Path("reports/r", ASKED).read_bytes() == before
    if name in ("timeout", "max_retries"):
        assert len(set(Path("calls.txt").read_text("utf-8").splitlines())) == 1


def test_the_same_command_and_python_go_on_as_it_was_asked_for(command: "Command") -> None:
    stopped = command(
        "run", "--agent", "frail", *TINY, "--max-cost", "3", "--control", "blind", "--timeout", "9"
    )
    assert stopped.exit_code == 3
    before = asked()
    command("run", "--agent", "frail", *TINY)
    assert asked() == before
    with pytest.raises(RunIncomplete):
        ltm_bench.resume("r")
    assert asked() == before
    with pytest.raises(RunIncomplete):
        ltm_bench.run("frail", "2k", scenarios=["colours"], examples=1, name="r")
    assert asked() == before
    assert set(Path("calls.txt").read_text("utf-8").splitlines()) == {"9.0 2"}
    Path("alive").touch()
    done = ltm_bench.resume("r", controls=["evidence"])
    assert done.results.controls is not None
    assert (done.results.controls.evidence is None, done.results.controls.blind) == (False, None)
    assert "asked for and not done yet: blind; `ltm-bench resume` does it" in done.results.remarks


def test_a_run_that_was_begun_before_anything_was_kept_resumes_as_it_did(command: "Command") -> None:
    assert command("run", "--agent", "frail", *TINY, "--max-cost", "3", "--judge", "parrot").exit_code == 3
    Path("reports/r", ASKED).unlink()
    Path("alive").touch()
    done = command("resume", "r")
    assert (done.exit_code, "as it was begun" in done.err) == (0, False)
    assert asked() == AskedFor(connections=8)


def test_what_is_asked_stands_there_before_the_log_begins(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = lines.write_whole

    def noting(path: Path, content: bytes) -> None:
        written.append(path.name)
        write(path, content)

    for module in ("recorder", "asked"):
        monkeypatch.setattr(f"ltm_bench.log.{module}.write_whole", noting)
    command("run", "--agent", "parrot", *TINY)
    assert written == [ASKED, "events.jsonl"]
    command("run", "--agent", "parrot", *TINY)
    assert written == [ASKED, "events.jsonl"], "what says the same is not written again"


def test_another_runs_folder_is_left_as_it_is(command: "Command") -> None:
    assert command("run", "--agent", "parrot", *TINY, "--max-cost", "3").exit_code == 0
    before = Path("reports/r", ASKED).read_bytes()
    done = command("run", "--agent", "goldfish", *TINY, "--max-cost", "9")
    assert (done.exit_code, "holds another run" in done.err) == (1, True)
    assert Path("reports/r", ASKED).read_bytes() == before


def test_scores_are_not_read_again_for_what_was_asked(command: "Command") -> None:
    from ltm_bench.log.reader import read_manifest
    from ltm_bench.score.results.stored import stored_results

    assert command("run", "--agent", "parrot", *TINY).exit_code == 0
    (Path("reports/r") / ASKED).touch()
    assert stored_results(Path("reports/r"), read_manifest(Path("reports/r"))) is not None


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b'{"format": 2}',
        b'{"max_cost": "NaN"}',
        b'{"max_cost": -1}',
        b'{"max_cost": "free"}',
        b'{"gateway": "perhaps"}',
        b'{"connections": 0}',
        b'{"timeout": 1e999}',
        b'{"wishes": 3}',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_one_line_that_names_it_and_nothing_goes_on(
    command: "Command", content: bytes
) -> None:
    assert command("run", "--agent", "frail", *TINY).exit_code == 3
    Path("reports/r", ASKED).write_bytes(content)
    log = Path("reports/r/events.jsonl").read_bytes()
    with pytest.raises(LogError):
        read_asked(Path("reports/r"))
    for words in (("resume", "r"), ("run", "--agent", "frail", *TINY), ("report", "r")):
        done = command(*words)
        assert (done.exit_code, done.err.count("\n"), ASKED in done.err) == (1, 1, True), done.err
    assert Path("reports/r/events.jsonl").read_bytes() == log


# --- the gateway ---


def bot(server: "Provider") -> tuple[str, ...]:
    program = f"command={sys.executable} {Path('bot.py').resolve()}"
    return ("--agent", "command", "-A", program, "--gateway", "--upstream", f"openai={server.openai_url}")


def killed(server: "Provider", *words: str, at: int = 5) -> None:
    """Run a command that is killed by SIGKILL at a call of its agent."""
    import os

    def die(_: Any) -> str:
        if len(server.chats) == at:
            os.kill(process.pid, signal.SIGKILL)
        return "Noted."

    server.answer = die
    with zygote.Forked([sys.executable, "-m", "ltm_bench", *words], stdout=-3, stderr=-3) as process:
        assert process.wait(120) == -signal.SIGKILL
    server.answer = lambda _: "Noted."


@pytest.mark.unkept
def test_a_run_killed_behind_the_gateway_goes_on_behind_it_within_its_limit(
    command: "Command", place: Path, server: "Provider"
) -> None:
    killed(server, "run", *TINY, *bot(server), "--max-cost", "1", "--control", "blind")
    seen = len(server.chats)
    done = command("resume", "r")
    assert done.exit_code == 0, done.err
    assert KEY not in (place / "seen.txt").read_text("utf-8")
    assert len(read_calls(Path("reports/r")).calls) > seen
    found = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    assert found["costs"]["gateway"]["calls"] > seen
    assert found["controls"]["blind"] is not None
    assert f"--gateway --upstream openai={server.openai_url}" in done.err
    assert "--max-cost 1" in done.err
    for path in place.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


@pytest.mark.unkept
def test_a_limit_that_is_kept_is_kept_to(command: "Command", place: Path, server: "Provider") -> None:
    killed(server, "run", *TINY, *bot(server), "--max-cost", "1")
    folder = Path("reports/r")
    write_asked(folder, asked().model_copy(update={"max_cost": Decimal("0.0001")}))
    calls = len(server.chats)
    done = command("resume", "r")
    assert (done.exit_code, len(server.chats)) == (4, calls)


@pytest.mark.unkept
def test_less_protection_is_refused_in_a_line_that_says_how_to_allow_it(
    command: "Command", monkeypatch: pytest.MonkeyPatch, place: Path, server: "Provider"
) -> None:
    killed(server, "run", *TINY, *bot(server), "--max-cost", "1")
    calls, before = len(server.chats), Path("reports/r", ASKED).read_bytes()

    def refused(what: str, *words: str, **variables: str) -> None:
        with monkeypatch.context() as patched:
            for name, value in variables.items():
                patched.setenv(name, value)
            done = command("resume", "r", *words)
        assert (done.exit_code, done.err.count("\n")) == (1, 1), done.err
        assert f"or --without {what}" in done.err, done.err
        assert (len(server.chats), Path("reports/r", ASKED).read_bytes()) == (calls, before)

    refused("upstream", "--upstream", "http://127.0.0.1:9")
    refused("upstream", "--upstream", f"groq={server.openai_url}")
    refused("upstream", ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    for weaker, what in (
        ({"gateway": False}, "gateway"),
        ({"max_cost": None}, "max-cost"),
        ({"upstream": ["http://127.0.0.1:9"]}, "upstream"),
    ):
        with pytest.raises(ConfigError, match=f"or --without {what}"):
            ltm_bench.resume("r", **weaker)
    with pytest.raises(ConfigError, match="--without wings: not kept"):
        ltm_bench.resume("r", without=["wings"])
    assert (len(server.chats), Path("reports/r", ASKED).read_bytes()) == (calls, before)
    assert KEY not in (place / "seen.txt").read_text("utf-8")


@pytest.mark.unkept
def test_variables_are_for_what_was_not_asked_and_can_only_lower_a_limit(
    monkeypatch: pytest.MonkeyPatch, command: "Command", server: "Provider"
) -> None:
    killed(server, "run", *TINY, *bot(server), "--max-cost", "1")
    for name, value in (
        ("GATEWAY", "0"),
        ("MAX_COST", "9"),
        ("UPSTREAM", "http://127.0.0.1:9"),
        ("READER", "parrot"),
    ):
        monkeypatch.setenv(f"LTM_BENCH_{name}", value)
    assert command("resume", "r").exit_code == 0
    assert (asked().gateway, asked().max_cost, asked().reader) == (True, Decimal("1"), "parrot")
    monkeypatch.setenv("LTM_BENCH_MAX_COST", "0.75")
    assert command("resume", "r").exit_code == 0
    assert asked().max_cost == Decimal("0.75")


@pytest.mark.unkept
@pytest.mark.parametrize(
    ("words", "limit", "gateway"),
    [
        (("--max-cost", "2"), Decimal("2"), True),
        (("--max-cost", "0.5"), Decimal("0.5"), True),
        (("--without", "max-cost"), None, True),
        (("--without", "gateway"), Decimal("1"), False),
        (("--without", "gateway", "--without", "max-cost"), None, False),
    ],
)
def test_what_is_stated_is_done_and_kept_from_then_on(
    command: "Command", server: "Provider", words: tuple[str, ...], limit: Decimal | None, gateway: bool
) -> None:
    killed(server, "run", *TINY, *bot(server), "--max-cost", "1")
    done = command("resume", "r", *words)
    if limit is not None and not gateway:  # a program says no prices, so that no limit could be kept to
        assert "cannot be guaranteed" in done.err
        return
    assert done.exit_code == (0 if gateway else 3), done.err  # the program finds no address
    assert (asked().max_cost, asked().gateway) == (limit, gateway)


@pytest.mark.unkept
def test_another_upstream_is_taken_where_the_first_is_left_out(
    command: "Command", server: "Provider"
) -> None:
    killed(server, "run", *TINY, *bot(server)[:4], "--gateway", "--upstream", server.openai_url)
    done = command("resume", "r", "--without", "upstream", "--upstream", f"openai={server.openai_url}")
    assert done.exit_code == 0, done.err
    assert asked().upstream == (f"openai={server.openai_url}",)
    assert asked().forwards["openai"] == f"openai={server.openai_url}"
    assert read_calls(Path("reports/r")).calls[-1].dollars is not None


@pytest.mark.parametrize(
    "url",
    [
        f"https://me:{SECRET}@proxy.example/v1",
        f"groq=https://{SECRET}@proxy.example/v1",
        f"https://proxy.example/{KEY}/v1",
    ],
)
def test_no_key_is_kept_and_whoever_resumes_says_it_again(tmp_path: Path, url: str) -> None:
    folder, options = tmp_path / "r", Options(gateway=True, upstream=(url, "anthropic=https://b.example"))
    begin(folder, options)
    content = (folder / ASKED).read_text("utf-8")
    assert SECRET not in content
    assert KEY not in content
    with pytest.raises(ConfigError, match=r"with --upstream .*: say it, or --without upstream") as error:
        continued(Options(), folder)
    again = continued(Options(upstream=options.upstream, said=Given(["upstream"])), folder)
    assert told(again) == told(options)
    assert SECRET not in f"{error.value} {resuming(folder, options)}"
    assert KEY not in f"{error.value} {resuming(folder, options)}"


@pytest.mark.parametrize(
    "given",
    [
        ("http://127.0.0.1:9/v1",),
        ("http://127.0.0.1:9/v1", "anthropic=http://127.0.0.1:8"),
        ("anthropic=http://127.0.0.1:8",),
        (),
    ],
)
def test_the_upstream_that_a_refusal_names_can_be_said(
    tmp_path: Path, given: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:7/v1")
    folder = tmp_path / "r"
    begin(folder, Options(gateway=True, upstream=given))
    monkeypatch.delenv("OPENAI_BASE_URL")
    other = Options(upstream=("http://127.0.0.1:6/v1",), said=Given(["upstream"]))
    with pytest.raises(ConfigError) as refused:
        continued(other, folder)
    named = re.search(r"--upstream (\S.*): say it", str(refused.value))
    assert named is not None
    places = tuple(named[1].split(" --upstream "))
    assert "None" not in named[1]
    assert continued(replace(other, upstream=places), folder).upstream == places


@given(limit=st.decimals(0, 100, places=3), spent=st.decimals(0, 200, places=4))
def test_a_larger_limit_that_is_proposed_is_above_what_was_spent(
    tmp_path_factory: pytest.TempPathFactory, limit: Decimal, spent: Decimal
) -> None:
    folder = tmp_path_factory.mktemp("r")
    write_asked(folder, AskedFor(max_cost=limit))
    options = Options()
    options.budget.count(spent)
    said = resuming(folder, options, BudgetReached("that is all"))
    assert Decimal(said.rpartition(" --max-cost ")[2]) > max(limit, spent)


@pytest.mark.parametrize("flags", [("--judge", f"openai:{KEY}"), ("--reader", f"openai:{KEY}")])
def test_a_key_in_the_name_of_a_judge_is_refused_before_anything_is_written(
    command: "Command", flags: tuple[str, ...]
) -> None:
    done = command("run", "--agent", "parrot", *TINY, *flags)
    assert (done.exit_code, KEY in done.output, Path("reports").exists()) == (1, False, False), done.output


# --- hints ---


def test_a_run_that_its_limit_stopped_goes_on_by_its_hint(command: "Command") -> None:
    Path("alive").touch()
    done = command("run", "--agent", "frail", *TINY, "--max-cost", "0.001")
    hints = 0
    while done.exit_code == 4:
        hints += 1
        words = hinted(done.err)
        assert words[:3] == ["resume", "r", "--max-cost"]
        done = command(*words)
    assert (done.exit_code, hints > 0) == (0, True), done.err


@pytest.mark.parametrize("flags", [("--fail-under", "1"), ("--max-drop", "0.5", "--baseline", "base")])
def test_what_a_score_must_reach_is_in_the_hint(command: "Command", flags: tuple[str, ...]) -> None:
    assert command("run", "--agent", "perfect", *TINY[:-1], "base").exit_code == 0
    for name in ("interrupt", None):
        if name:
            Path(name).touch()
        stopped = command("run", "--agent", "frail", *TINY, *flags)
        assert stopped.exit_code == 3, stopped.err
        words = hinted(stopped.err)
        assert sorted(words[2:]) == sorted(each.replace("1", "1.0") for each in flags)
        Path("interrupt").unlink(missing_ok=True)
    Path("alive").touch()
    assert command(*words).exit_code == 2


def test_one_of_several_runs_goes_on_within_what_was_left(command: "Command") -> None:
    words = ("run", "--agent", "frail", *TINY, "--repeats", "3", "--max-cost", "1")
    Path("alive").touch()
    assert command(*words).exit_code == 0
    cost = json.loads(Path("reports/r-seed0/results.json").read_text("utf-8"))["costs"]["dollars"]
    assert asked("r-seed0").max_cost == 1
    assert float(asked("r-seed1").max_cost or 0) == pytest.approx(1 - cost)
    Path("alive").unlink()
    words = (*words[:5], "1", *words[6:])
    (place_of_stop := Path("interrupt")).touch()
    stopped = command("run", "--agent", "frail", *TINY[:-1], "s", "--repeats", "2", "--max-cost", "1")
    assert "`ltm-bench resume s-seed0` continues from here" in stopped.err
    place_of_stop.unlink()
    Path("alive").touch()
    assert command("resume", "s-seed0").exit_code == 0
    unlimited = command("run", "--agent", "frail", *TINY[:-1], "s", "--repeats", "2")
    assert unlimited.exit_code == 0
    assert asked("s-seed1").max_cost is not None, "the limit is for all of them"


def test_whoever_is_interrupted_before_a_run_begins_is_not_sent_to_another(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("run", "--agent", "parrot", *TINY).exit_code == 0

    async def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "_foreseen", interrupt)
    done = command("run", "--agent", "parrot", *TINY[:-1], "new")
    assert (done.exit_code, "resume" in done.err) == (3, False)
    assert "interrupted; nothing is lost: the same command continues" in done.err


def test_a_run_in_another_folder_is_named_with_it(place: Path, command: "Command") -> None:
    heard: list[str] = []
    options = replace(Options(), reports=Path("other place"), notify=heard.append)
    request = Request("frail", "2k", scenarios=("colours",), examples=1)
    with pytest.raises(RunIncomplete):
        asyncio.run(running.start(request, options, name="r", fresh=False))
    Path("alive").touch()
    assert command(*hinted(heard[-1])).exit_code == 0
    assert Path("other place/r/report.html").exists()


# --- controls and ladder ---


@pytest.mark.unkept
@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--control", "blind"), "blind"),
        (("--ladder",), "ladder"),
        (("--control", "evidence", "--control", "blind", "--ladder"), "blind, evidence, ladder"),
    ],
)
def test_controls_and_ladder_that_were_asked_for_are_said_until_they_are_done(
    command: "Command", flags: tuple[str, ...], named: str
) -> None:
    Path("kill").touch()
    words = [sys.executable, "-m", "ltm_bench", "run", "--agent", "frail", *TINY, *flags]
    with zygote.Forked(words, stdout=-3, stderr=-3) as process:
        assert process.wait(120) == -signal.SIGKILL
    Path("kill").unlink()
    for name in ("report", "rescore"):
        done = command(name, "r")
        assert done.exit_code == 0
    line = f"asked for and not done yet: {named}; `ltm-bench resume` does it"
    assert f"note: {line}" in done.out
    page = Path("reports/r/report.html").read_text("utf-8")
    assert f"asked for and not done yet: {named}" in page
    Path("alive").touch()
    done = command("resume", "r")
    assert (done.exit_code, "not done yet" in done.out) == (0, False), done.output
    found = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    assert [kind for kind in ("blind", "evidence") if kind in named] == [
        kind for kind in ("blind", "evidence") if (found["controls"] or {}).get(kind)
    ]
    assert (found["ladder"] is None) == ("ladder" not in named)


def test_the_controls_of_a_suite_are_asked_by_whoever_resumes(command: "Command") -> None:
    from ltm_bench.plan.tables import config_folders

    shipped = next(each for folder in config_folders() for each in Path(folder).rglob("smoke.toml"))
    Path("configs").mkdir()
    Path("configs/mine.toml").write_text('controls = ["blind"]\n' + shipped.read_text("utf-8"), "utf-8")
    words = ("--suite", "mine", *TINY)
    assert command("run", "--agent", "frail", *words).exit_code == 3
    Path("alive").touch()
    assert command("resume", "r").exit_code == 0
    found = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    assert found["controls"]["blind"] is not None


# --- many runs ---

BOTH = ("--span", "2k", "--scenario", "colours", "--examples", "1", "--questions", "in-line")


def test_a_limit_for_many_runs_is_not_that_of_one(command: "Command") -> None:
    sweep = (
        "sweep",
        "--agent",
        "frail",
        *BOTH,
        "--seed",
        "0",
        "--seed",
        "1",
        "--name",
        "s",
        "--max-cost",
        "0.5",
    )
    assert command(*sweep).exit_code == 3
    name = next(path.parent.name for path in Path("reports").glob("s-*/events.jsonl"))
    done = command("resume", name)
    assert (done.exit_code, done.err.count("\n")) == (1, 1)
    assert "--max-cost 0.5 for several runs, which the same command continues" in done.err
    Path("alive").touch()
    assert command("resume", name, "--max-cost", "0.1").exit_code == 0
    assert asked(name).together is False
    assert command(*sweep[:-2]).exit_code == 0


@pytest.mark.parametrize("kind", ["sweep", "race"])
def test_the_same_command_with_less_said_protects_as_much(
    command: "Command", monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "sweep":
        words = ("sweep", "--agent", "frail", "--agent", "twin", *BOTH)
    else:
        words = ("race", "frail", "twin", *BOTH, "--most", "2")
    twin = FRAIL.replace("Frail", "Twin")
    Path("agents/twin.py").write_text(twin, "utf-8")
    first = command(*words, "--max-cost", "0.001", "--timeout", "9", "--reader", "parrot")
    assert first.exit_code in (3, 4)
    name = next(path.parent.name for path in Path("reports").glob("*frail*/events.jsonl"))
    before = asked(name)
    assert (before.max_cost, before.together, before.timeout, before.reader) == (
        Decimal("0.001"),
        True,
        9.0,
        "parrot",
    )
    Path("alive").touch()
    Path("calls.txt").write_text("")
    again = command(*words)
    assert (again.exit_code, "--max-cost 0.001" in again.err) == (4, True), again.err
    assert asked(name) == before
    with monkeypatch.context() as patched:
        patched.setenv("LTM_BENCH_MAX_COST", "5")
        assert command(*words).exit_code == 4
    done = command(*words, "--max-cost", "5")
    assert done.exit_code == 0, done.err
    assert set(Path("calls.txt").read_text("utf-8").split("\n")) <= {"9.0 2", ""}


def test_python_races_on_as_it_was_asked_for(place: Path) -> None:
    more: dict[str, Any] = {
        "span": "2k",
        "scenarios": ["colours"],
        "examples": 1,
        "questions": "in-line",
        "most": 2,
    }
    with pytest.raises(RunIncomplete):
        ltm_bench.race("frail", "goldfish", max_cost=1, **more)
    Path("alive").touch()
    ltm_bench.race("frail", "goldfish", **more)
    limits = [asked(path.parent.name).max_cost for path in Path("reports").glob("*frail*/events.jsonl")]
    assert limits
    assert None not in limits


def test_nothing_of_this_changes_a_log(command: "Command") -> None:
    for name, flags in (("a", ()), ("b", ("--max-cost", "3", "--control", "blind", "--judge", "parrot"))):
        assert command("run", "--agent", "parrot", *TINY[:-1], name, *flags).exit_code == 0
    assert Path("reports/a/events.jsonl").read_bytes() == Path("reports/b/events.jsonl").read_bytes()
