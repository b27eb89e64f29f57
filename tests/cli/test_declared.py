"""A run is declared once: every command and the Python door follow from it."""

import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from docs.generated import commands as documented
from ltm_bench import aresume, arun, resume, run
from ltm_bench.api.calling import taking
from ltm_bench.cli.app import app
from ltm_bench.cli.declared import command as command_of
from ltm_bench.cli.declared import group
from ltm_bench.cli.options import Config
from ltm_bench.plan.declaring import FORMER, Argument, Option, arguments
from ltm_bench.plan.request import RUN, Conduct, NewRun, Request

if TYPE_CHECKING:
    from tests.conftest import Command

DECLARED = {name: each for kind in RUN for name, each in arguments(kind).items()}
OPTIONS = [each for each in DECLARED.values() if each.option.terminal]
COMMANDS = ("run", "estimate", "sweep", "swim run")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options_of(name: str) -> Mapping[str, Any]:
    """Return the options of a command, by flag."""
    found: Any = typer.main.get_command(app)
    for word in name.split():
        found = found.get_command(None, word)
    return {flag: each for each in found.params for flag in each.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_all_options_of_a_run(name: str) -> None:
    options = options_of(name)
    for each in OPTIONS:
        assert set(each.flags) <= set(options), each.name
        option = options[each.flag]
        assert (option.envvar or []) == each.variables or each.variables == [option.envvar]
        assert option.help


@pytest.mark.parametrize("name", ["run", "sweep"])
def test_nothing_that_decides_what_is_run_is_hidden(name: str) -> None:
    options = options_of(name)
    assert [each.name for each in arguments(Request).values() if options[each.flag].hidden] == []


@pytest.mark.parametrize("function", [run, arun])
def test_the_python_door_takes_all_arguments_of_a_run(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    for kind in (Request, NewRun, Conduct):
        for name, each in arguments(kind).items():
            assert parameters[name].default == each.default, name
            assert parameters[name].annotation == each.kind, name
            assert f"\n    {name}: " in (function.__doc__ or ""), name
    assert [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD] == [
        "agent",
        "span",
    ]


@pytest.mark.parametrize("function", [resume, aresume])
def test_a_run_is_resumed_with_all_arguments_that_are_no_part_of_it(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    assert {"run", "progress", *arguments(Conduct)} == set(parameters)
    assert {each.flag for each in arguments(Conduct).values() if each.option.terminal} <= set(
        options_of("resume")
    )


def test_a_type_checker_sees_the_arguments(place: Path) -> None:
    # An `ignore` without an error is one itself, so these lines fail the type check if they are not errors.
    with pytest.raises(TypeError, match="agnt"):
        run(agnt="perfect")  # type: ignore[call-arg]  # on purpose
    if TYPE_CHECKING:
        run(seed=1.5)  # type: ignore[arg-type]  # on purpose
        run(settings=["window=1"])  # type: ignore[arg-type]  # on purpose
        run("perfect", "2k", "standard")  # type: ignore[call-arg]  # on purpose
        resume(seed=1)  # type: ignore[call-arg]  # on purpose
        run("perfect", "2k", suite="smoke", max_cost=2.5, tags={"a": "b"}, connections=4).score + 1  # type: ignore[operator]  # on purpose


@dataclass(frozen=True)
class Wider(Request):
    moons: Annotated[int, Option("Moons above the conversation.", "N", least=1)] = 3


WIDER: list[Wider] = []


def wider() -> typer.Typer:
    """Return a program with a command that takes one more argument than a run has."""
    program = group("A program.")

    def wide(request: Wider, config: Config = None) -> None:
        """Take a wider request."""
        WIDER.append(request)

    command_of(program, "wide --moons 4")(wide)
    program.callback()(lambda: None)
    return program


def moons(*words: str, **variables: str) -> int:
    done = CliRunner(env=variables).invoke(wider(), ["wide", *words])
    assert done.exit_code == 0, done.output
    return WIDER[-1].moons


def test_a_new_argument_is_written_in_one_place() -> None:
    assert moons() == 3
    assert moons("--moons", "4") == 4
    assert moons(LTM_BENCH_MOONS="5") == 5
    Path("wide.toml").write_text("moons = 6\n", "utf-8")
    assert moons("--config", "wide.toml") == 6
    assert moons("--config", "wide.toml", "--moons", "7") == 7
    refused = CliRunner().invoke(wider(), ["wide", "--moons", "0"])
    assert str(refused.exception) == "--moons 0: write a whole number, 1 or more"
    told = " ".join(CliRunner().invoke(wider(), ["wide", "--help"]).output.split())
    assert "--moons N Moons above the conversation. [env var: LTM_BENCH_MOONS; default: 3]" in told
    assert "| `--moons N` | Moons above the conversation." in documented(wider())

    @taking(Wider)
    async def ask(asked: Wider) -> int:
        """Ask.

        Returns:
            How many moons there are.
        """
        return asked.moons

    assert inspect.signature(ask).parameters["moons"].default == 3
    assert "Args:" in (ask.__doc__ or "")
    assert "    moons: Moons above the conversation.\n" in (ask.__doc__ or "")


def test_a_field_without_a_help_text_is_refused() -> None:
    @dataclass
    class Silent:
        moons: int = 3

    with pytest.raises(TypeError, match=r"Silent\.moons has no Option"):
        arguments(Silent)


def idle(name: str) -> Iterator[Argument]:
    yield from (each for each in OPTIONS if options_of(name)[each.flag].hidden)


def test_one_note_names_what_has_no_effect_in_a_command(command: "Command") -> None:
    typed = ("--fresh", "--timeout", "9", "--tag", "a=b", "--fail-under", "3")
    done = command("estimate", "--span", "2k", "--scenario", "colours", "--agent", "perfect", *typed)
    assert done.exit_code == 0, done.err
    assert done.err.count("without effect") == 1
    assert "without effect in estimate: --fresh, --timeout, --tag, --fail-under\n" in done.err
    assert not any(flag in command("estimate", "--help").out for flag in ("--fresh", "--timeout", "--tag "))


def test_variables_without_effect_are_not_worth_a_note(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LTM_BENCH_FRESH", "1")
    done = command("estimate", "--span", "2k", "--scenario", "colours", "--agent", "perfect")
    assert "without effect" not in done.err
    assert [each.name for each in idle("sweep")] == ["fail_under", "baseline", "max_drop", "again", "otel"]


def test_tables_of_a_file_become_mappings(command: "Command") -> None:
    Path("nightly.toml").write_text(
        'span = "2k"\nscenarios = ["colours"]\nagent = "perfect"\nname = "r"\n[tags]\ncommit = "1"\nwho = "Ada"\n',
        "utf-8",
    )
    assert command("run", "--config", "nightly.toml").exit_code == 0
    assert '"who": "Ada"' in Path("reports/r/environment.json").read_text("utf-8")


@pytest.mark.parametrize(("old", "new"), FORMER.items())
def test_a_former_spelling_is_taken_by_terminal_and_file_and_not_shown(
    command: "Command", old: str, new: str
) -> None:
    name, value = ("sweep", "dask") if new == "executor" else ("run", "nothing")
    words = (name, "--span", "2k", "--agent", "perfect")
    typed = command(*words, f"--{old}", value)
    assert typed.exit_code == 1
    assert typed.err == command(*words, f"--{new}", value).err
    assert value in typed.err
    assert f"--{new} " in command(name, "--help").out
    assert f"--{old} " not in command(name, "--help").out
    Path("old.toml").write_text(f"{old} = {json.dumps(value if new == 'executor' else [value])}\n", "utf-8")
    file = "old.toml"
    read = command(*words, file) if name == "sweep" else command(*words, "--config", file)
    assert value in read.err
    assert "unknown key" not in read.err


def test_no_variable_can_take_protection_away() -> None:
    without = {
        name: each.variables
        for name, each in arguments(Conduct).items()
        if name in ("without", "gateway_env")
    }
    assert without == {"without": [], "gateway_env": []}
