"""Everything in the READMEs works: every complete file is checked, and run with the real command."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ltm_bench.cli.app import app, panels

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]

pytestmark = [
    pytest.mark.usefixtures("quick_check"),
    pytest.mark.proof(files=("*.md", "*/README.md", "docs/**/*.md", "agents/*.*", "configs/*.*")),
]

CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def snippets(readme: str) -> list[str]:
    return CODE.findall((ROOT / readme).read_text("utf-8"))


def scenarios(readme: str) -> list[str]:
    return [code for code in snippets(readme) if "@scenario" in code]


def adapters(readme: str) -> list[str]:
    return [code for code in snippets(readme) if "(Agent)" in code or "def agent(" in code]


def run(*words: str) -> str:
    result = CliRunner().invoke(app, [*words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agents").mkdir()
    return tmp_path


@pytest.mark.parametrize("code", scenarios("scenarios/README.md"))
def test_the_scenarios_of_the_readmes_pass_the_check_and_run(here: Path, code: str) -> None:
    name = re.findall(r"^def (\w+)\(dice", code, re.MULTILINE)[0]
    (here / "scenarios" / f"{name}.py").write_text(code, "utf-8")
    run("check", f"scenarios/{name}.py")
    run("run", "--span", "2k", "--scenario", name, "--agent", "perfect", "--fail-under", "1")
    run("run", "--span", "2k", "--scenario", name)


def test_the_scenario_without_programming_passes_the_check_and_runs(here: Path) -> None:
    code = re.findall(r"```toml\n(.*?)```", (ROOT / "scenarios/README.md").read_text("utf-8"), re.DOTALL)[0]
    (here / "scenarios" / "moving.toml").write_text(code, "utf-8")
    run("check", "scenarios/moving.toml")
    run("run", "--span", "2k", "--scenario", "moving", "--agent", "perfect", "--fail-under", "1")


@pytest.mark.parametrize("code", adapters("agents/README.md"))
def test_the_adapters_of_the_readmes_pass_the_check_and_run(here: Path, code: str) -> None:
    name = re.match('"""(\\w+)', code)
    assert name is not None
    stem = name[1].lower()
    (here / "agents" / f"{stem}.py").write_text(code, "utf-8")
    run("check", f"agents/{stem}.py")
    run("run", "--span", "2k", "--agent", stem, "--suite", "smoke")


def test_the_suite_of_the_readme_runs(here: Path) -> None:
    code = re.findall(r"```toml\n(.*?)```", (ROOT / "configs/README.md").read_text("utf-8"), re.DOTALL)[0]
    (here / "configs").mkdir()
    (here / "configs" / "often.toml").write_text(code, "utf-8")
    out = run("run", "--suite", "often", "--span", "2k", "--agent", "perfect", "--fail-under", "1")
    assert "20" in out


def test_the_python_session_of_the_reference_gives_what_it_shows(here: Path) -> None:
    [session] = [code for code in snippets("docs/reference/python.md") if "from ltm_bench import run" in code]
    shown = re.search(r"# ([\d.]+), Interval\(low=([\d.]+), high=([\d.]+)\), \"(.*)\"", session)
    assert shown is not None
    names: dict[str, Any] = {}
    # A table needs pandas or polars, which are not development tools.
    exec("\n".join(line for line in session.splitlines() if "frame()" not in line), names)
    result = names["result"]
    figures = (result.score, result.interval.low, result.interval.high)
    assert figures == pytest.approx([float(shown[i]) for i in (1, 2, 3)], abs=0.005)
    assert result.verdict == shown[4]
    assert result.examples[0].questions[0].reply
    assert (here / "page.html").stat().st_size > 0


def test_the_test_of_an_adapter_in_the_readme_passes(here: Path, key: str) -> None:
    [example] = [code for code in snippets("agents/README.md") if "conformance(" in code]
    names: dict[str, Any] = {}
    exec(example, names)
    names["test_it_keeps_the_rules"]()


@pytest.mark.unkept
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_a_file(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text("utf-8")):
        assert "://" in target or (document.parent / target).exists(), target


def test_every_design_note_is_in_the_index() -> None:
    index = (ROOT / "docs/design/README.md").read_text("utf-8")
    for note in (ROOT / "docs/design").glob("*.md"):
        assert note.name == "README.md" or f"]({note.name})" in index, note.name


def test_the_files_in_the_tutorials_have_at_most_twenty_lines() -> None:
    files = [*scenarios("docs/tutorials/scenario-python.md"), *adapters("docs/tutorials/agent-python.md")]
    assert len(files) == 2
    assert all(len(code.splitlines()) <= 20 for code in files)


def test_every_python_example_of_the_folders_is_run_by_one_of_these_tests() -> None:
    for readme, other in (("scenarios/README.md", 0), ("agents/README.md", 1)):
        assert len(snippets(readme)) == len(scenarios(readme)) + len(adapters(readme)) + other


def test_the_readme_is_one_screen_and_a_half() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 100
    assert snippets("README.md") == []


def test_every_door_has_a_readme_with_a_file_that_works() -> None:
    for door in ("scenarios", "agents", "configs", "reports"):
        assert (ROOT / door / "README.md").read_text("utf-8").startswith(f"# {door}/\n")


def test_the_output_of_the_main_job_is_the_one_that_the_readme_shows(here: Path) -> None:
    shown = re.search(r"ltm-bench run\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert shown is not None
    table = [line.split() for line in shown[1].splitlines() if line.strip()]
    said = [line.split() for line in run("run").splitlines() if line.strip()]
    # A slow machine reports progress in between.
    assert [words for words in said if not re.fullmatch(r"\d+%", words[0])] == table


def test_every_command_is_in_the_table_of_commands() -> None:
    rows = [
        line.split("|")[1]
        for line in (ROOT / "docs/running.md").read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    named = {words.split()[0] for row in rows for words in re.findall(r"`([^`]+)`", row)}
    assert {name for names in panels().values() for name in names} <= named


def test_every_ability_names_its_scenario_and_who_else_measures_it() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "docs/abilities.md").read_text("utf-8").splitlines()
        if re.match(r"\| [a-z, ]+ \| `", line)
    ]
    suite = tomllib.loads((ROOT / "configs/abilities.toml").read_text("utf-8"))
    assert [scenario.strip("`") for _, scenario, *_ in rows] == list(suite["scenarios"])
    assert all(re.match(r"[A-Z]", others) for *_, others in rows)
